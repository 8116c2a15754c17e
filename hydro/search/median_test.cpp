
#include <cstdint>

#include <gtest/gtest.h>

#include "hydro/search/scheduler.h"
#include "hydro/search/verdict.h"

namespace hydro::search {
namespace {

SchedulerSettings median_of_two() {
  return {.kind = SchedulerKind::kMedian, .grace_period = 2, .max_t = 5, .min_samples = 2};
}

/// Trials 0 and 1 have reported .4 and .6 at each of five evaluations.
Scheduler after_two_trials() {
  Scheduler scheduler(median_of_two());
  for (int trial = 0; trial < 3; ++trial) {
    scheduler.add();
  }
  for (std::int64_t t = 1; t <= 5; ++t) {
    scheduler.report(0, t, .4);
    scheduler.report(1, t, .6);
  }
  return scheduler;
}

TEST(Median, StopsATrialWhoseBestIsUnderTheMedianOfTheOthersMeans) {
  Scheduler scheduler = after_two_trials();
  EXPECT_EQ(scheduler.report(2, 1, .1).fate, Fate::kContinue);  // grace period
  const Verdict verdict = scheduler.report(2, 2, .45);
  EXPECT_EQ(verdict.fate, Fate::kStop);
  EXPECT_EQ(verdict.ground, Ground::kMedian);
  EXPECT_DOUBLE_EQ(verdict.bound, .5);
  EXPECT_EQ(verdict.count, 2);
}

TEST(Median, CountsTheBestValueSoFarAlsoFromTheGracePeriod) {
  Scheduler scheduler = after_two_trials();
  scheduler.report(2, 1, .51);
  EXPECT_EQ(scheduler.report(2, 2, .1).fate, Fate::kContinue);
}

TEST(Median, LetsATrialGoOnThatEqualsTheMedian) {
  Scheduler scheduler = after_two_trials();
  EXPECT_EQ(scheduler.report(2, 2, .5).fate, Fate::kContinue);
}

TEST(Median, WaitsForEnoughOthers) {
  SchedulerSettings settings = median_of_two();
  settings.min_samples = 3;
  Scheduler scheduler(settings);
  for (int trial = 0; trial < 3; ++trial) {
    scheduler.add();
    EXPECT_EQ(scheduler.report(trial, 2, -trial).fate, Fate::kContinue);
  }
}

TEST(Median, LooksAtEveryEvaluationFromTheGracePeriodOn) {
  Scheduler scheduler = after_two_trials();
  EXPECT_EQ(scheduler.milestone(2), 2);
  scheduler.report(2, 2, .9);
  EXPECT_EQ(scheduler.milestone(2), 3);
}

TEST(Median, TakesAMeanAsItWasAtEvaluationsThatATrialJumpedOver) {
  SchedulerSettings settings = median_of_two();
  settings.min_samples = 1;
  Scheduler scheduler(settings);
  scheduler.add();
  scheduler.add();
  scheduler.report(0, 2, .8);
  scheduler.report(0, 4, .2);  // mean at 3 is .8, at 4 .5
  EXPECT_EQ(scheduler.report(1, 3, .6).fate, Fate::kStop);
}

}  // namespace
}  // namespace hydro::search
