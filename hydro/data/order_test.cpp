#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include <gtest/gtest.h>

#include "hydro/base/bytes.h"
#include "hydro/data/dataset.h"
#include "hydro/data/testing.h"

namespace hydro::data {
namespace {

using Integers = std::vector<std::int64_t>;
using testing::counting_images;

TEST(EpochOrder, IsAPermutation) {
  Integers order = epoch_order(1, 0, 1'000);
  std::ranges::sort(order);
  for (std::int64_t i = 0; i < 1'000; ++i) {
    ASSERT_EQ(order[static_cast<std::size_t>(i)], i);
  }
}

TEST(EpochOrder, FollowsSeedAndEpoch) {
  EXPECT_EQ(epoch_order(1, 2, 50), epoch_order(1, 2, 50));
  EXPECT_NE(epoch_order(1, 2, 50), epoch_order(1, 3, 50));
  EXPECT_NE(epoch_order(1, 2, 50), epoch_order(2, 2, 50));
}

TEST(EpochOrder, StaysTheSameAcrossVersions) {
  EXPECT_EQ(epoch_order(1, 0, 8), (Integers{1, 0, 5, 3, 7, 2, 4, 6}));
}

TEST(EpochOrder, DrawsEveryPermutationEquallyOften) {
  std::map<Integers, int> counts;
  for (std::int64_t epoch = 0; epoch < 6'000; ++epoch) {
    ++counts[epoch_order(7, epoch, 3)];
  }
  EXPECT_EQ(counts.size(), 6U);
  for (const auto& [order, count] : counts) {
    EXPECT_NEAR(count, 1'000, 5 * 29);  // five standard deviations
  }
}

TEST(SplitOff, PartsShareNothingAndKeepTheOrder) {
  const auto [rest, drawn] = split_off(counting_images(10, 1, 1, 1), 0.3, 1);
  EXPECT_EQ(rest.size, 7);
  EXPECT_EQ(drawn.size, 3);
  EXPECT_TRUE(std::ranges::is_sorted(rest.inputs.at(0).bytes));
  EXPECT_TRUE(std::ranges::is_sorted(drawn.inputs.at(0).bytes));
  Bytes all = rest.inputs.at(0).bytes;
  all.insert(all.end(), drawn.inputs.at(0).bytes.begin(), drawn.inputs.at(0).bytes.end());
  std::ranges::sort(all);
  EXPECT_EQ(all, counting_images(10, 1, 1, 1).inputs.at(0).bytes);
}

TEST(SplitOff, LabelsStayWithTheirSamples) {
  const auto [rest, drawn] = split_off(counting_images(30, 1, 1, 1), 0.5, 4);
  for (std::size_t i = 0; i < drawn.target.classes.size(); ++i) {
    EXPECT_EQ(drawn.target.classes[i],
              std::to_integer<std::int64_t>(drawn.inputs.at(0).bytes[i]) % 3);
  }
  EXPECT_EQ(rest.target.classes.size(), 15U);
}

TEST(SplitOff, LeavesBothPartsASample) {
  EXPECT_EQ(split_off(counting_images(2, 1, 1, 1), 0.01, 1).second.size, 1);
  EXPECT_EQ(split_off(counting_images(2, 1, 1, 1), 0.99, 1).first.size, 1);
}

}  // namespace
}  // namespace hydro::data
