// Values never change now, so a copy or an alias is its source.
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/ir/graph.h"
#include "hydro/ir/passes.h"
#include "hydro/ir/rewire.h"

namespace hydro::ir {

namespace {

constexpr std::array<std::string_view, 3> kIdentities = {
    "aten.alias.default", "aten.lift_fresh_copy.default", "aten.lift_fresh.default"};

// slice(dim, 0, end of everything, 1)
bool takes_everything(const Node& node) {
  const Argument& start = node.argument("start");
  const Argument& end = node.argument("end");
  const auto* first = std::get_if<std::int64_t>(&start);
  const auto* last = std::get_if<std::int64_t>(&end);
  const bool from_zero =
      std::holds_alternative<None>(start) || (first != nullptr && *first == 0);
  const bool to_end = std::holds_alternative<None>(end) ||
                      (last != nullptr && *last == std::numeric_limits<std::int64_t>::max());
  return from_zero && to_end && node.argument("step") == Argument(std::int64_t{1});
}

// The argument that the node's only output equals; null when it computes something.
const char* source_argument(const Node& node, const std::vector<bool>& trained) {
  for (const std::string_view identity : kIdentities) {
    if (node.op == identity) {
      return "self";
    }
  }
  if (node.op == "aten.detach.default") {
    return trained.at(static_cast<std::size_t>(node.value("self"))) ? nullptr : "self";
  }
  if (node.op == "aten.slice.Tensor" && takes_everything(node)) {
    return "self";
  }
  return node.op == "aten.slice_scatter.default" && takes_everything(node) ? "src" : nullptr;
}

}  // namespace

Result<void> drop_identities(Graph& graph, const PassContext& /*context*/) {
  const std::vector<bool> trained = reached_by_parameters(graph);
  std::vector<ValueId> renamed = identity_renaming(graph);
  std::vector<Node> kept;
  for (const Node& original : graph.nodes()) {
    Node node = original;
    rename_operands(node, renamed);
    const char* source = source_argument(node, trained);
    const bool same_type = source != nullptr && graph.value(node.value(source)).type ==
                                                    graph.value(node.outputs.at(0)).type;
    if (same_type) {
      renamed.at(static_cast<std::size_t>(node.outputs.at(0))) = node.value(source);
    } else {
      kept.push_back(std::move(node));
    }
  }
  graph.set_nodes(std::move(kept));
  rename_uses(graph, renamed);
  return {};
}

}  // namespace hydro::ir
