// hydro/search/decimal_grid.h — the points low + k q in exact decimals, so that 0.3 is 0.3 and
// never 0.30000000000000004, and so that (0, 0.3, 0.1) keeps its top.
#pragma once

#include <cstdint>
#include <optional>

namespace hydro::search {

/// Points (low + k q) 10^exponent for k in [0, last].
struct DecimalGrid {
  std::int64_t low = 0;
  std::int64_t q = 1;
  std::int64_t last = 0;
  int exponent = 0;

  /// The double nearest to the k-th point.
  [[nodiscard]] double point(std::int64_t k) const;
};

/// Nothing when `high` is no point of the grid that starts at `low`, or when the numbers need
/// more than 18 digits.
///
/// Requires: finite, low < high, 0 < q
[[nodiscard]] std::optional<DecimalGrid> make_decimal_grid(double low, double high, double q);

/// The double nearest to k q, computed in decimals; nothing when that needs more than 18
/// digits.
///
/// Requires: q is finite
[[nodiscard]] std::optional<double> decimal_multiple(double q, std::int64_t k);

}  // namespace hydro::search
