// hydro/base/philox.h — counter-based random numbers: Philox4x32-10. No state exists to be
// saved: a number is a function of its key (study seed, trial, purpose) and its counter
// (element / 4, node, step, 0). Source: Salmon et al., "Parallel random numbers: as easy as 1,
// 2, 3", SC 2011; DESIGN "Randomness".
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace hydro {

/// A fixed 64-bit hash (FNV-1a over the bytes, finished by splitmix64); the same on every
/// machine and version.
[[nodiscard]] std::uint64_t stable_hash(std::string_view bytes);
/// The key of one stream: study seed, who ("7" or "target"), and what for ("init", "dropout").
[[nodiscard]] std::uint64_t stream_key(std::uint64_t seed,
                                       std::string_view owner,
                                       std::string_view purpose);

using PhiloxBlock = std::array<std::uint32_t, 4>;

/// Ten rounds.
[[nodiscard]] PhiloxBlock philox(std::uint64_t key, const PhiloxBlock& counter);

/// 53-bit uniform in [0, 1) from two words. Elements 2i and 2i+1 of a block use words (0,1) and
/// (2,3).
[[nodiscard]] double unit_double(std::uint32_t high, std::uint32_t low);

/// 32-bit uniform in [0, 1).
[[nodiscard]] inline double unit_single(std::uint32_t word) {
  return word * 0x1p-32;
}

/// The place of a draw inside its stream.
struct DrawSite {
  std::uint64_t key = 0;
  std::uint32_t node = 0;
  std::uint32_t step = 0;
};

/// Uniforms in [0, 1) of elements [first, first + out.size()): one 32-bit word an element, four
/// a block (counter {element / 4, node, step, 0}; elements past 2^34 use the counter's last
/// word).
void fill_uniform(const DrawSite& site, std::uint64_t first, std::span<double> out);
/// Standard normals by Box-Muller in double precision: elements 2i and 2i+1 share the uniforms
/// of the pair; element / 4 is the block, as above.
void fill_normal(const DrawSite& site, std::uint64_t first, std::span<double> out);

/// An unbiased draw from [0, bound); `counter` numbers the draws of one key.
///
/// Requires: bound > 0
[[nodiscard]] std::uint64_t bounded(std::uint64_t key,
                                    std::uint64_t counter,
                                    std::uint64_t bound);

}  // namespace hydro
