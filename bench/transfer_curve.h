// bench/transfer_curve.h — losses by learning rate, and how far two such curves lie apart.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace hydro::bench {

using Curve = std::vector<double>;

inline std::size_t best_of(const Curve& curve) {
  return static_cast<std::size_t>(std::ranges::min_element(curve) - curve.begin());
}

/// Where the curve has come down: the first rate within 2 % of the least loss. Behind it lie a
/// flat stretch and rates that are nearly unstable, where seeds decide.
inline std::size_t bottom_of(const Curve& curve) {
  const double enough = 1.02 * *std::ranges::min_element(curve);
  return static_cast<std::size_t>(
      std::ranges::find_if(curve, [&](double loss) { return loss <= enough; }) - curve.begin());
}

/// max |L_S / L_1 - 1| up to rate `last`.
inline double distance(const Curve& whole, const Curve& curve, std::size_t last) {
  double found = 0;
  for (std::size_t i = 0; i <= last; ++i) {
    found = std::max(found, std::abs((curve.at(i) / whole.at(i)) - 1));
  }
  return found;
}

/// The rates whose loss is within .1 of the least. `open`: it may reach beyond the grid.
struct Valley {
  double middle = 0;  // in octaves from the first rate
  bool open = false;
};

/// Where the straight line from one place to the next crosses `level`, in places.
inline double crossing(const Curve& curve, std::size_t above, std::size_t below, double level) {
  const double from = static_cast<double>(above);
  const double share = std::isfinite(curve.at(above))
                           ? (curve.at(above) - level) / (curve.at(above) - curve.at(below))
                           : 1;
  return from + (share * (static_cast<double>(below) - from));
}

inline Valley valley_of(const Curve& curve, double grid) {
  const double level = *std::ranges::min_element(curve) + .1;
  const auto inside = [&](double loss) { return loss <= level; };
  const auto first =
      static_cast<std::size_t>(std::ranges::find_if(curve, inside) - curve.begin());
  std::size_t last = curve.size() - 1;
  while (!inside(curve.at(last))) {
    --last;
  }
  const bool open = first == 0 || last + 1 == curve.size();
  const double left = first == 0 ? 0 : crossing(curve, first - 1, first, level);
  const double right = last + 1 == curve.size() ? static_cast<double>(last)
                                                : crossing(curve, last + 1, last, level);
  return {.middle = (left + right) / 2 * std::log2(grid), .open = open};
}

}  // namespace hydro::bench
