// hydro/train/mean_size.h — mean |x|, in double precision.
#pragma once

#include "hydro/ops/torch.h"

namespace hydro::train {

[[nodiscard]] inline double mean_size(const at::Tensor& tensor) {
  return tensor.abs().to(at::kDouble).mean().item<double>();
}

}  // namespace hydro::train
