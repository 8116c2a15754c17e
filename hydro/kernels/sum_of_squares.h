// hydro/kernels/sum_of_squares.h — sums whose value depends on the data alone: not on threads,
// not on the machine.
#pragma once

#include <cstdint>
#include <span>

namespace hydro::kernels {

/// Pieces in which callers cut a range before they hand them to threads; partial sums are added
/// in order.
inline constexpr std::int64_t kSumChunk = 16384;

/// Sum of x^2 in double precision over 16 fixed lanes. Not finite exactly when an element is
/// not (or, in double, when a square overflows).
[[nodiscard]] double sum_of_squares(std::span<const float> x);
[[nodiscard]] double sum_of_squares(std::span<const double> x);

}  // namespace hydro::kernels
