#include "hydro/ir/passes.h"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

#include "hydro/base/result.h"
#include "hydro/ir/graph.h"

namespace hydro::ir {

namespace {

constexpr std::array kPasses = {
    Pass{.name = "fill_defaults",
         .purpose = "arguments left out get their defaults",
         .run = &fill_defaults},
    Pass{.name = "merge_ties", .purpose = "tied parameters become one", .run = &merge_ties},
    Pass{.name = "batch_norm_state",
         .purpose = "batch norm gives its next statistics",
         .run = &batch_norm_state},
    Pass{.name = "recurrent_types",
         .purpose = "last states have the type of first ones",
         .run = &recurrent_types},
    Pass{.name = "functionalize",
         .purpose = "nothing writes into its arguments",
         .run = &functionalize},
    Pass{.name = "drop_identities",
         .purpose = "nodes that change nothing go",
         .run = &drop_identities},
    Pass{.name = "select_output", .purpose = "one user output stays", .run = &select_output},
    Pass{.name = "dead_code", .purpose = "what no output needs goes", .run = &dead_code},
};

}  // namespace

std::span<const Pass> pass_order() {
  return kPasses;
}

const Pass* find_pass(std::string_view name) {
  const auto* found = std::ranges::find(kPasses, name, &Pass::name);
  return found == kPasses.end() ? nullptr : found;
}

Result<void> run_passes(Graph& graph, const PassContext& context) {
  HYDRO_TRY_VOID(verify(graph, Purity::kAny));
  for (const Pass& pass : kPasses) {
    HYDRO_TRY_VOID(pass.run(graph, context));
    HYDRO_TRY_VOID(verify(graph, Purity::kAny));
  }
  return verify(graph, Purity::kPure);
}

}  // namespace hydro::ir
