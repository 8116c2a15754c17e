#include "hydro/kernels/sum_of_squares.h"

#include <array>
#include <cstddef>
#include <span>

#include "hydro/kernels/clones.h"

namespace hydro::kernels {
namespace {

constexpr std::size_t kLanes = 16;

template <class Real>
inline double lanes_sum(const Real* x, std::size_t n) {
  std::array<double, kLanes> lanes{};
  std::size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const auto value = static_cast<double>(x[i + lane]);
      lanes[lane] += value * value;
    }
  }
  double total = 0;
  for (const double lane : lanes) {
    total += lane;
  }
  for (; i < n; ++i) {
    const auto value = static_cast<double>(x[i]);
    total += value * value;
  }
  return total;
}

HYDRO_CLONED double run_sum(const float* x, std::size_t n) {
  return lanes_sum(x, n);
}

HYDRO_CLONED double run_sum(const double* x, std::size_t n) {
  return lanes_sum(x, n);
}

}  // namespace

double sum_of_squares(std::span<const float> x) {
  return run_sum(x.data(), x.size());
}

double sum_of_squares(std::span<const double> x) {
  return run_sum(x.data(), x.size());
}

}  // namespace hydro::kernels
