// Convolution and padding. K trials are K groups: [B, K, C, H, W] folds into K*C channels
// without a copy.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hydro/fuse/trial_axis.h"
#include "hydro/ir/graph.h"
#include "hydro/ops/boxed.h"
#include "hydro/ops/families.h"
#include "hydro/ops/ops.h"
#include "hydro/ops/torch.h"

namespace hydro::ops {

namespace {

using fuse::Axis;

/// What a convolution reads beside its input.
struct Filter {
  at::Tensor weight;
  std::optional<at::Tensor> bias;
  std::int64_t groups = 1;
};

/// The node's own convolution with other operands and groups.
at::Tensor convolve(const Call& call, const at::Tensor& x, const Filter& filter) {
  const ir::ValueId input = call.node().value("input");
  const ir::ValueId weight = call.node().value("weight");
  return call_boxed(
             call,
             [&](ir::ValueId value) {
               return value == input ? x : value == weight ? filter.weight : *filter.bias;
             },
             [&](std::string_view name, c10::IValue& value) {
               if (name == "groups") {
                 value = filter.groups;
               }
             })
      .front()
      .toTensor();
}

bool is_transposed(const Call& call) {
  return call.node().op.starts_with("aten.conv_transpose");
}

/// [K, g * O, ...] -> [g * K * O, ...]: the trials' filters of one group stand together.
at::Tensor interleaved(const at::Tensor& per_trial, std::int64_t groups) {
  return per_trial.unflatten(1, {groups, -1}).transpose(0, 1).flatten(0, 2);
}

/// All trials read one input: an ordinary convolution with K times the output channels.
at::Tensor convolve_shared(const Call& call, const at::Tensor& x, const Filter& filter) {
  const std::int64_t trials = call.trials();
  const std::int64_t groups = filter.groups;
  // A transposed convolution's weight is [K, g * I, O, ...], others' [K, g * O, I, ...].
  const Filter wide{
      .weight = is_transposed(call) ? filter.weight.transpose(0, 1).flatten(1, 2)
                                    : interleaved(filter.weight, groups),
      .bias = filter.bias ? std::optional(interleaved(*filter.bias, groups)) : std::nullopt,
      .groups = groups};
  const at::Tensor y = convolve(call, x, wide);
  return groups == 1 ? y.unflatten(1, {trials, -1})
                     : y.unflatten(1, {groups, trials, -1}).transpose(1, 2).flatten(2, 3);
}

/// x [B, K, C, ...]: K times the groups.
at::Tensor convolve_folded(const Call& call, const at::Tensor& x, const Filter& filter) {
  const Filter folded{
      .weight = filter.weight.flatten(0, 1),
      .bias = filter.bias ? std::optional(filter.bias->flatten(0, 1)) : std::nullopt,
      .groups = filter.groups * call.trials()};
  return convolve(call, x.flatten(1, 2), folded).unflatten(1, {call.trials(), -1});
}

}  // namespace

void conv_stacked(const Call& call) {
  const Filter filter{.weight = call.stacked("weight", Axis::kFront),
                      .bias = call.optional_stacked("bias", Axis::kFront),
                      .groups = call.integer("groups")};
  const bool has_batch = call.trial_rank("input") == filter.weight.dim() - 1;
  if (call.axis("input") == Axis::kShared) {
    const at::Tensor& x = call.tensor("input");
    const at::Tensor y = convolve_shared(call, has_batch ? x : x.unsqueeze(0), filter);
    call.put(has_batch ? y : y.select(0, 0).transpose(0, 1));
    return;
  }
  if (has_batch) {
    call.put(convolve_folded(call, call.stacked("input", Axis::kSecond), filter));
    return;
  }
  const at::Tensor x = call.stacked("input", Axis::kFront).unsqueeze(0);
  call.put(convolve_folded(call, x, filter).select(0, 0).transpose(0, 1));
}

void pad_stacked(const Call& call) {
  const std::vector<std::int64_t> amounts = call.integers("pad");
  const std::optional<double> value =
      call.has("value") ? std::optional(call.number("value")) : std::nullopt;
  const std::string& mode = call.node().text("mode");
  const Axis axis = call.output_axis();
  if (mode != "constant") {
    const std::int64_t place = axis == Axis::kFront ? 0 : 1;
    const at::Tensor folded = call.stacked("self", axis).flatten(place, place + 1);
    call.put(at::pad(folded, amounts, mode, value).unflatten(place, {call.trials(), -1}));
    return;
  }
  // In front K is out of reach of every padded dimension, the batch included.
  const bool pads_batch =
      static_cast<std::int64_t>(amounts.size()) / 2 == call.trial_rank("self");
  const Axis layout = pads_batch ? Axis::kFront : axis;
  call.put(move_axis(at::pad(call.stacked("self", layout), amounts, mode, value),
                     layout,
                     axis,
                     call.trials()));
}

}  // namespace hydro::ops
