// Convolution and padding. K trials are K groups: [B, K, C, H, W] folds into K*C channels
// without a copy.
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/fuse/trial_axis.h"
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

at::Tensor convolve(const Call& call, const at::Tensor& x, const Filter& filter) {
  const std::vector<std::int64_t> stride = call.integers("stride");
  const std::vector<std::int64_t> dilation = call.integers("dilation");
  const bool one_dimensional = filter.weight.dim() == 3;
  if (const auto* same = std::get_if<std::string>(&call.node().argument("padding"))) {
    return at::conv2d(x, filter.weight, filter.bias, stride, *same, dilation, filter.groups);
  }
  const std::vector<std::int64_t> padding = call.integers("padding");
  return one_dimensional
             ? at::conv1d(
                   x, filter.weight, filter.bias, stride, padding, dilation, filter.groups)
             : at::conv2d(
                   x, filter.weight, filter.bias, stride, padding, dilation, filter.groups);
}

/// All trials read one input: an ordinary convolution with K times the output channels. With
/// groups the trials' filters of one group must stand together: channels are [g, K, O/g].
at::Tensor convolve_shared(const Call& call, const Filter& filter) {
  const std::int64_t trials = call.trials();
  const std::int64_t groups = filter.groups;
  const auto interleave = [&](const at::Tensor& per_trial) {
    return per_trial.unflatten(1, {groups, -1}).transpose(0, 1).flatten(0, 2);
  };
  Filter wide{.weight = interleave(filter.weight), .bias = std::nullopt, .groups = groups};
  if (filter.bias) {
    wide.bias = interleave(*filter.bias);
  }
  const at::Tensor y = convolve(call, call.tensor("input"), wide);
  return groups == 1 ? y.unflatten(1, {trials, -1})
                     : y.unflatten(1, {groups, trials, -1}).transpose(1, 2).flatten(2, 3);
}

}  // namespace

void conv(const Call& call) {
  const Filter filter{.weight = call.tensor("weight"),
                      .bias = call.optional_tensor("bias"),
                      .groups = call.integer("groups")};
  call.put(convolve(call, call.tensor("input"), filter));
}

void conv_stacked(const Call& call) {
  Filter filter{.weight = call.stacked("weight", Axis::kFront),
                .bias = call.optional_stacked("bias", Axis::kFront),
                .groups = call.integer("groups")};
  HYDRO_CHECK(call.trial_rank("input") == filter.weight.dim() - 1,
              "a convolution's input has no batch");
  if (call.axis("input") == Axis::kShared) {
    call.put(convolve_shared(call, filter));
    return;
  }
  filter.weight = filter.weight.flatten(0, 1);
  filter.groups *= call.trials();
  if (filter.bias) {
    filter.bias = filter.bias->flatten(0, 1);
  }
  const at::Tensor y =
      convolve(call, call.stacked("input", Axis::kSecond).flatten(1, 2), filter);
  call.put(y.unflatten(1, {call.trials(), -1}));
}

void pad(const Call& call) {
  call.put(at::pad(call.tensor("self"), call.integers("pad"), call.node().text("mode"), [&] {
    return call.has("value") ? std::optional(call.number("value")) : std::nullopt;
  }()));
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
