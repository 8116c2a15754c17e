#include "hydro/ops/keep_mask.h"

#include <cstddef>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "hydro/base/philox.h"
#include "hydro/base/result.h"

namespace hydro::ops {
namespace {

constexpr DrawSite kSite{.key = 0xFEDCBA9876543210, .node = 41, .step = 7};

std::vector<float> mask_of(std::size_t count, double p) {
  std::vector<float> mask(count);
  fill_keep_mask(kSite, p, 2.0F, mask);
  return mask;
}

TEST(KeepMask, KeepsExactlyWhereTheUniformReachesP) {
  for (const std::size_t count : {1U, 3U, 255U, 256U, 257U, 10000U}) {
    for (const double p : {0.1, 0.5, 0.99}) {
      std::vector<double> uniforms(count);
      fill_uniform(kSite, 0, uniforms);
      const std::vector<float> mask = mask_of(count, p);
      for (std::size_t i = 0; i < count; ++i) {
        ASSERT_EQ(mask[i], uniforms[i] >= p ? 2.0F : 0.0F)
            << i << " of " << count << ", p " << p;
      }
    }
  }
}

TEST(KeepMask, DropsEverythingAtOneAndNothingAtZero) {
  EXPECT_EQ(mask_of(1000, 1.0), std::vector<float>(1000, 0.0F));
  EXPECT_EQ(mask_of(1000, 0.0), std::vector<float>(1000, 2.0F));
}

TEST(KeepMask, DropsItsShare) {
  constexpr std::size_t kCount = 1'000'000;
  std::size_t dropped = 0;
  for (const float element : mask_of(kCount, 0.3)) {
    dropped += element == 0.0F ? 1 : 0;
  }
  // Five standard errors of a binomial share.
  EXPECT_NEAR(static_cast<double>(dropped) / kCount, 0.3, 5 * 0.000458);
}

TEST(KeepMask, RefusesAProbabilityThatIsNone) {
  EXPECT_THROW(mask_of(4, 1.5), BugError);
  EXPECT_THROW(mask_of(4, -0.1), BugError);
}

}  // namespace
}  // namespace hydro::ops
