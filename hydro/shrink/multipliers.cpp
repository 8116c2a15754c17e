#include "hydro/shrink/multipliers.h"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <variant>
#include <vector>

#include "hydro/ir/graph.h"
#include "hydro/ir/rewire.h"

namespace hydro::shrink {

namespace {

class Inserter {
 public:
  Inserter(ir::Graph& graph, const Multipliers& wanted)
      : graph_(graph), wanted_(wanted), renamed_(ir::identity_renaming(graph)) {}

  void run() {
    const std::vector<ir::Node> old(graph_.nodes().begin(), graph_.nodes().end());
    for (std::size_t i = 0; i < old.size(); ++i) {
      ir::Node node = old[i];
      ir::rename_operands(node, renamed_);
      const auto id = static_cast<ir::NodeId>(i);
      if (const auto found = wanted_.operands.find(id); found != wanted_.operands.end()) {
        multiply_operand(node, found->second);
      }
      nodes_.push_back(node);
      if (const auto found = wanted_.results.find(id); found != wanted_.results.end()) {
        const ir::ValueId result = node.outputs.at(0);
        const ir::ValueId made = product(result, found->second, node);
        renamed_.at(static_cast<std::size_t>(result)) = made;
      }
    }
    for (ir::Output& output : graph_.outputs) {
      output.value = renamed_.at(static_cast<std::size_t>(output.value));
    }
    graph_.set_nodes(std::move(nodes_));
  }

 private:
  void multiply_operand(ir::Node& node, const OperandFactor& wanted) {
    ir::Argument& argument = node.argument(wanted.argument);
    auto* list = std::get_if<std::vector<ir::ValueId>>(&argument);
    const ir::ValueId x =
        list != nullptr ? list->at(wanted.place) : node.value(wanted.argument);
    const ir::ValueId made = product(x, wanted.factor, node);
    if (list != nullptr) {
      list->at(wanted.place) = made;
    } else {
      argument = made;
    }
  }

  ir::ValueId product(ir::ValueId x, double factor, const ir::Node& like) {
    const ir::Value before = graph_.value(x);
    const ir::ValueId made = graph_.add_value(before.name + "_scaled", before.type);
    // New values are read by nobody before this node: each stands for itself.
    renamed_.push_back(made);
    nodes_.push_back(
        {.op = "aten.mul.Tensor",
         .arguments = {{.name = "self", .value = x}, {.name = "other", .value = factor}},
         .outputs = {made},
         .source = like.source,
         .position = -1 - inserted_++});
    return made;
  }

  ir::Graph& graph_;
  const Multipliers& wanted_;
  std::vector<ir::ValueId> renamed_;  // by value of the old graph
  std::vector<ir::Node> nodes_;
  std::int64_t inserted_ = 0;
};

}  // namespace

void insert_multipliers(ir::Graph& graph, const Multipliers& wanted) {
  if (!wanted.operands.empty() || !wanted.results.empty()) {
    Inserter(graph, wanted).run();
  }
}

}  // namespace hydro::shrink
