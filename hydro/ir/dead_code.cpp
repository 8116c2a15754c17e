// Every node is pure by now, so one that no output needs can go, and with it the parameters
// that only it reads.
#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/ir/graph.h"
#include "hydro/ir/passes.h"
#include "hydro/ir/rewire.h"

namespace hydro::ir {

Result<void> dead_code(Graph& graph, const PassContext& /*context*/) {
  std::vector<ValueId> wanted;
  for (const Output& output : graph.outputs) {
    wanted.push_back(output.value);
    // A buffer's next value says which buffer takes it, so that input stays.
    if (const Input* buffer =
            output.kind == OutputKind::kBuffer ? graph.find_input(output.name) : nullptr) {
      wanted.push_back(buffer->value);
    }
  }
  const std::vector<bool> needed = needed_values(graph, wanted);
  const auto is_needed = [&](ValueId value) {
    return needed.at(static_cast<std::size_t>(value));
  };
  std::vector<Node> nodes;
  for (const Node& node : graph.nodes()) {
    if (std::ranges::any_of(node.outputs, is_needed)) {
      nodes.push_back(node);
    }
  }
  std::erase_if(graph.inputs, [&](const Input& input) {
    return input.kind != InputKind::kUser && !is_needed(input.value);
  });
  graph.set_nodes(std::move(nodes));
  graph.compact();
  return {};
}

}  // namespace hydro::ir
