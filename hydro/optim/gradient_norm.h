// hydro/optim/gradient_norm.h — per-trial gradient norms and the finite check, in one
// deterministic pass.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hydro/ops/torch.h"
#include "hydro/optim/flat_layout.h"

namespace hydro::optim {

/// A trial's gradient over all tensors. Not finite when an element is not.
struct GradientNorm {
  double norm = 0;
  [[nodiscard]] bool is_finite() const;
};

/// Measures gradients of one layout again and again.
class NormMeter {
 public:
  /// `decay_factors`: the SGD decay column f of each tensor; the norm is sqrt(sum |g|^2 / f),
  /// so that a limit means the same at both widths. Source: DESIGN "Parametrization".
  NormMeter(const FlatLayout& layout, std::vector<double> decay_factors);

  /// One norm a trial. Fixed chunks, added in order: the result does not depend on threads or
  /// on K.
  [[nodiscard]] std::vector<GradientNorm> measure(std::span<const at::Tensor> gradients) const;

 private:
  FlatLayout layout_;
  std::vector<double> decay_factors_;
  std::vector<Piece> pieces_;
};

/// The factor that brings `norm` under `limit`, as torch.nn.utils.clip_grad_norm_: min(1, limit
/// / (norm + 1e-6)).
[[nodiscard]] double clip_scale(double norm, double limit);

}  // namespace hydro::optim
