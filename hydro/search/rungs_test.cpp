#include "hydro/search/rungs.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hydro::search {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::SizeIs;

TEST(Rungs, AreRaysTables) {
  EXPECT_THAT(rung_levels(1, 81, 3), ElementsAre(1, 3, 9, 27, 81));
  EXPECT_THAT(rung_levels(3, 81, 3), ElementsAre(3, 9, 27, 81));
  EXPECT_THAT(rung_levels(3, 50, 3), ElementsAre(3, 9, 27));
  EXPECT_THAT(rung_levels(3, 100, 3), ElementsAre(3, 9, 27, 81));
  EXPECT_THAT(rung_levels(1, 100, 4), ElementsAre(1, 4, 16, 64));
  EXPECT_THAT(rung_levels(10, 100, 3), ElementsAre(10, 30, 90));
}

TEST(Rungs, LoseNoneToALogarithm) {
  EXPECT_THAT(rung_levels(1, 243, 3), SizeIs(6));
  EXPECT_THAT(rung_levels(1, 1000, 10), SizeIs(4));
}

TEST(Rungs, AreNoneBehindTheEnd) {
  EXPECT_THAT(rung_levels(5, 4, 2), SizeIs(0));
}

TEST(Rungs, DoNotOverflow) {
  EXPECT_THAT(rung_levels(1, std::numeric_limits<std::int64_t>::max(), 2), SizeIs(63));
}

TEST(Shares, AreRaysSoftmaxOfTheNumberOfRungs) {
  EXPECT_THAT(
      softmax_shares(5, 3),
      ElementsAre(DoubleNear(.6652, 5e-5), DoubleNear(.2447, 5e-5), DoubleNear(.0900, 5e-5)));
}

TEST(Shares, OfHyperbandGiveEveryBracketTheSameBudget) {
  EXPECT_THAT(budget_shares({1, 3, 9, 27, 81}, 5),
              ElementsAre(DoubleNear(.5694, 5e-5),
                          DoubleNear(.2373, 5e-5),
                          DoubleNear(.1054, 5e-5),
                          DoubleNear(.0527, 5e-5),
                          DoubleNear(.0351, 5e-5)));
}

TEST(Spread, KeepsEveryBracketWithinOneOfItsShare) {
  const std::vector<double> shares = budget_shares({1, 3, 9, 27, 81}, 5);
  Spread spread(shares);
  std::vector<double> given(shares.size(), 0);
  for (int n = 1; n <= 1000; ++n) {
    ++given[static_cast<std::size_t>(spread.next())];
    for (std::size_t s = 0; s < shares.size(); ++s) {
      EXPECT_NEAR(given[s], shares[s] * n, 1) << "bracket " << s << " after " << n;
    }
  }
}

}  // namespace
}  // namespace hydro::search
