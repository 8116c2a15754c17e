#include "hydro/tune/state.h"

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hydro/base/result.h"
#include "hydro/tune/decide.h"
#include "hydro/tune/events.h"
#include "hydro/tune/testing.h"
#include "hydro/worker/messages.h"

namespace hydro::tune {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using worker::CommandId;
using worker::ContainerId;
using worker::TrialId;

/// Two trials on two slots, both launches issued (commands 0 and 1).
Journal make_launched() {
  Journal journal;
  journal.append(StudyOpened{.settings = make_settings(2), .process_start_ns = 0});
  journal.append(Prepared{});
  journal.append(make_suggestion(0));
  journal.append(make_suggestion(1));
  for (int i = 0; i < 3; ++i) {
    journal.carry_out(decide(journal.state()).front());
  }
  return journal;
}

worker::Report make_report(double value, std::int64_t step = 100) {
  return {.trial = TrialId{0}, .step = step, .epoch = 1, .metrics = {{"val_accuracy", value}}};
}

TEST(State, RefusesEventsOutOfOrder) {
  State state;
  const Event event{.seq = 2,
                    .reason = {},
                    .body = StudyOpened{.settings = make_settings(1), .process_start_ns = 0}};
  EXPECT_THROW(apply(state, event), BugError);
}

TEST(State, RefusesEventsBeforeTheStudyIsOpen) {
  Journal journal;
  EXPECT_THROW(journal.append(Prepared{}), BugError);
}

TEST(State, RefusesEventsAfterTheStudyIsClosed) {
  Journal journal = make_launched();
  journal.append(StudyClosed{});
  EXPECT_THROW(journal.append(StopRequested{}), BugError);
}

TEST(State, RefusesAnAnswerToACommandThatIsNotOpen) {
  Journal journal = make_launched();
  EXPECT_THROW(journal.append(CommandDone{.command = CommandId{9}}), BugError);
}

TEST(State, RefusesASecondCommandForABusySlot) {
  Journal journal = make_launched();
  EXPECT_THROW(journal.append(CommandIssued{.id = CommandId{2}, .order = {}}), BugError);
}

TEST(State, RefusesARunThatEndsEarlyWithTrialsAlive) {
  Journal journal = make_launched();
  journal.append(CommandDone{.command = CommandId{0}});
  journal.carry_out(decide(journal.state()).front());
  EXPECT_THROW(journal.append(CommandDone{.command = CommandId{2}, .step = 99}), BugError);
}

TEST(State, CountsWhatRuns) {
  const Journal journal = make_launched();
  EXPECT_EQ(journal.state().counts.running, 2);
  EXPECT_THAT(journal.state().waiting, IsEmpty());
  EXPECT_EQ(journal.state().pending.size(), 2U);
}

TEST(State, AnswersLostForEveryOpenCommand) {
  Journal journal = make_launched();
  journal.append(CommandDone{.command = CommandId{0}});
  const std::vector<CommandLost> lost = lost_commands(journal.state());
  ASSERT_EQ(lost.size(), 1U);
  journal.append(lost.front());
  EXPECT_THAT(lost_commands(journal.state()), IsEmpty());
  EXPECT_EQ(journal.state().trial(TrialId{0}).status, TrialStatus::kRunning);
  EXPECT_EQ(journal.state().trial(TrialId{1}).status, TrialStatus::kInterrupted);
  EXPECT_FALSE(journal.state().containers.contains(ContainerId{1}));
}

TEST(State, InterruptsWhatRunsWhenTheStudyCloses) {
  Journal journal = make_launched();
  journal.append(StopRequested{});
  for (const std::int64_t id : {0, 1}) {
    journal.append(CommandStopped{.command = CommandId{id}});
  }
  journal.carry_out(decide(journal.state()).front());
  EXPECT_EQ(journal.state().counts.interrupted, 2);
  EXPECT_EQ(journal.state().trial(TrialId{1}).status, TrialStatus::kInterrupted);
}

TEST(SpecOf, CarriesAllThatDecidesAContainersNumbers) {
  Journal journal;
  StudySettings settings = make_settings(2);
  settings.seed = 11;
  settings.data_seed = 12;
  settings.fusion = 2;
  settings.evaluate_test = true;
  journal.append(StudyOpened{.settings = settings, .process_start_ns = 0});
  journal.append(Prepared{});
  journal.append(make_suggestion(0));
  journal.append(make_suggestion(1));
  journal.carry_out(decide(journal.state()).front());
  const worker::ContainerSpec spec =
      spec_of(journal.state(), journal.state().container(ContainerId{0}));
  EXPECT_EQ(spec.kind, worker::TrialKind::kSurrogate);
  EXPECT_EQ(spec.model, "surrogate");
  EXPECT_EQ(spec.batch_size, 64);
  EXPECT_EQ(spec.budget.steps, 100);
  EXPECT_EQ(spec.study_seed, 11U);
  EXPECT_EQ(spec.data_seed, 12U);
  EXPECT_FALSE(spec.evaluate_test);
  ASSERT_EQ(spec.trials.size(), 2U);
  EXPECT_EQ(spec.trials[1].id, TrialId{1});
  EXPECT_EQ(spec.trials[1].settings.optimizer.lr, 0.5);
}

TEST(SpecOf, GivesATargetItsOwnGraphAndTheTestSplit) {
  World world{.settings = make_settings(1)};
  world.settings.evaluate_test = true;
  Simulation simulation(std::move(world));
  State state;
  for (const Event& event : simulation.run().events()) {
    apply(state, event);
    if (std::holds_alternative<TargetStarted>(event.body)) {
      break;
    }
  }
  const worker::ContainerSpec spec =
      spec_of(state, state.container(state.targets.front().container));
  EXPECT_EQ(spec.kind, worker::TrialKind::kTarget);
  EXPECT_EQ(spec.model, "target");
  EXPECT_TRUE(spec.evaluate_test);
}

TEST(EventOf, KeepsWhatAWorkerAnswered) {
  const CommandId id{3};
  const auto reported =
      std::get<Reported>(event_of({.command = id, .body = make_report(0.5, 7)}));
  EXPECT_EQ(reported.command, id);
  EXPECT_EQ(reported.report.step, 7);
  const auto diverged = std::get<TrialDiverged>(
      event_of({.command = id,
                .body = worker::Diverged{.trial = TrialId{1}, .step = 2, .reason = "nan"}}));
  EXPECT_EQ(diverged.cause, "nan");
  EXPECT_EQ(
      std::get<CommandDone>(event_of({.command = id, .body = worker::Done{.step = 4}})).step,
      4);
  EXPECT_EQ(
      std::get<CommandStopped>(event_of({.command = id, .body = worker::Stopped{.step = 5}}))
          .step,
      5);
  const worker::Failed failed{.error = make_error("H0603", "disk full")};
  EXPECT_EQ(std::get<CommandFailed>(event_of({.command = id, .body = failed})).error.what,
            "disk full");
}

}  // namespace
}  // namespace hydro::tune
