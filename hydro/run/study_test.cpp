#include "hydro/run/study.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <set>
#include <stop_token>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hydro/base/catalogue.h"
#include "hydro/base/file.h"
#include "hydro/base/result.h"
#include "hydro/base/testing.h"
#include "hydro/job/job.h"
#include "hydro/run/material.h"
#include "hydro/run/testing.h"
#include "hydro/shrink/coordinates.h"
#include "hydro/shrink/surrogate.h"
#include "hydro/store/testing_states.h"
#include "hydro/store/waiting_states.h"
#include "hydro/tune/events.h"
#include "hydro/tune/state.h"
#include "hydro/tune/summary.h"
#include "hydro/worker/messages.h"
#include "hydro/worker/settings.h"
#include "hydro/worker/worker.h"

namespace hydro::run {
namespace {

using hydro::testing::outcome;
using hydro::testing::words;
using ::testing::Contains;
using testing::FakeBackend;
using ::testing::HasSubstr;
using testing::JobFolder;
using testing::Script;
using testing::Start;
using testing::start_study;
namespace fs = std::filesystem;

TEST(Study, EndsWithTheBestTrialsTarget) {
  JobFolder job;
  const Start start = start_study(job.write(), job.out(), FakeBackend());
  ASSERT_EQ(words(start.outcome), "ok");
  const tune::State& state = start.outcome->state;
  EXPECT_EQ(state.counts.finished, 3);
  ASSERT_EQ(state.targets.size(), 1U);
  EXPECT_EQ(state.targets[0].trial, worker::TrialId{2});
  EXPECT_EQ(state.closed->outcome, tune::Outcome::kFinished);
  EXPECT_EQ(start.events.front(), "study_opened");
  EXPECT_EQ(start.events.back(), "study_closed");
}

TEST(Study, LeavesItsFilesAndNoOthers) {
  JobFolder job;
  ASSERT_EQ(words(start_study(job.write(), job.out(), FakeBackend()).outcome), "ok");
  std::set<std::string> names;
  for (const auto& entry : fs::recursive_directory_iterator(job.out())) {
    names.insert(fs::relative(entry.path(), job.out()).string());
  }
  EXPECT_EQ(names,
            (std::set<std::string>{"best",
                                   "best/config.yaml",
                                   "best/model.safetensors",
                                   "job.yaml",
                                   "model.pt2",
                                   "study.db"}));
  const std::string best = read_text(job.out() / "best/config.yaml").value();
  EXPECT_EQ(best.find("loguniform"), std::string::npos) << best;
}

TEST(Study, TheKeptJobParsesAndEndsWithFingerprints) {
  JobFolder job;
  ASSERT_EQ(words(start_study(job.write(), job.out(), FakeBackend()).outcome), "ok");
  const std::string text = read_text(job.out() / "job.yaml").value();
  const std::string images = (job.folder / "train-images").string();
  EXPECT_THAT(text, HasSubstr("\n# fingerprints of what was read\n# "));
  EXPECT_THAT(text, ::testing::ContainsRegex("\n# [0-9a-f]{16} model.pt2\n"));
  EXPECT_THAT(text, ::testing::ContainsRegex("\n# [0-9a-f]{16} " + images + "\n"));
  EXPECT_THAT(text, ::testing::EndsWith("/val-labels\n"));
  EXPECT_EQ(words(job::load_job(job.out() / "job.yaml")), "ok");
}

TEST(Study, WarningsAreSaidAndPythonsWordsLogged) {
  JobFolder job;
  const Start start = start_study(job.write(), job.out(), FakeBackend());
  EXPECT_THAT(start.logged, Contains("building the net\n"));
  EXPECT_THAT(start.said, Contains(HasSubstr("warning: ")));
  const std::set<std::string> once(start.said.begin(), start.said.end());
  EXPECT_EQ(once.size(), start.said.size());
}

/// A trial waits from before the first event on, with no memory for it.
class PausingBackend : public FakeBackend {
 public:
  explicit PausingBackend(fs::path paused) : paused_(std::move(paused)) {}

  [[nodiscard]] worker::WorkerFactory workers(
      const Material& material,
      worker::Task task,
      std::shared_ptr<store::WaitingStates> waiting) const override {
    if (blocked) {
      write_text_durably(paused_, "in the way").value();
    }
    waiting->put(7, store::testing::state_of(1, 100));
    wrote = fs::is_directory(paused_);
    return FakeBackend::workers(material, task, waiting);
  }

  bool blocked = false;
  mutable bool wrote = false;

 private:
  fs::path paused_;
};

TEST(Study, PausedTrialsBeyondTheirMemoryWaitInItsFolderUntilItEnds) {
  JobFolder job;
  job.tune = "  pause_memory: 0 MB\n";
  const PausingBackend backend(job.out() / "paused");
  const Start start = start_study(job.write(), job.out(), backend);
  EXPECT_EQ(words(start.outcome), "ok");
  EXPECT_TRUE(backend.wrote);
  EXPECT_FALSE(fs::exists(job.out() / "paused"));
}

TEST(Study, PausedTrialsThatCannotBeWrittenAreToldOnceAndLoseNothing) {
  JobFolder job;
  job.tune = "  pause_memory: 0 MB\n";
  PausingBackend backend(job.out() / "paused");
  backend.blocked = true;
  const Start start = start_study(job.write(), job.out(), backend);
  EXPECT_EQ(words(start.outcome), "ok");
  EXPECT_EQ(std::ranges::count_if(
                start.said,
                [](const std::string& line) { return line.starts_with("warning[H0630]"); }),
            1);
}

TEST(Study, PausedTrialsHaveAQuarterOfTheMemoryUnlessTheJobSaysOtherwise) {
  JobFolder job;
  const PausingBackend backend(job.out() / "paused");
  EXPECT_EQ(words(start_study(job.write(), job.out(), backend).outcome), "ok");
  EXPECT_FALSE(backend.wrote);
}

TEST(Study, AnExportThatFailsLeavesNoFolder) {
  JobFolder job;
  testing::write_script(job.python, "echo broken >&2; exit 1");
  EXPECT_EQ(outcome(start_study(job.write(), job.out(), FakeBackend()).outcome), "H0260");
  EXPECT_FALSE(fs::exists(job.out()));
}

TEST(Study, AFailedStartLeavesAnExistingFolderAsItWas) {
  JobFolder job;
  fs::create_directory(job.out());
  write_text_durably(job.out() / "notes.txt", "mine").value();
  job.write_split("train", 12, 77);  // a label out of range: the model is exported by then
  EXPECT_EQ(outcome(start_study(job.write(), job.out(), FakeBackend()).outcome), "H0406");
  EXPECT_TRUE(fs::exists(job.out() / "notes.txt"));
  EXPECT_FALSE(fs::exists(job.out() / "model.pt2"));
  job.write_split("train", 12);
  EXPECT_EQ(words(start_study(job.write(), job.out(), FakeBackend()).outcome), "ok");
}

TEST(Study, AFolderThatHoldsAStudyIsRefused) {
  JobFolder job;
  const fs::path file = job.write();
  ASSERT_EQ(words(start_study(file, job.out(), FakeBackend()).outcome), "ok");
  const std::string before = read_text(job.out() / "study.db").value();
  EXPECT_EQ(outcome(start_study(file, job.out(), FakeBackend()).outcome), "H0615");
  EXPECT_EQ(read_text(job.out() / "study.db").value(), before);
}

TEST(Study, ARefusedFolderIsSaidToHoldThisJobOrAnother) {
  JobFolder job;
  const std::string out = job.out().string();
  ASSERT_EQ(words(start_study(job.write(), out, FakeBackend()).outcome), "ok");
  const Start same = start_study(job.write(), out, FakeBackend());
  EXPECT_EQ(same.outcome.error().what,
            "`" + out + "` holds a study of this same job: finished");
  EXPECT_THAT(same.outcome.error().remedy,
              ::testing::StartsWith("`hydro show " + out + "` prints its results; to run"));
  job.tune = "  seed: 2\n";
  EXPECT_EQ(start_study(job.write(), out, FakeBackend()).outcome.error().what,
            "`" + out + "` holds a study of this name with other settings: finished");
  std::string text = read_text(job.write()).value();
  text.replace(text.find("small"), 5, "other");
  write_text_durably(job.folder / "other.yaml", text).value();
  EXPECT_EQ(start_study(job.folder / "other.yaml", out, FakeBackend()).outcome.error().what,
            "`" + out + "` holds another study, `small`: finished");
}

TEST(Study, ARefusedFolderOfAnInterruptedStudySaysThatItCannotGoOn) {
  JobFolder job;
  std::stop_source stop;
  Script script;
  script.before_run = [&stop](const worker::Run&, const std::stop_token& own) {
    stop.request_stop();
    testing::wait_for(own);
  };
  const Start first =
      start_study(job.write(), job.out(), FakeBackend(script), stop.get_token());
  ASSERT_EQ(words(first.outcome), "ok");
  const Error error = start_study(job.write(), job.out(), FakeBackend()).outcome.error();
  EXPECT_THAT(error.what, ::testing::EndsWith("holds a study of this same job: interrupted"));
  EXPECT_THAT(error.remedy, HasSubstr("cannot be continued in this version"));
}

TEST(Study, ARefusedFolderWithoutAStudyIsSaidToHoldFiles) {
  JobFolder job;
  const Start start = start_study(job.write(), job.folder.path(), FakeBackend());
  EXPECT_THAT(start.outcome.error().what,
              ::testing::EndsWith("holds files that a study would overwrite"));
}

TEST(Study, AtScalingOneTheBestTrialsOwnWeightsAreDelivered) {
  JobFolder job;
  job.scaling = "1";
  Script script;
  script.value = [](worker::TrialId, worker::TrialKind kind) {
    return kind == worker::TrialKind::kTarget ? 0.9 : 0.5;
  };
  const FakeBackend backend(script);
  const Start start = start_study(job.write(), job.out(), backend);
  ASSERT_EQ(words(start.outcome), "ok");
  const tune::Summary summary = tune::summarize(start.outcome->state);
  EXPECT_EQ(summary.target->value, 0.5);  // no target was trained
  EXPECT_TRUE(fs::exists(job.out() / "best/model.safetensors"));
  EXPECT_TRUE(backend.requests.empty());  // nothing to compare
}

TEST(Study, WithEveryTrialDivergedNothingIsDelivered) {
  JobFolder job;
  Script script;
  script.value = [](worker::TrialId, worker::TrialKind) { return std::nan(""); };
  const Start start = start_study(job.write(), job.out(), FakeBackend(script));
  ASSERT_EQ(words(start.outcome), "ok");
  const Error error = tune::study_error(start.outcome->state).value();
  EXPECT_EQ(error.id, "H0640");
  EXPECT_EQ(find_catalogue_row(error.id)->exit, ExitCode::kNoTrialSucceeded);
  EXPECT_FALSE(fs::exists(job.out() / "best"));
}

TEST(Study, AStopWhileTrainingClosesItAsInterrupted) {
  JobFolder job;
  std::stop_source stop;
  Script script;
  script.before_run = [&stop](const worker::Run&, const std::stop_token& own) {
    stop.request_stop();
    testing::wait_for(own);
  };
  const Start start =
      start_study(job.write(), job.out(), FakeBackend(script), stop.get_token());
  ASSERT_EQ(words(start.outcome), "ok");
  EXPECT_EQ(start.outcome->state.closed->outcome, tune::Outcome::kInterrupted);
  EXPECT_EQ(read_study(job.out()).value().state.closed->error, "H0642");
}

TEST(Study, AStopWhilePreparingIsNoStudy) {
  JobFolder job;
  std::stop_source stop;
  FakeBackend backend;
  backend.distort = [&stop](shrink::CoordinateMeasure&, const shrink::Surrogate&) {
    stop.request_stop();
  };
  const Start start = start_study(job.write(), job.out(), backend, stop.get_token());
  EXPECT_EQ(outcome(start.outcome), "H0650");
  EXPECT_FALSE(fs::exists(job.out()));
}

TEST(Study, AShapeThatWasPredictedWronglyIsRefused) {
  JobFolder job;
  FakeBackend backend;
  backend.shapes = make_error("H0307", "node conv1 gives [4, 2]");
  EXPECT_EQ(outcome(start_study(job.write(), job.out(), backend).outcome), "H0307");
}

/// The first losses of the two widths differ. (The net's layers are too narrow to be judged.)
void spoil_losses(shrink::CoordinateMeasure& measure, const shrink::Surrogate& surrogate) {
  measure.first_losses.front() = static_cast<double>(surrogate.surrogate_parameters);
}

TEST(Study, AFailedCoordinateCheckWarnsByDefault) {
  JobFolder job;
  FakeBackend backend;
  backend.distort = spoil_losses;
  const Start start = start_study(job.write(), job.out(), backend);
  EXPECT_EQ(words(start.outcome), "ok");
  EXPECT_THAT(start.said,
              Contains("warning: the coordinate check failed in step-1 loss; hyperparameters "
                       "may not transfer (hydro explain H0310)\n"));
}

TEST(Study, AFailedCoordinateCheckIsAnErrorWhereTheJobSaysSo) {
  JobFolder job;
  job.tune = "  coordinate_check: error\n";
  FakeBackend backend;
  backend.distort = spoil_losses;
  EXPECT_EQ(outcome(start_study(job.write(), job.out(), backend).outcome), "H0310");
  EXPECT_FALSE(fs::exists(job.out()));
}

TEST(Study, TheShortCheckTrainsTwoSeedsAtAQuarterOfTheMedianRateWithoutDecay) {
  JobFolder job;
  const FakeBackend backend;
  ASSERT_EQ(words(start_study(job.write(), job.out(), backend).outcome), "ok");
  ASSERT_EQ(backend.requests.size(), 2U);  // two widths
  EXPECT_EQ(backend.requests[0].seeds, 2);
  EXPECT_NEAR(backend.requests[0].settings.optimizer.lr, 0.01 / 4, 1e-12);
  EXPECT_EQ(backend.requests[0].settings.optimizer.weight_decay, 0);
  EXPECT_EQ(backend.requests[0].batch_size, 12);
}

TEST(Study, SwitchedOffNoCheckIsMeasured) {
  JobFolder job;
  job.tune = "  coordinate_check: off\n";
  const FakeBackend backend;
  ASSERT_EQ(words(start_study(job.write(), job.out(), backend).outcome), "ok");
  EXPECT_TRUE(backend.requests.empty());
}

}  // namespace
}  // namespace hydro::run
