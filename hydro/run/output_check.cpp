#include "hydro/run/output_check.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/ir/graph.h"
#include "hydro/worker/settings.h"

namespace hydro::run {
namespace {

constexpr std::array<std::string_view, 2> kSoftmax = {"aten.softmax.int",
                                                      "aten._softmax.default"};
/// Ops behind a softmax that leave it one.
constexpr auto kUnchanging = std::to_array<std::string_view>({"aten.view.default",
                                                              "aten.reshape.default",
                                                              "aten.flatten.using_ints",
                                                              "aten.squeeze.dim",
                                                              "aten.unsqueeze.default",
                                                              "aten.permute.default",
                                                              "aten.transpose.int",
                                                              "aten.contiguous.default",
                                                              "aten.clone.default",
                                                              "aten.alias.default",
                                                              "aten.to.dtype",
                                                              "aten.to.dtype_layout"});

template <class Names>
bool contains(const Names& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

/// The op that makes the value's numbers; null for an input.
const ir::Node* maker_of(const ir::Graph& graph, ir::ValueId value) {
  while (graph.value(value).producer != ir::kNoNode) {
    const ir::Node& node = graph.node(graph.value(value).producer);
    const std::vector<ir::ValueId> operands = ir::operands(node);
    if (!contains(kUnchanging, node.op) || operands.empty()) {
      return &node;
    }
    value = operands.front();
  }
  return nullptr;
}

}  // namespace

Result<void> check_output(const ir::Graph& graph, worker::Task task) {
  if (task == worker::Task::kRegression) {
    return {};
  }
  for (const ir::Output& output : graph.outputs) {
    if (output.kind != ir::OutputKind::kUser) {
      continue;
    }
    const ir::Node* maker = maker_of(graph, output.value);
    if (maker != nullptr && contains(kSoftmax, maker->op)) {
      return make_error("H0255", "the model returns probabilities: it ends in a softmax")
          .at(maker->source.place.empty() ? maker->source.module : maker->source.place);
    }
  }
  return {};
}

}  // namespace hydro::run
