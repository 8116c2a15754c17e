#include "hydro/tune/summary.h"

#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hydro/base/catalogue.h"
#include "hydro/base/result.h"
#include "hydro/search/space.h"
#include "hydro/tune/decide.h"
#include "hydro/tune/events.h"
#include "hydro/tune/phases.h"
#include "hydro/tune/state.h"
#include "hydro/tune/testing.h"
#include "hydro/worker/messages.h"

namespace hydro::tune {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using worker::TrialId;

/// Trial 3 wins with .8, trial 1 diverges.
World make_world() {
  World world{.settings = make_settings(4)};
  world.surrogate_value = [](TrialId id) {
    return id == TrialId{1} ? kNan : 0.5 + static_cast<double>(id) / 10;
  };
  return world;
}

State run(World world) {
  return Simulation(std::move(world)).run().state();
}

ExitCode exit_code(const Error& error) {
  return find_catalogue_row(error.id)->exit;
}

TEST(Summary, NamesTheBestTrialAndTheDeliveredTarget) {
  const Summary summary = summarize(run(make_world()));
  EXPECT_EQ(summary.state, "finished");
  ASSERT_TRUE(summary.best && summary.target);
  EXPECT_EQ(summary.best->id, TrialId{3});
  EXPECT_EQ(summary.best->value, 0.8);
  EXPECT_EQ(summary.target->trial, TrialId{3});
  EXPECT_EQ(summary.target->value, 0.9);
  EXPECT_EQ(summary.target->test, std::nullopt);
  EXPECT_EQ(summary.targets.size(), 1U);
}

TEST(Summary, CountsTrialsAndGroupsTheirFailures) {
  const Summary summary = summarize(run(make_world()));
  EXPECT_EQ(summary.counts.total, 4);
  EXPECT_EQ(summary.counts.finished, 3);
  EXPECT_EQ(summary.counts.failed, 1);
  ASSERT_EQ(summary.failures.size(), 1U);
  EXPECT_EQ(summary.failures[0].cause, "the loss is not finite");
  EXPECT_EQ(summary.failures[0].first, TrialId{1});
}

TEST(Summary, HasARowForEveryTrial) {
  const std::vector<TrialRow> rows = trial_rows(run(make_world()));
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_EQ(trial_status_name(rows[1].status), "failed");
  EXPECT_EQ(rows[1].reason, "the loss is not finite");
  EXPECT_EQ(rows[1].value, std::nullopt);
  EXPECT_EQ(trial_status_name(rows[2].status), "finished");
  EXPECT_EQ(rows[2].value, 0.7);
  EXPECT_EQ(rows[2].epochs, 1);
  EXPECT_GT(rows[2].seconds, 0);
  EXPECT_EQ(rows[2].config.at("train.batch_size"), search::Value(std::int64_t{64}));
}

TEST(Summary, HasARowForEveryMetricThatWasReported) {
  const std::vector<MetricRow> rows = metric_rows(run(make_world()));
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_EQ(rows[1].trial, TrialId{2});
  EXPECT_EQ(rows[1].kind, worker::TrialKind::kSurrogate);
  EXPECT_EQ(rows[1].metric, "val_accuracy");
  EXPECT_EQ(rows[1].step, 100);
  EXPECT_EQ(rows[3].kind, worker::TrialKind::kTarget);
  EXPECT_EQ(rows[3].value, 0.9);
}

TEST(Summary, GivesNoMetricTwiceWithoutShrinking) {
  World world = make_world();
  world.settings.scaling = 1;
  const State state = run(std::move(world));
  EXPECT_EQ(metric_rows(state).size(), 3U);
  EXPECT_EQ(summarize(state).target->value, 0.8);
}

TEST(Summary, SplitsTheMakespanIntoPhases) {
  const PhaseSeconds s = summarize(run(make_world())).phases;
  EXPECT_DOUBLE_EQ(s.prepare, 2);  // opened and prepared: a second each
  EXPECT_GT(s.surrogates, 0);
  EXPECT_GT(s.defuse, 0);
  EXPECT_GT(s.target, 0);
  EXPECT_DOUBLE_EQ(s.overlap, 0);
  EXPECT_NEAR(s.makespan,
              s.prepare + s.profile + s.surrogates + s.defuse + s.target - s.overlap + s.idle,
              1e-9);
}

TEST(Summary, OfAStudyThatRunsCountsWhatIsUnderWay) {
  Journal journal;
  journal.append(StudyOpened{.settings = make_settings(1), .process_start_ns = 0});
  EXPECT_DOUBLE_EQ(summarize(journal.state()).phases.prepare, 1);
  journal.append(Prepared{});
  journal.append(make_suggestion(0));
  journal.carry_out(decide(journal.state()).front());
  journal.carry_out(decide(journal.state()).front());
  journal.append(StopRequested{});
  const Summary summary = summarize(journal.state());
  EXPECT_EQ(summary.state, "running");
  EXPECT_DOUBLE_EQ(summary.phases.surrogates, 1);
  EXPECT_FALSE(summary.best.has_value());
  EXPECT_FALSE(study_error(journal.state()).has_value());
}

TEST(StudyError, IsNoneForAFinishedStudy) {
  EXPECT_FALSE(study_error(run(make_world())).has_value());
}

TEST(StudyError, GroupsTheCausesWhenNoTrialSucceeded) {
  World world = make_world();
  world.surrogate_value = [](TrialId) { return kNan; };
  const State state = run(std::move(world));
  const auto error = study_error(state);
  ASSERT_TRUE(error);
  EXPECT_EQ(error->id, "H0640");
  EXPECT_EQ(exit_code(*error), ExitCode::kNoTrialSucceeded);
  EXPECT_EQ(error->why, "4 x the loss is not finite (first: trial 0)");
  EXPECT_THAT(error->remedy, HasSubstr("learning rate"));
  EXPECT_FALSE(summarize(state).best.has_value());
  EXPECT_THAT(state.targets, IsEmpty());
}

TEST(StudyError, TheRemedyFollowsFromTheFactNotFromTheWords) {
  World world = make_world();
  world.surrogate_value = [](TrialId) { return kNan; };
  State state = run(std::move(world));
  for (Trial& trial : state.trials) {
    trial.cause = "overflow";
  }
  EXPECT_THAT(study_error(state)->remedy, HasSubstr("learning rate"));
  for (Trial& trial : state.trials) {
    trial.cause = "libtorch: a size is not finite";
    trial.diverged_at.reset();
  }
  EXPECT_THAT(study_error(state)->remedy, HasSubstr("causes named above"));
}

TEST(StudyError, SaysWhatToDoWhereTheSearcherSuggestedNothing) {
  Journal journal;
  journal.append(StudyOpened{.settings = make_settings(1), .process_start_ns = 0});
  journal.append(Prepared{});
  journal.append(SuggestionsExhausted{});
  journal.append(StudyClosed{.outcome = Outcome::kFailed, .error = "H0640", .cause = {}});
  const auto error = study_error(journal.state());
  ASSERT_TRUE(error);
  EXPECT_THAT(error->why, HasSubstr("without suggesting"));
  EXPECT_THAT(error->remedy, HasSubstr("searcher"));
}

TEST(StudyError, NamesEveryTargetThatFailed) {
  World world = make_world();
  world.target_value = [](TrialId) { return kNan; };
  const State state = run(std::move(world));
  const auto error = study_error(state);
  ASSERT_TRUE(error);
  EXPECT_EQ(error->id, "H0641");
  EXPECT_EQ(exit_code(*error), ExitCode::kNoTrialSucceeded);
  EXPECT_EQ(error->what, "no target could be trained in 3 attempts");
  EXPECT_THAT(error->why, HasSubstr("trial 3: the loss is not finite"));
  EXPECT_FALSE(summarize(state).target.has_value());
}

TEST(StudyError, SaysWhatIsKeptOfAnInterruptedStudy) {
  Journal journal;
  journal.append(StudyOpened{.settings = make_settings(5), .process_start_ns = 0});
  journal.append(StopRequested{});
  journal.carry_out(decide(journal.state()).front());
  const auto error = study_error(journal.state());
  ASSERT_TRUE(error);
  EXPECT_EQ(error->id, "H0642");
  EXPECT_EQ(exit_code(*error), ExitCode::kInterrupted);
  EXPECT_EQ(error->what, "the study was stopped: 0 of 5 trials finished, 0 failed");
  EXPECT_THAT(error->kept, HasSubstr("study.db"));
  EXPECT_THAT(error->remedy, HasSubstr("not built yet"));
}

}  // namespace
}  // namespace hydro::tune
