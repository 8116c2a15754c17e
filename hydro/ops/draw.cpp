#include "hydro/ops/draw.h"

#include <cstddef>
#include <cstdint>
#include <span>

#include "hydro/base/philox.h"
#include "hydro/base/result.h"
#include "hydro/fuse/trial_axis.h"
#include "hydro/ops/keep_mask.h"
#include "hydro/ops/ops.h"
#include "hydro/ops/torch.h"

namespace hydro::ops {

namespace {

bool differs(const Call& call) {
  return call.output_axis() != fuse::Axis::kShared;
}

/// Whose numbers: every trial's, or the first one's where all trials have the same.
std::span<const std::uint64_t> keys_of(const Call& call) {
  const std::span<const std::uint64_t> keys = call.random().keys;
  HYDRO_CHECK(static_cast<std::int64_t>(keys.size()) == call.trials(),
              "one random key a trial");
  return differs(call) ? keys : keys.first(1);
}

/// Fills each trial's part of a new tensor: fill(site, part).
template <class Real, class Fill>
at::Tensor draw(const Call& call, Sizes sizes, at::ScalarType dtype, const Fill& fill) {
  const std::span<const std::uint64_t> keys = keys_of(call);
  if (differs(call)) {
    sizes.insert(sizes.begin(), call.trials());
  }
  at::Tensor drawn = at::empty(sizes, dtype);
  const std::size_t elements = static_cast<std::size_t>(drawn.numel()) / keys.size();
  Real* data = drawn.mutable_data_ptr<Real>();
  for (const std::uint64_t key : keys) {
    const DrawSite site{.key = key,
                        .node = static_cast<std::uint32_t>(call.node().position),
                        .step = call.random().step};
    fill(site, std::span<Real>(data, elements));
    data += elements;
  }
  return drawn;
}

template <class Real>
at::Tensor draw_masks(const Call& call, const Sizes& sizes, double p, at::ScalarType dtype) {
  // p = 1 keeps nothing, whatever the scale.
  const Real scale = p < 1 ? static_cast<Real>(1.0 / (1.0 - p)) : Real{0};
  return draw<Real>(call, sizes, dtype, [&](const DrawSite& site, std::span<Real> part) {
    fill_keep_mask(site, p, scale, part);
  });
}

}  // namespace

at::Tensor uniforms(const Call& call, const Sizes& sizes) {
  return draw<double>(
             call,
             sizes,
             at::kDouble,
             [](const DrawSite& site, std::span<double> part) { fill_uniform(site, 0, part); })
      .to(call.place().device);
}

at::Tensor normals(const Call& call, const Sizes& sizes) {
  return draw<double>(
             call,
             sizes,
             at::kDouble,
             [](const DrawSite& site, std::span<double> part) { fill_normal(site, 0, part); })
      .to(call.place().device);
}

at::Tensor keep_masks(const Call& call, const Sizes& sizes, double p, const at::Tensor& like) {
  const at::Tensor masks = like.scalar_type() == at::kDouble
                               ? draw_masks<double>(call, sizes, p, at::kDouble)
                               : draw_masks<float>(call, sizes, p, at::kFloat);
  return masks.to(like.options());
}

at::Tensor placed(const Call& call, const at::Tensor& drawn) {
  return differs(call) ? move_axis(drawn, fuse::Axis::kFront, call.output_axis(), call.trials())
                       : drawn;
}

}  // namespace hydro::ops
