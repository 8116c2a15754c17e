// hydro/ops/draw.h — a node's random numbers. They depend on the trial's key, the node and the
// step, never on K, the trial's slot or the layout in memory: element i of one trial's tensor,
// row by row, is element i of the trial's stream.
#pragma once

#include <cstdint>
#include <vector>

#include "hydro/ops/ops.h"
#include "hydro/ops/torch.h"

namespace hydro::ops {

using Sizes = std::vector<std::int64_t>;

/// Uniforms in [0, 1), multiples of 2^-32, in double precision. `sizes`: of one trial. The
/// result is [K, sizes...] where the node's output differs between trials, else as one trial's.
[[nodiscard]] at::Tensor uniforms(const Call& call, const Sizes& sizes);
/// Standard normals; otherwise as uniforms().
[[nodiscard]] at::Tensor normals(const Call& call, const Sizes& sizes);
/// 1 / (1 - p) with probability 1 - p, else 0; of the type and on the device of `like`;
/// otherwise as uniforms().
[[nodiscard]] at::Tensor keep_masks(const Call& call,
                                    const Sizes& sizes,
                                    double p,
                                    const at::Tensor& like);
/// What was drawn, with the axis where the node's output has it.
[[nodiscard]] at::Tensor placed(const Call& call, const at::Tensor& drawn);

}  // namespace hydro::ops
