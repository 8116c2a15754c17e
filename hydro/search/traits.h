// hydro/search/traits.h — what the distributions of space.h have in common, read off their
// members, so that drawing and checking are written once for each kind and not for each name.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>

#include "hydro/base/result.h"
#include "hydro/search/decimal_grid.h"
#include "hydro/search/space.h"

namespace hydro::search {

/// A list of options.
template <class D>
concept Listed = requires(const D& d) { d.options; };

template <class D>
concept Normal = requires(const D& d) { d.sd; };

template <class D>
concept Ranged = requires(const D& d) {
  d.low;
  d.high;
};

template <class D>
concept Stepped = requires(const D& d) { d.q; };

/// Its values are integers.
template <class D>
concept Whole = Ranged<D> && std::same_as<decltype(D::low), std::int64_t>;

/// A range of countable points.
template <class D>
concept Pointed = Ranged<D> && (Whole<D> || Stepped<D>);

template <class D>
inline constexpr bool kIsLog = requires { D::kLog; };

template <class D>
inline constexpr bool kIsHalfOpen = requires { D::kExcludesHigh; };

/// Points low + k q for k in [0, last].
struct WholeGrid {
  std::int64_t low = 0;
  std::int64_t q = 1;
  std::int64_t last = 0;

  [[nodiscard]] std::int64_t point(std::int64_t k) const { return low + k * q; }
};

template <Pointed D>
auto step_of(const D& d) {
  if constexpr (Stepped<D>) {
    return d.q;
  } else {
    return decltype(d.low){1};
  }
}

// Requires: a distribution that check_distribution accepts (BugError).

template <Whole D>
WholeGrid points_of(const D& d) {
  const std::int64_t top = kIsHalfOpen<D> ? d.high - 1 : d.high;
  return {.low = d.low, .q = step_of(d), .last = (top - d.low) / step_of(d)};
}

template <Pointed D>
  requires(!Whole<D>)
DecimalGrid points_of(const D& d) {
  const auto grid = make_decimal_grid(d.low, d.high, d.q);
  HYDRO_CHECK(grid.has_value(), "an unchecked distribution");
  return *grid;
}

/// Nothing for what is no number.
[[nodiscard]] std::optional<double> number_in(const Value& value);
/// 1 and 1.0 are one value.
[[nodiscard]] bool same_value(const Value& a, const Value& b);

}  // namespace hydro::search
