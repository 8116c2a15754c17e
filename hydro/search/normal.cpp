#include "hydro/search/normal.h"

#include <algorithm>
#include <numbers>

#include <boost/math/special_functions/erf.hpp>

namespace hydro::search {

double normal_quantile(double u) {
  constexpr double kSmallest = 0x1p-54;  // stands for u = 0, whose quantile is not finite
  const bool upper = u > 0.5;
  const double tail = std::max(upper ? 1 - u : u, kSmallest);
  const double distance = std::numbers::sqrt2 * boost::math::erfc_inv(2 * tail);
  return upper ? distance : -distance;
}

}  // namespace hydro::search
