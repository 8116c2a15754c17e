#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "hydro/base/file.h"
#include "hydro/base/json.h"
#include "hydro/base/testing.h"
#include "hydro/run/study.h"
#include "hydro/run/testing.h"
#include "hydro/store/study_db.h"
#include "hydro/store/study_folder.h"
#include "hydro/tune/event_json.h"
#include "hydro/tune/events.h"
#include "hydro/tune/state.h"
#include "hydro/tune/summary.h"
#include "hydro/tune/testing.h"
#include "hydro/worker/messages.h"

namespace hydro::run {
namespace {

using hydro::testing::TemporaryFolder;
using hydro::testing::words;

/// A folder whose study.db holds these bodies.
void write_events(const TemporaryFolder& folder, const std::vector<std::string>& bodies) {
  store::StudyDb database = store::StudyDb::create(folder / "study.db").value();
  for (const std::string& body : bodies) {
    const store::Event event = {.type = "x", .version = 1, .time_ns = 0, .body = body};
    (void)database.append(std::span(&event, 1)).value();
  }
  database.close().value();
}

std::string opened(std::int64_t seq = 1) {
  const tune::Event event = {
      .seq = seq, .reason = {}, .body = tune::StudyOpened{.settings = tune::make_settings(2)}};
  return tune::to_json(event).dump();
}

std::string outcome_of(const std::vector<std::string>& bodies) {
  const TemporaryFolder folder;
  write_events(folder, bodies);
  return hydro::testing::outcome(read_study(folder.path()));
}

TEST(ReadStudy, GivesTheStateThatTheStudyEndedWith) {
  testing::JobFolder job;
  const testing::Start start =
      testing::start_study(job.write(), job.out(), testing::FakeBackend());
  ASSERT_EQ(words(start.outcome), "ok");
  const StoredStudy stored = read_study(job.out()).value();
  EXPECT_EQ(stored.state.last_seq, start.outcome->state.last_seq);
  EXPECT_EQ(stored.state.counts.finished, 3);
  EXPECT_EQ(tune::summarize(stored.state).target->value, 0.52);
  ASSERT_EQ(stored.parameters.size(), 1U);
  EXPECT_EQ(stored.parameters[0].name, "lr");
}

TEST(ReadStudy, NamesTheFilesThatItsFolderLost) {
  testing::JobFolder job;
  ASSERT_EQ(words(testing::start_study(job.write(), job.out(), testing::FakeBackend()).outcome),
            "ok");
  EXPECT_EQ(read_study(job.out())->lost, std::vector<std::string>());
  const std::vector<std::string> files = {"job.yaml", "model.pt2", "best/model.safetensors"};
  for (const std::string& file : files) {
    std::filesystem::rename(job.out() / file, job.out() / "aside");
    EXPECT_EQ(read_study(job.out())->lost, std::vector<std::string>{file});
    std::filesystem::rename(job.out() / "aside", job.out() / file);
  }
  write_text_durably(job.out() / "job.yaml", "name: [").value();
  EXPECT_EQ(read_study(job.out())->lost, std::vector<std::string>{"job.yaml"});
}

TEST(ReadStudy, AnOpenStudyRunsWhileItsFolderIsLocked) {
  const TemporaryFolder folder;
  write_events(folder, {opened()});
  const store::FolderLock lock = store::FolderLock::acquire(folder.path()).value();
  EXPECT_EQ(tune::summarize(read_study(folder.path())->state).state, "running");
}

/// An order to slot 0 about container 0.
tune::CommandIssued ordered(std::int64_t command, tune::Verb verb) {
  tune::CommandIssued issued;
  issued.id = worker::CommandId{command};
  issued.order.verb = verb;
  return issued;
}

/// A study of two trials, the first of which was told to train and reported once.
std::vector<std::string> until_the_first_report() {
  std::vector<tune::EventBody> bodies = {
      tune::StudyOpened{.settings = tune::make_settings(2)},
      tune::Prepared{},
      tune::make_suggestion(0),
      tune::make_suggestion(1),
      tune::ContainersPlanned{
          .containers = {{.id = worker::ContainerId{0}, .trials = {worker::TrialId{0}}},
                         {.id = worker::ContainerId{1}, .trials = {worker::TrialId{1}}}}},
      ordered(0, tune::Verb::kLaunch),
      tune::CommandDone{.command = worker::CommandId{0}},
      ordered(1, tune::Verb::kRun),
      tune::Reported{.command = worker::CommandId{1},
                     .report = {.trial = worker::TrialId{0},
                                .step = 5,
                                .epoch = 1,
                                .metrics = {{"val_accuracy", 0.5}}}}};
  std::vector<std::string> texts;
  for (tune::EventBody& body : bodies) {
    const auto seq = static_cast<std::int64_t>(texts.size()) + 1;
    texts.push_back(tune::to_json({.seq = seq, .reason = {}, .body = std::move(body)}).dump());
  }
  return texts;
}

TEST(ReadStudy, AnOpenStudyWhoseProcessDiedIsInterruptedAndKeepsItsReports) {
  const TemporaryFolder folder;
  write_events(folder, until_the_first_report());
  const tune::State state = read_study(folder.path())->state;
  EXPECT_EQ(tune::summarize(state).state, "interrupted");
  EXPECT_TRUE(state.pending.empty());
  EXPECT_EQ(state.trials[0].status, tune::TrialStatus::kInterrupted);
  EXPECT_EQ(state.trials[0].cause, "the process died");
  EXPECT_EQ(state.trials[0].reports.size(), 1U);
  EXPECT_EQ(state.trials[1].status, tune::TrialStatus::kWaiting);
}

TEST(ReadStudy, ATargetThatItsProcessLeftIsInterruptedNotFailed) {
  const TemporaryFolder folder;
  std::vector<std::string> events = until_the_first_report();
  const auto append = [&events](tune::EventBody body) {
    const auto seq = static_cast<std::int64_t>(events.size()) + 1;
    events.push_back(tune::to_json({.seq = seq, .reason = {}, .body = std::move(body)}).dump());
  };
  append(tune::CommandDone{.command = worker::CommandId{1}});
  append(tune::TargetStarted{.trial = worker::TrialId{0}, .container = worker::ContainerId{2}});
  write_events(folder, events);
  const tune::State state = read_study(folder.path())->state;
  EXPECT_EQ(state.targets.back().status, tune::TargetStatus::kInterrupted);
}

TEST(ReadStudy, ReadsWithoutAJobFile) {
  const TemporaryFolder folder;
  write_events(folder, {opened()});
  const StoredStudy stored = read_study(folder.path()).value();
  EXPECT_EQ(stored.state.study().name, "fashion");
  EXPECT_TRUE(stored.parameters.empty());
}

TEST(ReadStudy, AFolderWithoutAStudyIsRefused) {
  const TemporaryFolder folder;
  EXPECT_EQ(hydro::testing::outcome(read_study(folder.path())), "H0617");
}

TEST(ReadStudy, AStudyThatDiedBeforeItsFirstEventIsNone) {
  EXPECT_EQ(outcome_of({}), "H0617");
}

TEST(ReadStudy, DamagedEventsAreRefused) {
  EXPECT_EQ(outcome_of({"{"}), "H0644");
  EXPECT_EQ(outcome_of({R"({"seq": 1})"}), "H0644");
  EXPECT_EQ(outcome_of({opened(7)}), "H0644");
}

TEST(ReadStudy, AFileThatIsNoDatabaseIsDamaged) {
  const TemporaryFolder folder;
  write_text_durably(folder / "study.db", std::string(8192, 'x')).value();
  EXPECT_EQ(hydro::testing::outcome(read_study(folder.path())), "H0612");
}

}  // namespace
}  // namespace hydro::run
