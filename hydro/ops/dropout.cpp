// Dropout in its forms, from our own random numbers.
#include <cmath>
#include <cstddef>
#include <string_view>

#include "hydro/fuse/trial_axis.h"
#include "hydro/ops/draw.h"
#include "hydro/ops/families.h"
#include "hydro/ops/ops.h"
#include "hydro/ops/torch.h"

namespace hydro::ops {

namespace {

bool is_on(const Call& call) {
  return fuse::is_random(call.node());
}

/// `input`, or `self` where the model wrote dropout_.
std::string_view input_name(const Call& call) {
  return call.node().arguments.front().name;
}

const at::Tensor& given_input(const Call& call) {
  return call.tensor(input_name(call));
}

at::Tensor input_of(const Call& call) {
  return call.output_axis() == fuse::Axis::kShared
             ? given_input(call)
             : call.stacked(input_name(call), call.output_axis());
}

Sizes element_sizes(const Call& call) {
  return trial_sizes(given_input(call), call.axis(input_name(call)));
}

/// One draw a sample and channel: the mask is [B, C, 1, ...].
Sizes channel_sizes(const Call& call) {
  Sizes sizes = element_sizes(call);
  for (std::size_t dim = 2; dim < sizes.size(); ++dim) {
    sizes[dim] = 1;
  }
  return sizes;
}

at::Tensor masks(const Call& call, const Sizes& sizes) {
  return placed(call, keep_masks(call, sizes, call.number("p"), given_input(call)));
}

void drop(const Call& call, const Sizes& sizes) {
  call.put(is_on(call) ? at::mul(input_of(call), masks(call, sizes)) : given_input(call));
}

/// Dropped elements take SELU's lowest value, and the rest is moved and scaled so that mean and
/// variance stay. Source: Klambauer et al., "Self-normalizing neural networks", 2017.
void drop_to_lowest(const Call& call, const Sizes& sizes) {
  if (!is_on(call)) {
    call.put(given_input(call));
    return;
  }
  const double p = call.number("p");
  const at::Tensor keep = masks(call, sizes);
  if (p >= 1) {
    call.put(at::mul(input_of(call), keep));
    return;
  }
  constexpr double kLowest = 1.7580993408473766;
  const double scale = 1 / std::sqrt((kLowest * kLowest * p + 1) * (1 - p));
  // `keep` is 1 / (1 - p) or 0.
  const at::Tensor shift = at::mul(keep, kLowest * scale * (1 - p)) - kLowest * scale * (1 - p);
  call.put(at::mul(input_of(call), at::mul(keep, scale * (1 - p))) + shift);
}

}  // namespace

void dropout(const Call& call) {
  drop(call, element_sizes(call));
}

void feature_dropout(const Call& call) {
  drop(call, channel_sizes(call));
}

void alpha_dropout(const Call& call) {
  drop_to_lowest(call, element_sizes(call));
}

void feature_alpha_dropout(const Call& call) {
  drop_to_lowest(call, channel_sizes(call));
}

void native_dropout(const Call& call) {
  if (!is_on(call)) {
    call.put(0, given_input(call));
    call.put(1, at::ones_like(given_input(call), at::kBool));
    return;
  }
  const at::Tensor keep = masks(call, element_sizes(call));
  call.put(0, at::mul(input_of(call), keep));
  call.put(1, keep.to(at::kBool));
}

}  // namespace hydro::ops
