// Dropout from our own random numbers: a mask depends on the trial's key, the node and the
// step, never on K, the trial's slot or the layout in memory.
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "hydro/base/philox.h"
#include "hydro/base/result.h"
#include "hydro/fuse/trial_axis.h"
#include "hydro/ops/families.h"
#include "hydro/ops/keep_mask.h"
#include "hydro/ops/ops.h"
#include "hydro/ops/torch.h"

namespace hydro::ops {

namespace {

using fuse::Axis;

template <class Real>
void fill_trials(const Call& call, double p, at::Tensor& masks) {
  const auto elements = static_cast<std::size_t>(masks.numel() / call.trials());
  // p = 1 keeps nothing, whatever the scale.
  const Real scale = p < 1 ? static_cast<Real>(1.0 / (1.0 - p)) : Real{0};
  Real* data = masks.mutable_data_ptr<Real>();
  for (const std::uint64_t key : call.random().keys) {
    const DrawSite site{.key = key,
                        .node = static_cast<std::uint32_t>(call.node().position),
                        .step = call.random().step};
    fill_keep_mask(site, p, scale, std::span<Real>(data, elements));
    data += elements;
  }
}

/// One mask a trial, [K, sizes...]; elements in row-major order of one trial.
at::Tensor keep_masks(const Call& call,
                      std::vector<std::int64_t> sizes,
                      const at::Tensor& like) {
  HYDRO_CHECK(static_cast<std::int64_t>(call.random().keys.size()) == call.trials(),
              "one random key a trial");
  sizes.insert(sizes.begin(), call.trials());
  const bool wide = like.scalar_type() == at::kDouble;
  at::Tensor masks = at::empty(sizes, like.options().dtype(wide ? at::kDouble : at::kFloat));
  if (wide) {
    fill_trials<double>(call, call.number("p"), masks);
  } else {
    fill_trials<float>(call, call.number("p"), masks);
  }
  return masks.to(like.scalar_type());
}

void drop(const Call& call, std::vector<std::int64_t> mask_sizes) {
  const at::Tensor& x = call.tensor("input");
  const at::Tensor masks = keep_masks(call, std::move(mask_sizes), x);
  const Axis axis = call.output_axis();
  if (axis == Axis::kShared) {
    call.put(at::mul(x, masks.squeeze(0)));
    return;
  }
  call.put(at::mul(call.stacked("input", axis),
                   move_axis(masks, Axis::kFront, axis, call.trials())));
}

}  // namespace

void dropout(const Call& call) {
  if (!fuse::is_random(call.node())) {
    call.put(call.tensor("input"));
    return;
  }
  drop(call, trial_sizes(call.tensor("input"), call.axis("input")));
}

void feature_dropout(const Call& call) {
  if (!fuse::is_random(call.node())) {
    call.put(call.tensor("input"));
    return;
  }
  // One draw a sample and channel: the mask is [B, C, 1, ...].
  std::vector<std::int64_t> sizes = trial_sizes(call.tensor("input"), call.axis("input"));
  for (std::size_t dim = 2; dim < sizes.size(); ++dim) {
    sizes[dim] = 1;
  }
  drop(call, std::move(sizes));
}

}  // namespace hydro::ops
