// hydro/fuse/trial_axis.h — where each value of a graph carries the trial axis when K trials
// run as one graph. Convolution, batch norm, pooling and pointwise regions keep it second, [B,
// K, C, H, W], so that K and C fold into K*C channels without a copy; everything else keeps it
// in front, [K, B, ...]. A value is moved only where a region ends. With K = 1 there is no axis
// and nothing here is needed. Thread-safety: pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "hydro/ir/graph.h"

namespace hydro::fuse {

/// kShared: one tensor for all trials. kFront: [K, ...]. kSecond: [B, K, ...].
enum class Axis : std::uint8_t { kShared, kFront, kSecond };

/// "shared", "front", "second"
[[nodiscard]] std::string_view axis_name(Axis axis);

/// The axis of every value, by ValueId. Integers are shared: sizes are those of one trial.
using Axes = std::vector<Axis>;

/// User inputs and constants are shared; parameters and buffers carry the axis in front. A
/// computed value is shared when all that it is made of is, unless it is drawn at random; what
/// is marked constant is shared whatever it measures.
[[nodiscard]] Axes mark_axes(const ir::Graph& graph);

/// True when two trials with equal operands still get different results: an op that draws
/// random numbers and is not switched off.
[[nodiscard]] bool is_random(const ir::Node& node);
/// The arguments switch the op's drawing off: not training, or a probability of 0.
[[nodiscard]] bool draws_nothing(const ir::Node& node);

/// One line an input and a node: where its first output carries the axis, where its operands
/// do, and which of them move ("second->front"). The golden tests' language.
[[nodiscard]] std::string to_text(const ir::Graph& graph, const Axes& axes);

}  // namespace hydro::fuse
