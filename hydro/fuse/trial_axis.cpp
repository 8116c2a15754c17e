#include "hydro/fuse/trial_axis.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/ir/graph.h"

namespace hydro::fuse {

namespace {

/// Ops that fold K and C into K*C channels.
constexpr std::array<std::string_view, 9> kChannelOps = {"aten.conv1d.default",
                                                         "aten.conv2d.default",
                                                         "aten.conv2d.padding",
                                                         "aten.batch_norm.default",
                                                         "hydro.batch_norm",
                                                         "aten.max_pool2d.default",
                                                         "aten.max_pool2d_with_indices.default",
                                                         "aten.avg_pool2d.default",
                                                         "aten.adaptive_avg_pool2d.default"};

/// Ops that run on any layout and therefore leave the axis where their operand has it.
constexpr std::array<std::string_view, 29> kFollowers = {"aten.pad.default",
                                                         "aten.relu.default",
                                                         "aten.relu6.default",
                                                         "aten.hardtanh.default",
                                                         "aten.leaky_relu.default",
                                                         "aten.tanh.default",
                                                         "aten.sigmoid.default",
                                                         "aten.gelu.default",
                                                         "aten.silu.default",
                                                         "aten.hardswish.default",
                                                         "aten.hardsigmoid.default",
                                                         "aten.neg.default",
                                                         "aten.add.Tensor",
                                                         "aten.add.Scalar",
                                                         "aten.sub.Tensor",
                                                         "aten.sub.Scalar",
                                                         "aten.mul.Tensor",
                                                         "aten.mul.Scalar",
                                                         "aten.div.Tensor",
                                                         "aten.div.Scalar",
                                                         "aten.dropout.default",
                                                         "aten.feature_dropout.default",
                                                         "aten.masked_fill.Scalar",
                                                         "aten.masked_fill.Tensor",
                                                         "aten.clone.default",
                                                         "aten.contiguous.default",
                                                         "aten.alias.default",
                                                         "aten.detach.default",
                                                         "aten.to.dtype"};

constexpr std::array<std::string_view, 2> kRandomOps = {"aten.dropout.default",
                                                        "aten.feature_dropout.default"};

bool contains(std::span<const std::string_view> ops, std::string_view op) {
  return std::ranges::find(ops, op) != ops.end();
}

Axis axis_of(const Axes& axes, ir::ValueId value) {
  return axes[static_cast<std::size_t>(value)];
}

bool is_shared(const ir::Node& node, const Axes& axes) {
  return !is_random(node) && std::ranges::all_of(ir::operands(node), [&](ir::ValueId operand) {
    return axis_of(axes, operand) == Axis::kShared;
  });
}

/// The axis of the first computed operand that has one; state alone stands in front.
Axis followed(const ir::Graph& graph, const ir::Node& node, const Axes& axes) {
  for (const ir::ValueId operand : ir::operands(node)) {
    const Axis axis = axis_of(axes, operand);
    if (axis != Axis::kShared && graph.value(operand).producer != ir::kNoNode) {
      return axis;
    }
  }
  return Axis::kFront;
}

Axis output_axis(const ir::Graph& graph, const ir::Node& node, const Axes& axes) {
  if (is_shared(node, axes)) {
    return Axis::kShared;
  }
  if (contains(kChannelOps, node.op)) {
    return Axis::kSecond;
  }
  return contains(kFollowers, node.op) ? followed(graph, node, axes) : Axis::kFront;
}

/// Batch norm's next statistics are state, which stands in front.
bool is_statistic(const ir::Node& node, std::size_t output) {
  return node.op == "hydro.batch_norm" && output > 0;
}

std::string operand_text(const ir::Graph& graph,
                         ir::ValueId operand,
                         Axis result,
                         const Axes& axes) {
  const ir::Value& value = graph.value(operand);
  const Axis axis = axis_of(axes, operand);
  std::string text = "%" + value.name + " " + std::string(axis_name(axis));
  const bool computed = value.producer != ir::kNoNode;
  if (computed && axis != Axis::kShared && result != Axis::kShared && axis != result) {
    text += "->" + std::string(axis_name(result));
  }
  return text;
}

std::string node_text(const ir::Graph& graph, const ir::Node& node, const Axes& axes) {
  const ir::ValueId output = node.outputs.front();
  std::string text = "%" + graph.value(output).name + " " +
                     std::string(axis_name(axis_of(axes, output))) + " = ";
  text += node.op + "(";
  std::string_view separator;
  for (const ir::ValueId operand : ir::operands(node)) {
    text += separator;
    text += operand_text(graph, operand, axis_of(axes, output), axes);
    separator = ", ";
  }
  return text + ")\n";
}

}  // namespace

std::string_view axis_name(Axis axis) {
  constexpr std::array<std::string_view, 3> kNames = {"shared", "front", "second"};
  return kNames[static_cast<std::size_t>(axis)];
}

bool is_random(const ir::Node& node) {
  return contains(kRandomOps, node.op) && node.boolean("train") && node.number("p") > 0;
}

Axes mark_axes(const ir::Graph& graph) {
  Axes axes(graph.values().size(), Axis::kShared);
  for (const ir::Input& input : graph.inputs) {
    const bool per_trial =
        input.kind == ir::InputKind::kParameter || input.kind == ir::InputKind::kBuffer;
    axes[static_cast<std::size_t>(input.value)] = per_trial ? Axis::kFront : Axis::kShared;
  }
  for (const ir::Node& node : graph.nodes()) {
    const Axis axis = output_axis(graph, node, axes);
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      const bool tensor = graph.value(node.outputs[i]).is_tensor();
      const Axis wanted = is_statistic(node, i) && axis != Axis::kShared ? Axis::kFront : axis;
      axes[static_cast<std::size_t>(node.outputs[i])] = tensor ? wanted : Axis::kShared;
    }
  }
  return axes;
}

std::string to_text(const ir::Graph& graph, const Axes& axes) {
  HYDRO_CHECK(axes.size() == graph.values().size(), "axes of another graph");
  std::string text;
  for (const ir::Input& input : graph.inputs) {
    text += "%" + graph.value(input.value).name + " " +
            std::string(axis_name(axis_of(axes, input.value))) + "\n";
  }
  for (const ir::Node& node : graph.nodes()) {
    if (!node.outputs.empty()) {
      text += node_text(graph, node, axes);
    }
  }
  return text;
}

}  // namespace hydro::fuse
