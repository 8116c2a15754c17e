#include "hydro/optim/gradient_norm.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/kernels/sum_of_squares.h"
#include "hydro/optim/flat_layout.h"
#include "hydro/optim/parallel.h"

namespace hydro::optim {
namespace {

template <class Real>
double piece_sum(const at::Tensor& gradient, std::int64_t begin, std::int64_t size) {
  const auto* data = static_cast<const Real*>(gradient.const_data_ptr()) + begin;
  return kernels::sum_of_squares(std::span<const Real>(data, static_cast<std::size_t>(size)));
}

}  // namespace

bool GradientNorm::is_finite() const {
  return std::isfinite(norm);
}

NormMeter::NormMeter(const FlatLayout& layout, std::vector<double> decay_factors)
    : layout_(layout),
      decay_factors_(std::move(decay_factors)),
      pieces_(cut(layout, kernels::kSumChunk)) {
  HYDRO_CHECK(decay_factors_.size() == layout_.tensors().size());
}

std::vector<GradientNorm> NormMeter::measure(std::span<const at::Tensor> gradients) const {
  HYDRO_CHECK(gradients.size() == layout_.tensors().size());
  std::vector<double> sums(pieces_.size());
  const bool is_double = layout_.dtype() == at::kDouble;
  for_each_piece(static_cast<std::int64_t>(pieces_.size()), [&](std::int64_t i) {
    const Piece& piece = pieces_[static_cast<std::size_t>(i)];
    const at::Tensor& gradient = gradients[piece.tensor];
    if (!gradient.defined()) {
      return;
    }
    const std::int64_t begin =
        (piece.trial * layout_.tensors()[piece.tensor].size) + piece.begin;
    sums[static_cast<std::size_t>(i)] = is_double
                                            ? piece_sum<double>(gradient, begin, piece.size)
                                            : piece_sum<float>(gradient, begin, piece.size);
  });
  std::vector<GradientNorm> norms(static_cast<std::size_t>(layout_.trials()));
  for (std::size_t i = 0; i < pieces_.size(); ++i) {
    norms[static_cast<std::size_t>(pieces_[i].trial)].norm +=
        sums[i] / decay_factors_[pieces_[i].tensor];
  }
  for (GradientNorm& one : norms) {
    one.norm = std::sqrt(one.norm);
  }
  return norms;
}

double clip_scale(double norm, double limit) {
  return std::min(1.0, limit / (norm + 1e-6));
}

}  // namespace hydro::optim
