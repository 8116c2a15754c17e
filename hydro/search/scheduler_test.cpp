// The golden decisions of docs/scheduling.md, by hand from the rules of Ray and of the paper.
#include "hydro/search/scheduler.h"

#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hydro/base/result.h"
#include "hydro/search/hyperband.h"
#include "hydro/search/order_statistics.h"
#include "hydro/search/scheduler_testing.h"
#include "hydro/search/verdict.h"

namespace hydro::search {
namespace {

using ::testing::ElementsAre;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

const std::vector<double> kTwelve = {
    .50, .70, .30, .90, .60, .80, .20, .85, .65, .75, .95, .40};

struct GoldenRow {
  std::int64_t eta;
  std::vector<double> values;
  std::string stopping;
  std::string promotion;
};

const std::vector<GoldenRow> kGolden = {
    {3, kTwelve, "CCSCSCSCSCCS", ". . 1 3 . 5 . 7 . . 10 ."},
    {4, kTwelve, "CCSCSCSCSSCS", ". . . 3 . . . 7 . . 10 ."},
    {3, {.95, .45, .80, .75, .85, .60}, "CSCSCS", ". . 0 . . 4"},
    {4, {.35, .25, .95, .80, .20, .90}, "CSCCSC", ". . . 2 . ."},
    {2, {.66, .59, .17, .38, .94, .52}, "CSSSCS", ". 0 . 1 4 ."},
};

TEST(Asha, StopsByRaysRuleInEveryGoldenRow) {
  for (const GoldenRow& row : kGolden) {
    EXPECT_EQ(decide_first_rung(one_rung(row.eta, SchedulerType::kStopping), row.values),
              row.stopping);
  }
}

TEST(Asha, PromotesByThePapersRuleInEveryGoldenRow) {
  for (const GoldenRow& row : kGolden) {
    EXPECT_EQ(promote_after_each(row.eta, row.values), row.promotion);
  }
}

std::vector<double> cut_offs(std::int64_t eta, const std::vector<double>& values) {
  Quantile rung(eta - 1, eta);
  std::vector<double> found;
  for (const double value : values) {
    rung.add(value);
    found.push_back(*rung.value());
  }
  return found;
}

TEST(Asha, HasTheGoldenCutOffs) {
  const auto near = [](double value) { return ::testing::DoubleNear(value, 5e-5); };
  EXPECT_THAT(cut_offs(3, {.95, .45, .80, .75, .85}),
              ElementsAre(near(.95), near(.7833), near(.85), near(.80), near(.8333)));
  EXPECT_THAT(cut_offs(4, {.35, .25, .95, .80, .20}),
              ElementsAre(near(.35), near(.325), near(.65), near(.8375), near(.80)));
}

TEST(Asha, LetsEqualValuesGoOn) {
  EXPECT_EQ(decide_first_rung(one_rung(3, SchedulerType::kStopping), {.5, .5, .5, .5}), "CCCC");
}

TEST(Asha, FailsWhatIsNotFiniteAndKeepsItOutOfTheCutOffs) {
  const auto decide = [](const std::vector<double>& values) {
    return decide_first_rung(one_rung(3, SchedulerType::kStopping), values);
  };
  EXPECT_EQ(decide({kNotANumber, .5, .4, kNotANumber}), "FCSF");
  EXPECT_EQ(decide({kInfinity, .5, -kInfinity, .6}), "FCFC");
}

TEST(Asha, SaysWhyItStopsATrial) {
  Scheduler scheduler(one_rung(3, SchedulerType::kStopping));
  scheduler.add();
  scheduler.add();
  scheduler.report(0, 1, .5);
  const Verdict verdict = scheduler.report(1, 1, .4);
  EXPECT_EQ(verdict.fate, Fate::kStop);
  EXPECT_EQ(verdict.ground, Ground::kCutOff);
  EXPECT_EQ(verdict.at, 1);
  EXPECT_EQ(verdict.value, .4);
  EXPECT_EQ(verdict.bound, .5);
  EXPECT_EQ(verdict.count, 1);
}

SchedulerSettings three_rungs() {
  return {.kind = SchedulerKind::kAsha,
          .grace_period = 1,
          .reduction_factor = 3,
          .max_t = 9,
          .brackets = 1};
}

/// Trial 0 has reported .5 at every evaluation up to the end.
Scheduler after_one_trial() {
  Scheduler scheduler(three_rungs());
  scheduler.add();
  scheduler.add();
  for (std::int64_t t = 1; t <= 9; ++t) {
    scheduler.report(0, t, .5);
  }
  return scheduler;
}

TEST(Asha, LooksAtATrialAtItsRungsAndAtTheEnd) {
  Scheduler scheduler(three_rungs());
  scheduler.add();
  std::vector<std::int64_t> milestones;
  for (const std::int64_t t : {1, 2, 3, 9}) {
    milestones.push_back(scheduler.milestone(0));
    scheduler.report(0, t, .5);
  }
  EXPECT_THAT(milestones, ElementsAre(1, 3, 3, 9));
  EXPECT_EQ(scheduler.milestone(0), 9);
  EXPECT_EQ(scheduler.rung(0), 9);
}

TEST(Asha, JudgesNothingBetweenRungs) {
  Scheduler scheduler = after_one_trial();
  scheduler.report(1, 1, .9);
  EXPECT_EQ(scheduler.report(1, 2, .1).fate, Fate::kContinue);
  EXPECT_EQ(scheduler.report(1, 3, .1).fate, Fate::kStop);
}

TEST(Asha, TakesAReportThatJumpsARungForTheHighestRungAndFillsTheLowerOnesLater) {
  Scheduler scheduler = after_one_trial();
  EXPECT_EQ(scheduler.report(1, 4, .6).fate, Fate::kContinue);  // rung 3
  EXPECT_EQ(scheduler.rung(1), 3);
  const Verdict later = scheduler.report(1, 5, .4);  // rung 1, with the later value
  EXPECT_EQ(later.fate, Fate::kStop);
  EXPECT_EQ(later.at, 1);
}

TEST(Asha, IgnoresAReportThatIsNotLaterThanTheLast) {
  Scheduler scheduler = after_one_trial();
  scheduler.report(1, 4, .6);
  EXPECT_EQ(scheduler.report(1, 4, .1).fate, Fate::kContinue);
  EXPECT_EQ(scheduler.report(1, 2, .1).fate, Fate::kContinue);
}

TEST(Asha, NeverStopsATrialAtTheEnd) {
  Scheduler scheduler = after_one_trial();
  scheduler.report(1, 1, .6);
  scheduler.report(1, 3, .6);
  EXPECT_EQ(scheduler.report(1, 9, .1).fate, Fate::kContinue);
}

TEST(Asha, RefusesAGracePeriodBehindTheEnd) {
  EXPECT_THROW(Scheduler({.kind = SchedulerKind::kFifo, .grace_period = 3, .max_t = 2}),
               BugError);
}

// --- promotion ---

TEST(Promotion, LetsATrialRunExactlyToItsRungAndWait) {
  SchedulerSettings settings = three_rungs();
  settings.type = SchedulerType::kPromotion;
  Scheduler scheduler(settings);
  scheduler.add();
  EXPECT_EQ(scheduler.milestone(0), 1);
  EXPECT_EQ(scheduler.report(0, 1, .5).fate, Fate::kPause);
  EXPECT_EQ(scheduler.rung(0), 1);
  EXPECT_FALSE(scheduler.next());
}

TEST(Promotion, PromotesFromTheTopRungDown) {
  SchedulerSettings settings = three_rungs();
  settings.reduction_factor = 2;
  settings.max_t = 4;
  settings.type = SchedulerType::kPromotion;
  Scheduler scheduler(settings);
  const auto make_next = [&scheduler] {
    const Move move = scheduler.next().value();
    scheduler.make(move);
    return std::pair(move.trial, move.verdict.at);
  };
  for (std::int64_t trial = 0; trial < 6; ++trial) {
    scheduler.add();
    scheduler.report(trial, 1, static_cast<double>(trial) / 10);
  }
  EXPECT_EQ(make_next(), std::pair(std::int64_t{5}, std::int64_t{1}));
  EXPECT_EQ(make_next(), std::pair(std::int64_t{4}, std::int64_t{1}));
  scheduler.report(5, 2, .5);
  scheduler.report(4, 2, .6);
  EXPECT_EQ(make_next(), std::pair(std::int64_t{4}, std::int64_t{2}));
  EXPECT_EQ(make_next(), std::pair(std::int64_t{3}, std::int64_t{1}));
  EXPECT_FALSE(scheduler.next());
  EXPECT_EQ(scheduler.milestone(4), 4);
}

TEST(Promotion, SaysHowATrialStandsThatIsNeverPromoted) {
  Scheduler scheduler(one_rung(3, SchedulerType::kPromotion));
  for (std::int64_t trial = 0; trial < 4; ++trial) {
    scheduler.add();
    scheduler.report(trial, 1, static_cast<double>(trial) / 10);
  }
  const Verdict standing = scheduler.standing(0);
  EXPECT_EQ(standing.ground, Ground::kRank);
  EXPECT_EQ(standing.places, 1);
  EXPECT_EQ(standing.count, 4);
}

TEST(Promotion, DoesNotPromoteAWaitingTrialThatFailed) {
  Scheduler scheduler(one_rung(2, SchedulerType::kPromotion));
  for (std::int64_t trial = 0; trial < 2; ++trial) {
    scheduler.add();
    scheduler.report(trial, 1, static_cast<double>(trial));
  }
  scheduler.remove(1);
  EXPECT_FALSE(scheduler.next());
}

// --- hyperband ---

TEST(Hyperband, ComparesEachTrialInsideItsBracket) {
  SchedulerSettings settings = three_rungs();
  settings.kind = SchedulerKind::kHyperband;
  settings.brackets = 3;  // shares .545 .273 .182
  Scheduler scheduler(settings);
  std::vector<std::int64_t> first;
  for (int trial = 0; trial < 7; ++trial) {
    scheduler.add();
    first.push_back(scheduler.milestone(trial));
  }
  EXPECT_THAT(first, ElementsAre(1, 3, 1, 9, 1, 3, 1));
}

SchedulerSettings synchronous(std::int64_t max_t) {
  return {.kind = SchedulerKind::kHyperband,
          .type = SchedulerType::kSynchronous,
          .grace_period = 1,
          .reduction_factor = 3,
          .max_t = max_t,
          .brackets = 1};
}

TEST(SynchronousHyperband, HasRaysBands) {
  const auto band = [](std::int64_t max_t) {
    return band_of({.grace_period = 1, .reduction_factor = 3, .max_t = max_t});
  };
  EXPECT_THAT(band(81),
              ElementsAre(BracketPlan{5, 81, 0},
                          BracketPlan{8, 27, 1},
                          BracketPlan{15, 9, 2},
                          BracketPlan{34, 3, 3},
                          BracketPlan{81, 1, 4}));
  // ln 50 / ln 3 = 3.56 rounds to 4: five brackets, of which the last would start at 50/81.
  EXPECT_THAT(band(50),
              ElementsAre(BracketPlan{5, 50, 0},
                          BracketPlan{8, 16, 1},
                          BracketPlan{15, 5, 2},
                          BracketPlan{34, 1, 3}));
}

/// max_t 3: trials 0 and 1 run to the end, of 2 3 4 one stays after the first evaluation.
Scheduler with_second_bracket() {
  Scheduler scheduler(synchronous(3));
  for (int trial = 0; trial < 5; ++trial) {
    scheduler.add();
  }
  return scheduler;
}

TEST(SynchronousHyperband, WaitsForTheWholeBracketThenKeepsTheBest) {
  Scheduler scheduler = with_second_bracket();
  EXPECT_EQ(scheduler.milestone(0), 3);
  EXPECT_EQ(scheduler.milestone(2), 1);
  EXPECT_EQ(scheduler.report(2, 1, .3).fate, Fate::kPause);
  EXPECT_EQ(scheduler.report(3, 1, .9).fate, Fate::kPause);
  EXPECT_FALSE(scheduler.next());
  EXPECT_EQ(scheduler.report(4, 1, .5).fate, Fate::kStop);
  const Move loser = scheduler.next().value();
  EXPECT_EQ(loser.trial, 2);
  EXPECT_EQ(loser.verdict.fate, Fate::kStop);
  scheduler.make(loser);
  const Move winner = scheduler.next().value();
  EXPECT_EQ(winner.trial, 3);
  EXPECT_EQ(winner.verdict.fate, Fate::kContinue);
  scheduler.make(winner);
  EXPECT_EQ(scheduler.milestone(3), 3);
}

TEST(SynchronousHyperband, LetsTheLastToComeGoOnWithoutAPause) {
  Scheduler scheduler = with_second_bracket();
  scheduler.report(2, 1, .3);
  scheduler.report(3, 1, .4);
  EXPECT_EQ(scheduler.report(4, 1, .5).fate, Fate::kContinue);
  EXPECT_EQ(scheduler.milestone(4), 3);
}

TEST(SynchronousHyperband, DoesNotWaitForATrialThatFailed) {
  Scheduler scheduler = with_second_bracket();
  scheduler.report(2, 1, .3);
  scheduler.report(3, 1, .4);
  scheduler.remove(4);
  EXPECT_EQ(scheduler.next().value().trial, 2);
}

TEST(SynchronousHyperband, WaitsForABracketToFillUnlessNoMoreTrialsCome) {
  Scheduler scheduler(synchronous(3));
  for (int trial = 0; trial < 4; ++trial) {
    scheduler.add();
  }
  EXPECT_EQ(scheduler.report(2, 1, .3).fate, Fate::kPause);
  EXPECT_EQ(scheduler.report(3, 1, .4).fate, Fate::kPause);
  EXPECT_FALSE(scheduler.next());
  scheduler.close();
  EXPECT_EQ(scheduler.next().value().trial, 2);
}

TEST(SynchronousHyperband, PrefersTheLowerIdOfEqualValues) {
  Scheduler scheduler = with_second_bracket();
  scheduler.report(3, 1, .5);
  scheduler.report(4, 1, .5);
  EXPECT_EQ(scheduler.report(2, 1, .5).fate, Fate::kContinue);
}

TEST(Fifo, RunsEveryTrialToTheEnd) {
  Scheduler scheduler({.kind = SchedulerKind::kFifo, .max_t = 7});
  scheduler.add();
  EXPECT_EQ(scheduler.milestone(0), 7);
  EXPECT_EQ(scheduler.report(0, 1, -1e9).fate, Fate::kContinue);
  EXPECT_FALSE(scheduler.next());
  EXPECT_EQ(scheduler.rung(0), 0);
}

}  // namespace
}  // namespace hydro::search
