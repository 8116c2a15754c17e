#include "hydro/shrink/readouts.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "hydro/shrink/rules.h"

namespace hydro::shrink {

namespace {

/// Their slope at zero is zero, or 1 / sqrt(eps), or not defined.
constexpr std::array<std::string_view, 22> kBlindAtZero = {"aten.abs.default",
                                                           "aten.batch_norm.default",
                                                           "aten.clamp.default",
                                                           "aten.clamp_min.default",
                                                           "aten.cosine_similarity.default",
                                                           "aten.group_norm.default",
                                                           "aten.hardshrink.default",
                                                           "aten.hardtanh.default",
                                                           "aten.instance_norm.default",
                                                           "aten.layer_norm.default",
                                                           "aten.linalg_vector_norm.default",
                                                           "aten.norm.Scalar",
                                                           "aten.norm.ScalarOpt_dim",
                                                           "aten.pow.Tensor_Scalar",
                                                           "aten.relu.default",
                                                           "aten.relu6.default",
                                                           "aten.rms_norm.default",
                                                           "aten.softshrink.default",
                                                           "aten.sqrt.default",
                                                           "aten.square.default",
                                                           "aten.threshold.default",
                                                           "hydro.batch_norm"};

/// Nodes that multiply with a weight, or do with a parameter what no rule says.
std::set<ir::NodeId> weight_nodes(const ir::Model& model, Side side, const Analysis& analysis) {
  const ir::Graph& graph = graph_of(model, side);
  std::set<ir::NodeId> found;
  for (const WeightUse& use : analysis.uses) {
    if (use.side == side) {
      found.insert(use.node);
    }
  }
  std::set<ir::ValueId> parameters;
  for (const ir::Input& input : graph.inputs) {
    if (input.kind == ir::InputKind::kParameter) {
      parameters.insert(input.value);
    }
  }
  for (std::int32_t i = 0; i < graph.node_count(); ++i) {
    const ir::Node& node = graph.node(ir::NodeId{i});
    const RuleRow* row = find_rule(node.op);
    const bool reads = std::ranges::any_of(
        ir::operands(node), [&](ir::ValueId value) { return parameters.contains(value); });
    if (reads && (row == nullptr || row->kind == OpKind::kWeight)) {
      found.insert(ir::NodeId{i});
    }
  }
  return found;
}

}  // namespace

std::set<ir::NodeId> readout_nodes(const ir::Model& model,
                                   Side side,
                                   const Analysis& analysis) {
  const ir::Graph& graph = graph_of(model, side);
  const std::set<ir::NodeId> weights = weight_nodes(model, side, analysis);
  std::vector<ir::ValueId> open;
  for (const ir::Output& output : graph.outputs) {
    if (output.kind == ir::OutputKind::kUser) {
      open.push_back(output.value);
    }
  }
  std::set<ir::NodeId> found;
  std::set<ir::ValueId> seen(open.begin(), open.end());
  while (!open.empty()) {
    const ir::NodeId producer = graph.value(open.back()).producer;
    open.pop_back();
    if (producer == ir::kNoNode) {
      continue;
    }
    if (weights.contains(producer)) {
      found.insert(producer);
      continue;
    }
    const ir::Node& node = graph.node(producer);
    if (std::ranges::find(kBlindAtZero, node.op) != kBlindAtZero.end()) {
      continue;
    }
    for (const ir::ValueId operand : ir::operands(node)) {
      if (seen.insert(operand).second) {
        open.push_back(operand);
      }
    }
  }
  return found;
}

}  // namespace hydro::shrink
