// Batch norm in training changes its running statistics behind the graph's back: here they
// become outputs. The node still "writes" them, which functionalize turns into buffer outputs.
#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/ir/graph.h"
#include "hydro/ir/passes.h"

namespace hydro::ir {

namespace {

bool has_state(const Node& node) {
  return std::holds_alternative<ValueId>(node.argument("running_mean")) &&
         std::holds_alternative<ValueId>(node.argument("running_var"));
}

bool flag(const Node& node, const char* name) {
  const bool* given = std::get_if<bool>(&node.argument(name));
  return given != nullptr && *given;
}

void add_statistics(Graph& graph, std::int32_t index) {
  for (const char* statistic : {"running_mean", "running_var"}) {
    const Value& before = graph.value(graph.node(NodeId{index}).value(statistic));
    const ValueId next = graph.add_value(before.name + "_next", before.type);
    graph.node(NodeId{index}).outputs.push_back(next);
  }
  graph.node(NodeId{index}).op = "hydro.batch_norm";
}

}  // namespace

Result<void> batch_norm_state(Graph& graph, const PassContext& /*context*/) {
  for (std::int32_t i = 0; i < graph.node_count(); ++i) {
    const Node& node = graph.node(NodeId{i});
    if (node.op == "aten.instance_norm.default" && has_state(node) &&
        flag(node, "use_input_stats")) {
      return make_error("H0252", "instance norm with running statistics is not supported")
          .at(node.describe());
    }
    if (node.op == "aten.batch_norm.default" && node.outputs.size() == 1 &&
        flag(node, "training") && has_state(node)) {
      add_statistics(graph, i);
    }
  }
  graph.set_nodes({graph.nodes().begin(), graph.nodes().end()});
  return {};
}

}  // namespace hydro::ir
