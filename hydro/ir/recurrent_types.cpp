// The exporter gives the last states of a recurrent layer a dimension too many; what the op
// returns has the type of the first states.
#include <cstddef>
#include <cstdint>
#include <variant>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/ir/graph.h"
#include "hydro/ir/passes.h"

namespace hydro::ir {

namespace {

// "aten.lstm.input", "aten.gru.input", ...: hx is one tensor or a list of them.
std::vector<ValueId> first_states(const Node& node) {
  const Argument* hx = node.find_argument("hx");
  if (hx == nullptr || !node.op.ends_with(".input")) {
    return {};
  }
  if (const auto* list = std::get_if<std::vector<ValueId>>(hx)) {
    return *list;
  }
  const auto* one = std::get_if<ValueId>(hx);
  return one == nullptr ? std::vector<ValueId>() : std::vector<ValueId>{*one};
}

}  // namespace

Result<void> recurrent_types(Graph& graph, const PassContext& /*context*/) {
  for (std::int32_t i = 0; i < graph.node_count(); ++i) {
    const Node& node = graph.node(NodeId{i});
    const std::vector<ValueId> states = first_states(node);
    for (std::size_t k = 0; k < states.size() && k + 1 < node.outputs.size(); ++k) {
      Value& last = graph.value(node.outputs[k + 1]);
      if (last.is_tensor() && graph.value(states[k]).is_tensor()) {
        last.type = graph.value(states[k]).type;
      }
    }
  }
  return {};
}

}  // namespace hydro::ir
