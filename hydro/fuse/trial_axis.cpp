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
#include "hydro/ir/operator_tags.h"

namespace hydro::fuse {

namespace {

/// Ops that fold K and C into K*C channels.
constexpr auto kChannelOps =
    std::to_array<std::string_view>({"aten.conv1d.default",
                                     "aten.conv1d.padding",
                                     "aten.conv2d.default",
                                     "aten.conv2d.padding",
                                     "aten.conv3d.default",
                                     "aten.conv3d.padding",
                                     "aten.conv_transpose1d.default",
                                     "aten.conv_transpose2d.input",
                                     "aten.conv_transpose3d.input",
                                     "aten.batch_norm.default",
                                     "hydro.batch_norm",
                                     "aten.group_norm.default",
                                     "aten.instance_norm.default",
                                     "aten.max_pool1d.default",
                                     "aten.max_pool2d.default",
                                     "aten.max_pool3d.default",
                                     "aten.max_pool2d_with_indices.default",
                                     "aten.avg_pool1d.default",
                                     "aten.avg_pool2d.default",
                                     "aten.avg_pool3d.default",
                                     "aten.adaptive_avg_pool1d.default",
                                     "aten.adaptive_avg_pool2d.default",
                                     "aten.adaptive_avg_pool3d.default",
                                     "aten.adaptive_max_pool1d.default",
                                     "aten.adaptive_max_pool2d.default",
                                     "aten.adaptive_max_pool3d.default",
                                     "aten.upsample_nearest1d.vec",
                                     "aten.upsample_nearest2d.vec",
                                     "aten.upsample_bilinear2d.vec",
                                     "aten.upsample_bicubic2d.vec"});

/// Beside the pointwise ones, ops that run on any layout and therefore leave the axis where
/// their operand has it.
constexpr auto kFollowers =
    std::to_array<std::string_view>({"aten.pad.default",
                                     "aten.leaky_relu.default",
                                     "aten.hardswish.default",
                                     "aten.log_sigmoid.default",
                                     "aten.prelu.default",
                                     "aten.__and__.Tensor",
                                     "aten.__or__.Tensor",
                                     "aten.where.ScalarOther",
                                     "aten.where.ScalarSelf",
                                     "aten.dropout.default",
                                     "aten.feature_dropout.default",
                                     "aten.alpha_dropout.default",
                                     "aten.feature_alpha_dropout.default",
                                     "aten.native_dropout.default",
                                     "aten.bernoulli.default",
                                     "aten.bernoulli.p",
                                     "aten.masked_fill.Scalar",
                                     "aten.masked_fill.Tensor",
                                     "aten.contiguous.default",
                                     "aten.alias.default",
                                     "aten.detach.default",
                                     "aten.to.dtype",
                                     "aten.to.device",
                                     "aten.to.dtype_layout",
                                     "aten._to_copy.default"});

bool contains(std::span<const std::string_view> ops, std::string_view op) {
  return std::ranges::find(ops, op) != ops.end();
}

Axis axis_of(const Axes& axes, ir::ValueId value) {
  return axes[static_cast<std::size_t>(value)];
}

bool is_shared(const ir::Node& node, const Axes& axes) {
  const auto operand_is_shared = [&](ir::ValueId operand) {
    return axis_of(axes, operand) == Axis::kShared;
  };
  return node.constant ||
         (!is_random(node) && std::ranges::all_of(ir::operands(node), operand_is_shared));
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
  const bool follows = ir::is_pointwise(node.op) || contains(kFollowers, node.op);
  return follows ? followed(graph, node, axes) : Axis::kFront;
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

bool draws_nothing(const ir::Node& node) {
  const auto holds = [&](std::string_view name, const ir::Argument& value) {
    const ir::Argument* argument = node.find_argument(name);
    return argument != nullptr && *argument == value;
  };
  return holds("train", false) || holds("training", false) || holds("p", 0.0) ||
         holds("dropout", 0.0) || holds("dropout_p", 0.0);
}

bool is_random(const ir::Node& node) {
  return ir::is_random(node.op) && !draws_nothing(node);
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
