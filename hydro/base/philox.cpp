#include "hydro/base/philox.h"

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <span>
#include <string>
#include <string_view>

namespace hydro {
namespace {

constexpr std::uint32_t kMultiplier0 = 0xD2511F53;
constexpr std::uint32_t kMultiplier1 = 0xCD9E8D57;
constexpr std::uint32_t kWeyl0 = 0x9E3779B9;
constexpr std::uint32_t kWeyl1 = 0xBB67AE85;
constexpr int kRounds = 10;

std::uint64_t splitmix(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15ULL;
  x = (x ^ (x >> 30U)) * 0xBF58476D1CE4E5B9ULL;
  x = (x ^ (x >> 27U)) * 0x94D049BB133111EBULL;
  return x ^ (x >> 31U);
}

PhiloxBlock block_of(const DrawSite& site, std::uint64_t block) {
  return philox(site.key,
                {static_cast<std::uint32_t>(block),
                 site.node,
                 site.step,
                 static_cast<std::uint32_t>(block >> 32U)});
}

/// Standard normals of one block: words (0,1) make elements 0 and 1, words (2,3) elements 2
/// and 3.
std::array<double, 4> normals_of(const PhiloxBlock& words) {
  std::array<double, 4> out{};
  for (std::size_t pair = 0; pair < 2; ++pair) {
    // 1 - u lies in (0, 1], so that the logarithm is finite.
    const double radius = std::sqrt(-2.0 * std::log(1.0 - unit_single(words[2 * pair])));
    const double angle = 2.0 * std::numbers::pi * unit_single(words[2 * pair + 1]);
    out[2 * pair] = radius * std::cos(angle);
    out[2 * pair + 1] = radius * std::sin(angle);
  }
  return out;
}

std::array<double, 4> uniforms_of(const PhiloxBlock& words) {
  return {unit_single(words[0]),
          unit_single(words[1]),
          unit_single(words[2]),
          unit_single(words[3])};
}

/// Elements [first, first + out.size()) of the stream whose blocks `draw` makes from Philox
/// words.
template <class Draw>
void fill_blocks(const DrawSite& site, std::uint64_t first, std::span<double> out, Draw draw) {
  std::uint64_t element = first;
  std::size_t done = 0;
  while (done < out.size()) {
    const auto values = draw(block_of(site, element / 4));
    for (std::size_t lane = element % 4; lane < 4 && done < out.size(); ++lane, ++element) {
      out[done++] = values[lane];
    }
  }
}

}  // namespace

std::uint64_t stable_hash(std::string_view bytes) {
  std::uint64_t hash = 0xCBF29CE484222325ULL;
  for (const char byte : bytes) {
    hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001B3ULL;
  }
  return splitmix(hash);
}

std::uint64_t stream_key(std::uint64_t seed, std::string_view owner, std::string_view purpose) {
  std::string text = std::to_string(seed);
  text += '/';
  text += owner;
  text += '/';
  text += purpose;
  return stable_hash(text);
}

PhiloxBlock philox(std::uint64_t key, const PhiloxBlock& counter) {
  PhiloxBlock c = counter;
  auto k0 = static_cast<std::uint32_t>(key);
  auto k1 = static_cast<std::uint32_t>(key >> 32U);
  for (int round = 0; round < kRounds; ++round) {
    const std::uint64_t p0 = std::uint64_t{kMultiplier0} * c[0];
    const std::uint64_t p1 = std::uint64_t{kMultiplier1} * c[2];
    c = {static_cast<std::uint32_t>(p1 >> 32U) ^ c[1] ^ k0,
         static_cast<std::uint32_t>(p1),
         static_cast<std::uint32_t>(p0 >> 32U) ^ c[3] ^ k1,
         static_cast<std::uint32_t>(p0)};
    k0 += kWeyl0;
    k1 += kWeyl1;
  }
  return c;
}

double unit_double(std::uint32_t high, std::uint32_t low) {
  const std::uint64_t bits = (std::uint64_t{high} << 32U | low) >> 11U;
  return static_cast<double>(bits) * 0x1p-53;
}

void fill_uniform(const DrawSite& site, std::uint64_t first, std::span<double> out) {
  fill_blocks(site, first, out, uniforms_of);
}

void fill_normal(const DrawSite& site, std::uint64_t first, std::span<double> out) {
  fill_blocks(site, first, out, normals_of);
}

std::uint64_t bounded(std::uint64_t key, std::uint64_t counter, std::uint64_t bound) {
  // Lemire's multiplication with rejection; the rejected draws move the counter's third word.
  const std::uint64_t threshold = (0 - bound) % bound;
  for (std::uint32_t attempt = 0;; ++attempt) {
    const PhiloxBlock words = philox(key,
                                     {static_cast<std::uint32_t>(counter),
                                      static_cast<std::uint32_t>(counter >> 32U),
                                      attempt,
                                      0});
    const std::uint64_t draw = std::uint64_t{words[0]} << 32U | words[1];
    __extension__ using Wide = unsigned __int128;
    const Wide product = static_cast<Wide>(draw) * bound;
    if (static_cast<std::uint64_t>(product) >= threshold) {
      return static_cast<std::uint64_t>(product >> 64U);
    }
  }
}

}  // namespace hydro
