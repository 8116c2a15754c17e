// Whole studies with early stopping, in a world that answers in any order.
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hydro/search/scheduler.h"
#include "hydro/search/stop_rules.h"
#include "hydro/search/verdict.h"
#include "hydro/tune/decide.h"
#include "hydro/tune/event_json.h"
#include "hydro/tune/events.h"
#include "hydro/tune/state.h"
#include "hydro/tune/testing.h"
#include "hydro/worker/messages.h"

namespace hydro::tune {
namespace {

using search::SchedulerKind;
using search::SchedulerType;
using ::testing::IsEmpty;
using worker::TrialId;

constexpr std::int64_t kEvaluations = 9;

std::int64_t as_number(TrialId id) {
  return static_cast<std::int64_t>(id);
}

/// Curves that cross: another order at each rung; every eleventh trial diverges at the third
/// evaluation.
double curve(TrialId trial, std::int64_t step) {
  const std::int64_t k = as_number(trial);
  if (k % 11 == 5 && step >= 30) {
    return kNan;
  }
  return static_cast<double>((k * 7 + step * 3) % 23) / 23;
}

World make_world(std::int64_t trials, search::SchedulerSettings scheduler) {
  World world{.settings = make_settings(trials, 3)};
  scheduler.grace_period = 1;
  scheduler.reduction_factor = 3;
  scheduler.max_t = kEvaluations;
  world.settings.scheduler = scheduler;
  world.suggest = [](std::int64_t id) {
    TrialSuggested suggestion = make_suggestion(id);
    suggestion.budget = {.steps = 90, .steps_per_epoch = 10, .evaluate_every = 10};
    return suggestion;
  };
  world.curve = curve;
  return world;
}

struct Kind {
  std::string name;
  search::SchedulerSettings settings;
};

const std::vector<Kind> kKinds = {
    {"asha_stopping", {.kind = SchedulerKind::kAsha}},
    {"asha_promotion", {.kind = SchedulerKind::kAsha, .type = SchedulerType::kPromotion}},
    {"hyperband_stopping", {.kind = SchedulerKind::kHyperband, .brackets = 3}},
    {"hyperband_promotion",
     {.kind = SchedulerKind::kHyperband, .type = SchedulerType::kPromotion, .brackets = 3}},
    {"hyperband_synchronous",
     {.kind = SchedulerKind::kHyperband, .type = SchedulerType::kSynchronous}},
    {"median", {.kind = SchedulerKind::kMedian}}};

class EarlyStopping : public testing::TestWithParam<Kind> {
 protected:
  [[nodiscard]] static World world(std::int64_t trials = 30) {
    return make_world(trials, GetParam().settings);
  }
};

TEST_P(EarlyStopping, EndsEveryTrialHoweverTheStudyRuns) {
  for (const std::int64_t slots : {1, 3}) {
    for (const std::int64_t fusion : {1, 4, 30}) {
      for (const SuggestAhead ahead : {SuggestAhead::kAll, SuggestAhead::kNone}) {
        World its = world();
        its.settings.slots = slots;
        its.settings.fusion = fusion;
        its.settings.suggest_ahead = ahead;
        its.arrivals = static_cast<std::uint64_t>(7 + fusion);
        Simulation simulation(std::move(its));
        const State& state = simulation.run().state();
        EXPECT_EQ(state.closed->outcome, Outcome::kFinished);
        EXPECT_EQ(state.counts.ended(), 30) << slots << " slots, fusion " << fusion;
        EXPECT_GT(state.counts.stopped, 0);
        EXPECT_GT(state.counts.finished, 0);
        EXPECT_THAT(state.left_over, IsEmpty());
        EXPECT_THAT(state.paused, IsEmpty());
      }
    }
  }
}

/// The trials that a study stopped while others still trained.
std::map<std::int64_t, std::int64_t> evaluations_of(const State& state) {
  std::map<std::int64_t, std::int64_t> evaluations;
  for (const Trial& trial : state.trials) {
    evaluations[as_number(trial.id)] = static_cast<std::int64_t>(trial.reports.size());
  }
  return evaluations;
}

/// The pure scheduler on the reports of a study, in their order.
class Replay {
 public:
  Replay(const search::SchedulerSettings& settings, std::int64_t trials)
      : scheduler_(settings), expected_(trials) {}

  void play(const Event& event, const State& before) {
    if (std::holds_alternative<TrialSuggested>(event.body)) {
      scheduler_.add();
      if (--expected_ == 0) {
        scheduler_.close();
      }
    } else if (const auto* reported = std::get_if<Reported>(&event.body)) {
      const OrderNote& order = before.pending.at(reported->command).order;
      if (before.container(order.container).kind == worker::TrialKind::kSurrogate) {
        report(reported->report);
      }
    } else if (const auto* promoted = std::get_if<TrialPromoted>(&event.body)) {
      const search::Move move = scheduler_.next().value();
      EXPECT_EQ(move.trial, as_number(promoted->trial));
      scheduler_.make(move);
    } else if (const auto* diverged = std::get_if<TrialDiverged>(&event.body)) {
      scheduler_.remove(as_number(diverged->trial));
    } else if (const auto* stopped = std::get_if<TrialStopped>(&event.body)) {
      EXPECT_TRUE(fates_[as_number(stopped->trial)] != search::Fate::kContinue);
      scheduler_.remove(as_number(stopped->trial));
    } else if (const auto* finished = std::get_if<TrialFinished>(&event.body)) {
      EXPECT_EQ(fates_[as_number(finished->trial)], search::Fate::kContinue);
      scheduler_.remove(as_number(finished->trial));
    }
  }

 private:
  void report(const worker::Report& report) {
    fates_[as_number(report.trial)] =
        scheduler_
            .report(
                as_number(report.trial), report.step / 10, report.metrics.at("val_accuracy"))
            .fate;
  }

  search::Scheduler scheduler_;
  std::int64_t expected_;  // trials still to come
  std::map<std::int64_t, search::Fate> fates_;
};

TEST_P(EarlyStopping, DecidesAsThePureSchedulerDoesOnTheSameReports) {
  const World its = world();
  Replay replay(its.settings.scheduler, its.settings.trials);
  State state;
  Simulation simulation(its);
  for (const Event& event : simulation.run().events()) {
    replay.play(event, state);
    apply(state, event);
  }
}

TEST_P(EarlyStopping, JudgesLossesAsItJudgesTheirNegatives) {
  Simulation most(world());
  World its = world();
  its.settings.mode = Mode::kMin;
  its.curve = [](TrialId trial, std::int64_t step) { return -curve(trial, step); };
  its.target_value = [](TrialId) { return -0.9; };
  Simulation least(std::move(its));
  const State& expected = most.run().state();
  const State& state = least.run().state();
  EXPECT_EQ(evaluations_of(state), evaluations_of(expected));
  EXPECT_EQ(state.counts.stopped, expected.counts.stopped);
  EXPECT_EQ(state.best(), expected.best());
}

TEST_P(EarlyStopping, GoesOnTheSameAfterItsEventsWereReadAgain) {
  World its = world();
  its.one_decision_at_a_time = true;
  Simulation simulation(std::move(its));
  State state;
  for (const Event& event : simulation.run().events()) {
    const bool is_decided = std::holds_alternative<TrialStopped>(event.body) ||
                            std::holds_alternative<TrialPaused>(event.body) ||
                            std::holds_alternative<TrialPromoted>(event.body) ||
                            std::holds_alternative<TrialFinished>(event.body) ||
                            std::holds_alternative<ContainersPlanned>(event.body);
    if (is_decided) {
      const Decision next = decide(state).front();
      EXPECT_EQ(body_to_json(std::get<Record>(next).body), body_to_json(event.body));
    }
    apply(state, event_from_json(to_json(event)).value());
  }
  EXPECT_TRUE(state.closed.has_value());
}

TEST_P(EarlyStopping, GivesOneCallsDecisionsThatDoNotDependOnEachOther) {
  World its = world();
  its.settings.slots = 1;  // one order of arrival
  const auto all = evaluations_of(Simulation(its).run().state());
  its.one_decision_at_a_time = true;
  EXPECT_EQ(evaluations_of(Simulation(its).run().state()), all);
}

TEST_P(EarlyStopping, LooksAtAFewThingsPerEventHoweverManyTrialsThereAre) {
  const auto looks_per_event = [this](std::int64_t trials) {
    Simulation simulation(world(trials));
    const auto events = static_cast<double>(simulation.run().events().size());
    return static_cast<double>(simulation.effort().looked_at) / events;
  };
  const double few = looks_per_event(100);
  EXPECT_NEAR(looks_per_event(2'000), few, 0.1 * few);
}

INSTANTIATE_TEST_SUITE_P(Kinds, EarlyStopping, testing::ValuesIn(kKinds), [](const auto& kind) {
  return kind.param.name;
});

TEST(EarlyStoppingBest, IsOfTheHighestRungBeforeTheHighestValue) {
  World its = make_world(3, {.kind = SchedulerKind::kAsha});
  its.settings.slots = 1;
  its.curve = [](TrialId trial, std::int64_t step) {
    const std::vector<std::vector<double>> values = {{.5, .6, .6}, {.7, .9, .5}, {.4, .4, .4}};
    const std::size_t phase = step < 30 ? 0 : step < 90 ? 1 : 2;
    return values[static_cast<std::size_t>(trial)][phase];
  };
  Simulation simulation(std::move(its));
  const State& state = simulation.run().state();
  // Trial 1 was ahead at every rung and fell behind in the end; trial 2 stopped at rung 1.
  EXPECT_EQ(state.trial(TrialId{2}).status, TrialStatus::kStopped);
  EXPECT_EQ(state.best(), TrialId{0});
}

TEST(EarlyStoppingBest, IsNotAStoppedTrialWithTheBetterValue) {
  World its = make_world(2, {.kind = SchedulerKind::kAsha});
  its.settings.slots = 1;
  its.curve = [](TrialId trial, std::int64_t step) {
    const bool end = step == 90;
    return as_number(trial) == 0 ? (end ? .1 : .5) : .4;
  };
  Simulation simulation(std::move(its));
  const State& state = simulation.run().state();
  EXPECT_EQ(state.trial(TrialId{1}).status, TrialStatus::kStopped);
  EXPECT_EQ(state.best(), TrialId{0});
}

/// The containers of a study's trials as they were planned, in that order.
std::vector<Container> planned(const std::vector<Event>& events) {
  std::vector<Container> containers;
  State state;
  for (const Event& event : events) {
    apply(state, event);
    if (const auto* plan = std::get_if<ContainersPlanned>(&event.body)) {
      for (const PlannedContainer& container : plan->containers) {
        containers.push_back(state.container(container.id));
      }
    }
  }
  return containers;
}

TEST(EarlyStoppingPromotion, LaunchesAPromotedTrialAtItsStep) {
  World its = make_world(27, {.kind = SchedulerKind::kAsha, .type = SchedulerType::kPromotion});
  Simulation simulation(std::move(its));
  std::vector<std::int64_t> steps;
  for (const Container& container : planned(simulation.run().events())) {
    steps.push_back(container.step);
  }
  EXPECT_THAT(steps, ::testing::Contains(10));
  EXPECT_THAT(steps, ::testing::Contains(30));
}

TEST(EarlyStoppingPromotion, PutsTrialsThatArePromotedTogetherIntoOneContainer) {
  World its = make_world(9, {.kind = SchedulerKind::kAsha, .type = SchedulerType::kPromotion});
  its.settings.slots = 1;
  its.settings.fusion = 9;
  Simulation simulation(std::move(its));
  const std::vector<Container> containers = planned(simulation.run().events());
  EXPECT_EQ(containers[0].trials.size(), 9U);
  EXPECT_EQ(containers[1].trials.size(), 3U);
}

TEST(EarlyStoppingRules, CountTheTimeOfATrialAcrossItsWaiting) {
  World its = make_world(1, {});
  its.settings.stop = {
      .kind = search::StopKind::kTime, .metric = {}, .bound = 2.5, .rules = {}};
  Simulation simulation(std::move(its));
  // An event a second: launched, done, run, report, done, run, report: after the second the
  // trial has trained for more than 2.5 s.
  const State& state = simulation.run().state();
  EXPECT_EQ(state.trial(TrialId{0}).status, TrialStatus::kStopped);
  EXPECT_EQ(state.trial(TrialId{0}).cause, "stop rule: trained for more than 2.5 s");
  EXPECT_LT(state.trial(TrialId{0}).reports.size(), 3U);
}

TEST(EarlyStoppingRules, EndOnlyTheTrialThatBreaksThem) {
  World its = make_world(4, {});
  its.settings.fusion = 4;
  its.settings.stop = {
      .kind = search::StopKind::kBelow, .metric = "val_accuracy", .bound = .2, .rules = {}};
  its.curve = [](TrialId trial, std::int64_t step) {
    return trial == TrialId{1} && step == 30 ? .1 : .5;
  };
  Simulation simulation(std::move(its));
  const State& state = simulation.run().state();
  EXPECT_EQ(state.counts.stopped, 1);
  EXPECT_EQ(state.trial(TrialId{1}).cause, "stop rule: val_accuracy 0.1 below 0.2");
  EXPECT_THAT(evaluations_of(state),
              testing::ElementsAre(testing::Pair(0, kEvaluations),
                                   testing::Pair(1, 3),
                                   testing::Pair(2, kEvaluations),
                                   testing::Pair(3, kEvaluations)));
}

TEST(EarlyStoppingAtFullWidth, TrainsABestTrialAnewWhoseWeightsAreGone) {
  World its = make_world(1, {});
  its.settings.scaling = 1;
  its.settings.stop = {
      .kind = search::StopKind::kAbove, .metric = "val_accuracy", .bound = -1, .rules = {}};
  Simulation simulation(std::move(its));
  const State& state = simulation.run().state();
  EXPECT_EQ(state.counts.stopped, 1);
  ASSERT_EQ(state.targets.size(), 1U);
  EXPECT_TRUE(state.targets.front().full_width);
}

}  // namespace
}  // namespace hydro::tune
