#include "hydro/ir/rewire.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "hydro/ir/graph.h"

namespace hydro::ir {

std::vector<ValueId> identity_renaming(const Graph& graph) {
  std::vector<ValueId> renamed;
  renamed.reserve(graph.values().size());
  for (std::int32_t i = 0; i < graph.value_count(); ++i) {
    renamed.push_back(ValueId{i});
  }
  return renamed;
}

void rename_uses(Graph& graph, const std::vector<ValueId>& renamed) {
  for (std::int32_t i = 0; i < graph.node_count(); ++i) {
    rename_operands(graph.node(NodeId{i}), renamed);
  }
  for (Output& output : graph.outputs) {
    output.value = renamed.at(static_cast<std::size_t>(output.value));
  }
}

std::vector<bool> needed_values(const Graph& graph, const std::vector<ValueId>& wanted) {
  std::vector<bool> needed(graph.values().size(), false);
  for (const ValueId value : wanted) {
    needed.at(static_cast<std::size_t>(value)) = true;
  }
  for (std::int32_t i = graph.node_count() - 1; i >= 0; --i) {
    const Node& node = graph.node(NodeId{i});
    const bool used = std::ranges::any_of(node.outputs, [&](ValueId output) {
      return needed.at(static_cast<std::size_t>(output));
    });
    if (used) {
      for (const ValueId operand : operands(node)) {
        needed.at(static_cast<std::size_t>(operand)) = true;
      }
    }
  }
  return needed;
}

std::vector<bool> reached_by_parameters(const Graph& graph) {
  std::vector<bool> reached(graph.values().size(), false);
  for (const Input& input : graph.inputs) {
    reached.at(static_cast<std::size_t>(input.value)) = input.kind == InputKind::kParameter;
  }
  for (const Node& node : graph.nodes()) {
    for (const ValueId operand : operands(node)) {
      if (reached.at(static_cast<std::size_t>(operand))) {
        for (const ValueId output : node.outputs) {
          reached.at(static_cast<std::size_t>(output)) = true;
        }
      }
    }
  }
  return reached;
}

}  // namespace hydro::ir
