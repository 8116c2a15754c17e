// Batch norm. K trials are K*C channels of one batch norm; statistics never cross trials.
#include <cstdint>

#include "hydro/fuse/trial_axis.h"
#include "hydro/ops/families.h"
#include "hydro/ops/ops.h"
#include "hydro/ops/torch.h"

namespace hydro::ops {

namespace {

using fuse::Axis;

/// A batch norm's tensors with channels in one dimension, however many trials there are;
/// undefined where it has none.
struct Channels {
  at::Tensor input;
  at::Tensor weight;
  at::Tensor bias;
  at::Tensor mean;
  at::Tensor variance;
};

Channels channels_of_one(const Call& call) {
  const auto given = [&](const char* name) {
    return call.has(name) ? call.tensor(name) : at::Tensor();
  };
  return {.input = call.tensor("input"),
          .weight = given("weight"),
          .bias = given("bias"),
          .mean = given("running_mean"),
          .variance = given("running_var")};
}

Channels channels_of_all(const Call& call) {
  const auto folded = [&](const char* name) {
    return call.has(name) ? call.stacked(name, Axis::kFront).flatten(0, 1) : at::Tensor();
  };
  return {.input = call.stacked("input", Axis::kSecond).flatten(1, 2),
          .weight = folded("weight"),
          .bias = folded("bias"),
          .mean = folded("running_mean"),
          .variance = folded("running_var")};
}

/// The graph is pure: the next statistics are new tensors, which carry no gradient.
Channels with_own_statistics(Channels c) {
  const at::NoGradGuard no_gradient;
  c.mean = c.mean.clone();
  c.variance = c.variance.clone();
  return c;
}

/// With `training`, overwrites mean and variance: new = (1 - momentum) * old + momentum *
/// batch.
at::Tensor normalize(const Call& call, const Channels& c, double momentum) {
  return at::batch_norm(c.input,
                        c.weight,
                        c.bias,
                        c.mean,
                        c.variance,
                        call.boolean("training"),
                        momentum,
                        call.number("eps"),
                        /*cudnn_enabled=*/true);
}

struct Normalized {
  at::Tensor y;
  at::Tensor mean;
  at::Tensor variance;
};

/// Without a momentum the statistics are the mean over all batches so far. `count`: batches,
/// this one included; one number a channel, or one for all.
Normalized normalize_cumulative(const Call& call, const Channels& c, const at::Tensor& count) {
  const Channels batch = with_own_statistics(c);
  const at::Tensor y = normalize(call, batch, /*momentum=*/1.0);
  const at::NoGradGuard no_gradient;
  const at::Tensor share = at::reciprocal(count.to(c.mean.scalar_type()));
  return {.y = y,
          .mean = at::lerp(c.mean, batch.mean, share),
          .variance = at::lerp(c.variance, batch.variance, share)};
}

Normalized normalize_training(const Call& call, const Channels& c, const at::Tensor& count) {
  if (!call.has("momentum")) {
    return normalize_cumulative(call, c, count);
  }
  const Channels own = with_own_statistics(c);
  const at::Tensor y = normalize(call, own, call.number("momentum"));
  return {.y = y, .mean = own.mean, .variance = own.variance};
}

}  // namespace

void batch_norm(const Call& call) {
  call.put(normalize(call, channels_of_one(call), call.number("momentum")));
}

void batch_norm_stacked(const Call& call) {
  call.put(normalize(call, channels_of_all(call), call.number("momentum"))
               .unflatten(1, {call.trials(), -1}));
}

void batch_norm_training(const Call& call) {
  const at::Tensor count =
      call.has("momentum") ? at::Tensor() : call.tensor("num_batches_tracked");
  const Normalized result = normalize_training(call, channels_of_one(call), count);
  call.put(0, result.y);
  call.put(1, result.mean);
  call.put(2, result.variance);
}

void batch_norm_training_stacked(const Call& call) {
  const std::int64_t trials = call.trials();
  const Channels c = channels_of_all(call);
  at::Tensor count;
  if (!call.has("momentum")) {
    count = call.stacked("num_batches_tracked", Axis::kFront)
                .repeat_interleave(c.mean.size(0) / trials);
  }
  const Normalized result = normalize_training(call, c, count);
  call.put(0, result.y.unflatten(1, {trials, -1}));
  call.put(1, result.mean.unflatten(0, {trials, -1}));
  call.put(2, result.variance.unflatten(0, {trials, -1}));
}

}  // namespace hydro::ops
