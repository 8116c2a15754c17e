#include "hydro/search/preview.h"

#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hydro/search/scheduler.h"
#include "hydro/search/verdict.h"

namespace hydro::search {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

SchedulerSettings nine(SchedulerKind kind, SchedulerType type) {
  return {.kind = kind,
          .type = type,
          .grace_period = 1,
          .reduction_factor = 3,
          .max_t = 9,
          .brackets = 1};
}

std::vector<std::pair<std::int64_t, double>> rungs_of(const Preview& preview) {
  std::vector<std::pair<std::int64_t, double>> rungs;
  for (const ExpectedRung& rung : preview.rungs) {
    rungs.emplace_back(rung.at, rung.trials);
  }
  return rungs;
}

TEST(Preview, CountsWhatPromotionTrains) {
  const Preview found = preview(nine(SchedulerKind::kAsha, SchedulerType::kPromotion), 20);
  EXPECT_THAT(rungs_of(found), ElementsAre(std::pair(1, 20), std::pair(3, 6), std::pair(9, 2)));
  EXPECT_EQ(found.evaluations, 20 + 6 * 2 + 2 * 6);
  EXPECT_EQ(found.all_to_the_end, 180);
}

TEST(Preview, CountsWhatTheBracketsOfSynchronousHyperbandTrain) {
  // The band of max_t 9: 3 trials to the end, 5 halved at 3, 9 halved at 1 and 3.
  const Preview found =
      preview(nine(SchedulerKind::kHyperband, SchedulerType::kSynchronous), 17);
  EXPECT_THAT(rungs_of(found),
              ElementsAre(std::pair(1, 9), std::pair(3, 5 + 3), std::pair(9, 3 + 2 + 1)));
}

/// The mean over random orders of how many of n independent values the rule lets go on.
double simulated_survivors(int n, std::int64_t eta) {
  constexpr int kRounds = 20'000;
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> value(0, 1);
  std::int64_t survivors = 0;
  for (int round = 0; round < kRounds; ++round) {
    SchedulerSettings settings = nine(SchedulerKind::kAsha, SchedulerType::kStopping);
    settings.reduction_factor = eta;
    Scheduler scheduler(settings);
    for (int trial = 0; trial < n; ++trial) {
      scheduler.add();
      survivors += scheduler.report(trial, 1, value(random)).fate == Fate::kContinue ? 1 : 0;
    }
  }
  return static_cast<double>(survivors) / kRounds;
}

TEST(Preview, ExpectsOfStoppingWhatItsRuleDoesOnAverage) {
  for (const auto& [n, eta] : {std::pair(20, 3), {7, 4}, {12, 2}}) {
    EXPECT_NEAR(expected_survivors(n, eta), simulated_survivors(n, eta), 0.05)
        << n << " trials, eta " << eta;
  }
}

TEST(Preview, HasNoRungsForFifoAndMedian) {
  for (const SchedulerKind kind : {SchedulerKind::kFifo, SchedulerKind::kMedian}) {
    const Preview found = preview(nine(kind, SchedulerType::kStopping), 20);
    EXPECT_THAT(found.rungs, IsEmpty());
    EXPECT_EQ(found.evaluations, 180);
  }
}

TEST(Preview, KnowsASchedulerThatCannotStopAnything) {
  SchedulerSettings settings = nine(SchedulerKind::kAsha, SchedulerType::kStopping);
  EXPECT_TRUE(can_stop_something(settings, 20));
  EXPECT_FALSE(can_stop_something(settings, 1));
  settings.grace_period = 9;
  EXPECT_FALSE(can_stop_something(settings, 20));
  SchedulerSettings median = nine(SchedulerKind::kMedian, SchedulerType::kStopping);
  EXPECT_TRUE(can_stop_something(median, 4));
  EXPECT_FALSE(can_stop_something(median, 3));
}

}  // namespace
}  // namespace hydro::search
