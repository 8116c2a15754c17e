// Norms that need no statistics of other samples. Layer norm's gain and shift differ between
// trials, so they follow the plain norm; group and instance norm see channels alone.
#include <optional>
#include <string_view>

#include "hydro/fuse/trial_axis.h"
#include "hydro/ops/families.h"
#include "hydro/ops/ops.h"
#include "hydro/ops/torch.h"

namespace hydro::ops {

namespace {

using fuse::Axis;

at::Tensor input_of(const Call& call) {
  return call.axis("input") == Axis::kShared ? call.tensor("input")
                                             : call.stacked("input", Axis::kFront);
}

/// Gain and shift of each trial, in the precision of the norm as in one trial.
at::Tensor scaled(const Call& call, const at::Tensor& y) {
  const bool has_gain = call.has("weight");
  const bool has_shift = call.has("bias");
  if (has_gain && has_shift) {
    return at::addcmul(call.aligned("bias"), y, call.aligned("weight")).to(y.scalar_type());
  }
  if (has_gain) {
    return at::mul(y, call.aligned("weight")).to(y.scalar_type());
  }
  return has_shift ? at::add(y, call.aligned("bias")).to(y.scalar_type()) : y;
}

std::optional<at::Tensor> folded(const Call& call, std::string_view name) {
  return call.has(name) ? std::optional(call.stacked(name, Axis::kFront).flatten(0, 1))
                        : std::nullopt;
}

at::Tensor folded_input(const Call& call) {
  return call.stacked("input", Axis::kSecond).flatten(1, 2);
}

}  // namespace

void layer_norm_stacked(const Call& call) {
  call.put(scaled(
      call,
      at::layer_norm(
          input_of(call), call.integers("normalized_shape"), {}, {}, call.number("eps"))));
}

void rms_norm_stacked(const Call& call) {
  const std::optional<double> eps =
      call.has("eps") ? std::optional(call.number("eps")) : std::nullopt;
  call.put(
      scaled(call, at::rms_norm(input_of(call), call.integers("normalized_shape"), {}, eps)));
}

void group_norm_stacked(const Call& call) {
  const at::Tensor y = at::group_norm(folded_input(call),
                                      call.integer("num_groups") * call.trials(),
                                      folded(call, "weight"),
                                      folded(call, "bias"),
                                      call.number("eps"));
  call.put(y.unflatten(1, {call.trials(), -1}));
}

void instance_norm_stacked(const Call& call) {
  const at::Tensor y = at::instance_norm(folded_input(call),
                                         folded(call, "weight"),
                                         folded(call, "bias"),
                                         {},
                                         {},
                                         /*use_input_stats=*/true,
                                         call.number("momentum"),
                                         call.number("eps"),
                                         /*cudnn_enabled=*/true);
  call.put(y.unflatten(1, {call.trials(), -1}));
}

}  // namespace hydro::ops
