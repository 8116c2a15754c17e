#include "hydro/ops/keep_mask.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "hydro/base/philox.h"
#include "hydro/base/result.h"
#include "hydro/kernels/clones.h"

namespace hydro::ops {

namespace {

/// Blocks drawn side by side, one a vector lane.
constexpr std::size_t kLanes = 64;
constexpr std::size_t kElements = 4 * kLanes;
constexpr std::uint32_t kMultiplier0 = 0xD2511F53;
constexpr std::uint32_t kMultiplier1 = 0xCD9E8D57;
constexpr std::uint32_t kWeyl0 = 0x9E3779B9;
constexpr std::uint32_t kWeyl1 = 0xBB67AE85;
constexpr int kRounds = 10;

/// Word j of kLanes blocks from `first_block`, for j in 0..3.
struct Words {
  std::array<std::array<std::uint32_t, kLanes>, 4> of;
};

HYDRO_CLONED void draw(const DrawSite& site, std::uint64_t first_block, Words& words) {
  std::uint32_t* const c0 = words.of[0].data();
  std::uint32_t* const c1 = words.of[1].data();
  std::uint32_t* const c2 = words.of[2].data();
  std::uint32_t* const c3 = words.of[3].data();
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    const std::uint64_t block = first_block + lane;
    c0[lane] = static_cast<std::uint32_t>(block);
    c1[lane] = site.node;
    c2[lane] = site.step;
    c3[lane] = static_cast<std::uint32_t>(block >> 32U);
  }
  auto k0 = static_cast<std::uint32_t>(site.key);
  auto k1 = static_cast<std::uint32_t>(site.key >> 32U);
  for (int round = 0; round < kRounds; ++round) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const std::uint64_t p0 = std::uint64_t{kMultiplier0} * c0[lane];
      const std::uint64_t p1 = std::uint64_t{kMultiplier1} * c2[lane];
      c0[lane] = static_cast<std::uint32_t>(p1 >> 32U) ^ c1[lane] ^ k0;
      c1[lane] = static_cast<std::uint32_t>(p1);
      c2[lane] = static_cast<std::uint32_t>(p0 >> 32U) ^ c3[lane] ^ k1;
      c3[lane] = static_cast<std::uint32_t>(p0);
    }
    k0 += kWeyl0;
    k1 += kWeyl1;
  }
}

template <class Real>
void fill(const DrawSite& site, double p, Real scale, std::span<Real> mask) {
  const bool is_probability = p >= 0 && p <= 1;
  HYDRO_CHECK(is_probability, "dropout probability " + std::to_string(p));
  // word / 2^32 >= p, exactly, as whole numbers; 2^32 itself is above every word.
  const auto threshold = static_cast<std::uint64_t>(std::ceil(p * 0x1p32));
  Words words;
  for (std::size_t done = 0; done < mask.size(); done += kElements) {
    draw(site, done / 4, words);
    const std::size_t count = std::min(kElements, mask.size() - done);
    for (std::size_t i = 0; i < count; ++i) {
      mask[done + i] = words.of[i % 4][i / 4] >= threshold ? scale : Real{0};
    }
  }
}

}  // namespace

void fill_keep_mask(const DrawSite& site, double p, float scale, std::span<float> mask) {
  fill<float>(site, p, scale, mask);
}

void fill_keep_mask(const DrawSite& site, double p, double scale, std::span<double> mask) {
  fill<double>(site, p, scale, mask);
}

}  // namespace hydro::ops
