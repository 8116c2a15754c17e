#include "hydro/base/philox.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

namespace hydro {
namespace {

constexpr std::uint64_t kKey = 0x0123456789ABCDEFULL;

std::vector<double> uniforms(const DrawSite& site, std::uint64_t first, std::size_t count) {
  std::vector<double> out(count);
  fill_uniform(site, first, out);
  return out;
}

std::vector<double> normals(const DrawSite& site, std::uint64_t first, std::size_t count) {
  std::vector<double> out(count);
  fill_normal(site, first, out);
  return out;
}

// Source: Random123's kat_vectors, philox4x32-10; a key's first word is the low half of our 64
// bits.
TEST(Philox, MatchesThePublishedVectors) {
  EXPECT_EQ(philox(0, {0, 0, 0, 0}),
            (PhiloxBlock{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  constexpr std::uint32_t kOnes = 0xffffffff;
  EXPECT_EQ(philox(UINT64_MAX, {kOnes, kOnes, kOnes, kOnes}),
            (PhiloxBlock{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox(0x299f31d0a4093822ULL, {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}),
            (PhiloxBlock{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Philox, UniformsAreTheWordsOfTheirBlocks) {
  const DrawSite site{.key = kKey, .node = 7, .step = 9};
  const PhiloxBlock second = philox(kKey, {1, 7, 9, 0});
  EXPECT_EQ(
      uniforms(site, 4, 4),
      (std::vector<double>{
          second[0] * 0x1p-32, second[1] * 0x1p-32, second[2] * 0x1p-32, second[3] * 0x1p-32}));
}

TEST(Philox, AnElementsDrawDoesNotDependOnItsNeighbours) {
  const DrawSite site{.key = kKey, .node = 1, .step = 2};
  const std::vector<double> uniform = uniforms(site, 0, 40);
  const std::vector<double> normal = normals(site, 0, 40);
  for (std::uint64_t i = 0; i < 40; ++i) {
    EXPECT_EQ(uniforms(site, i, 1).front(), uniform[i]);
    EXPECT_EQ(normals(site, i, 1).front(), normal[i]);
  }
}

TEST(Philox, KeyNodeAndStepMakeOtherStreams) {
  const auto first = uniforms({.key = kKey, .node = 1, .step = 2}, 0, 8);
  EXPECT_NE(uniforms({.key = kKey + 1, .node = 1, .step = 2}, 0, 8), first);
  EXPECT_NE(uniforms({.key = kKey, .node = 2, .step = 2}, 0, 8), first);
  EXPECT_NE(uniforms({.key = kKey, .node = 1, .step = 3}, 0, 8), first);
}

TEST(Philox, ElementsPastTheFirstWordStayApart) {
  constexpr std::uint64_t kFar = std::uint64_t{1} << 34U;  // 4 elements a block, 2^32 blocks
  EXPECT_NE(uniforms({.key = kKey}, kFar, 4), uniforms({.key = kKey}, 0, 4));
}

TEST(Philox, NormalsHaveMeanZeroAndVarianceOne) {
  constexpr std::size_t kCount = 100'000;
  double sum = 0;
  double squares = 0;
  for (const double value : normals({.key = kKey}, 0, kCount)) {
    sum += value;
    squares += value * value;
  }
  EXPECT_NEAR(sum / kCount, 0, 5 / std::sqrt(kCount));  // five standard errors
  EXPECT_NEAR(squares / kCount, 1, 5 * std::sqrt(2.0 / kCount));
}

TEST(Philox, UnitDoubleIsBelowOne) {
  EXPECT_EQ(unit_double(0, 0), 0);
  EXPECT_EQ(unit_double(UINT32_MAX, UINT32_MAX), 1 - 0x1p-53);
  EXPECT_EQ(unit_double(0x80000000, 0), 0.5);
}

TEST(Philox, BoundedReachesEveryValueEquallyOften) {
  std::vector<int> counts(7);
  for (std::uint64_t i = 0; i < 7'000; ++i) {
    ++counts.at(bounded(kKey, i, 7));
  }
  for (const int count : counts) {
    EXPECT_NEAR(count, 1'000, 5 * 30);  // five standard deviations
  }
  EXPECT_EQ(bounded(kKey, 3, 1), 0U);
}

TEST(StableHash, StaysTheSameAcrossVersions) {
  EXPECT_EQ(stable_hash(""), 0xC3817C016BA4FF30ULL);
  EXPECT_EQ(stable_hash("a"), 0x5F29C2AADD9B8527ULL);
  EXPECT_EQ(stream_key(1, "7", "init"), stable_hash("1/7/init"));
}

TEST(StreamKey, SeparatesSeedOwnerAndPurpose) {
  const std::uint64_t key = stream_key(1, "7", "init");
  EXPECT_NE(stream_key(2, "7", "init"), key);
  EXPECT_NE(stream_key(1, "target", "init"), key);
  EXPECT_NE(stream_key(1, "7", "dropout"), key);
}

}  // namespace
}  // namespace hydro
