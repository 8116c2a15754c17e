#include "hydro/run/edge.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "hydro/base/file.h"
#include "hydro/base/result.h"
#include "hydro/base/testing.h"
#include "hydro/base/text.h"
#include "hydro/engine/thread_engine.h"
#include "hydro/run/testing.h"
#include "hydro/search/searcher.h"
#include "hydro/tune/event_json.h"
#include "hydro/tune/events.h"
#include "hydro/tune/state.h"
#include "hydro/tune/summary.h"
#include "hydro/tune/testing.h"
#include "hydro/worker/messages.h"

namespace hydro::run {
namespace {

using testing::Script;

/// One slot and its world: what is kept, in order, and the moments at which orders came.
class EdgeTest : public ::testing::Test {
 protected:
  Result<void> run(std::int64_t trials) {
    Edge edge([this](const tune::Event& event) { return journal_(event); },
              [](std::int64_t k) -> Result<std::optional<tune::TrialSuggested>> {
                return std::optional(tune::make_suggestion(k));
              },
              [this](const tune::State& state, const tune::Event& event) {
                told_.emplace_back(tune::event_type(event.body));
                state_ = state;
              },
              clock_);
    tune::StudySettings settings = tune::make_settings(trials, 1);
    settings.weights = (folder_ / "best/model.safetensors").string();
    HYDRO_TRY_VOID(edge.append(tune::StudyOpened{.settings = settings}, "test"));
    HYDRO_TRY_VOID(edge.append(tune::Prepared{}));
    const auto engine = engine::make_thread_engine(1, backend().workers({}, {}, {}));
    return edge.run(*engine, stop_.get_token());
  }

  testing::FakeBackend& backend() {
    if (!backend_) {
      backend_ = std::make_unique<testing::FakeBackend>(script_);
    }
    return *backend_;
  }

  [[nodiscard]] std::string status(std::size_t trial) const {
    return std::string(tune::trial_status_name(state_.trials.at(trial).status));
  }

  hydro::testing::TemporaryFolder folder_;
  testing::CountingClock clock_;
  Script script_;
  std::unique_ptr<testing::FakeBackend> backend_;
  std::stop_source stop_;
  std::vector<std::string> kept_;
  std::vector<std::string> told_;
  tune::State state_;
  Journal journal_ = [this](const tune::Event& event) -> Result<void> {
    kept_.emplace_back(tune::event_type(event.body));
    return {};
  };
};

TEST_F(EdgeTest, RunsOneTrialAndItsTargetInOrder) {
  ASSERT_EQ(hydro::testing::words(run(1)), "ok");
  EXPECT_EQ(join(kept_, " "),
            "study_opened prepared trial_suggested containers_planned command_issued "
            "command_done command_issued reported command_done trial_finished command_issued "
            "command_done target_started command_issued command_done command_issued reported "
            "command_done command_issued command_done target_finished study_closed");
  EXPECT_EQ(told_, kept_);
  EXPECT_TRUE(std::filesystem::exists(folder_ / "best/model.safetensors"));
}

TEST_F(EdgeTest, KeepsAnEventBeforeAnythingFollowsFromIt) {
  journal_ = [this](const tune::Event& event) -> Result<void> {
    EXPECT_EQ(kept_.size(), told_.size());  // nobody was told of what is not kept
    kept_.emplace_back(tune::event_type(event.body));
    return {};
  };
  std::vector<std::size_t> issued_before_run;
  script_.before_run = [&](const worker::Run&, const std::stop_token&) {
    issued_before_run.push_back(1);
  };
  ASSERT_EQ(hydro::testing::words(run(1)), "ok");
  EXPECT_EQ(issued_before_run.size(), 2U);
}

TEST_F(EdgeTest, AJournalThatRefusesACommandStopsItsEffect) {
  journal_ = [](const tune::Event& event) -> Result<void> {
    return std::holds_alternative<tune::CommandIssued>(event.body)
               ? Result<void>(make_error("H0611", "the disk is full"))
               : Result<void>();
  };
  bool ran = false;
  script_.before_run = [&ran](const worker::Run&, const std::stop_token&) { ran = true; };
  EXPECT_EQ(hydro::testing::outcome(run(1)), "H0611");
  EXPECT_FALSE(ran);
  EXPECT_EQ(state_.commands, 0);
}

TEST_F(EdgeTest, NumbersEventsWithoutGapsAndStampsThem) {
  std::vector<tune::Event> events;
  journal_ = [&events](const tune::Event& event) -> Result<void> {
    events.push_back(event);
    return {};
  };
  ASSERT_EQ(hydro::testing::words(run(1)), "ok");
  for (std::size_t i = 0; i < events.size(); ++i) {
    EXPECT_EQ(events[i].seq, static_cast<std::int64_t>(i) + 1);
    EXPECT_TRUE(i == 0 || events[i].mono_ns > events[i - 1].mono_ns);
  }
  EXPECT_EQ(events.front().reason, "test");
}

TEST_F(EdgeTest, ATrialThatDivergesFailsAlone) {
  script_.value = [](worker::TrialId trial, worker::TrialKind) {
    return trial == worker::TrialId{1} ? tune::kNan : 0.5;
  };
  ASSERT_EQ(hydro::testing::words(run(3)), "ok");
  EXPECT_EQ(status(0), "finished");
  EXPECT_EQ(status(1), "failed");
  EXPECT_EQ(status(2), "finished");
  EXPECT_EQ(state_.trials[1].cause, "the loss is not finite");
  EXPECT_EQ(state_.closed->outcome, tune::Outcome::kFinished);
}

TEST_F(EdgeTest, AStopClosesTheStudyAndSaysWhatIsKept) {
  script_.before_run = [this](const worker::Run& run, const std::stop_token& stop) {
    if (run.container == worker::ContainerId{1}) {
      stop_.request_stop();
      testing::wait_for(stop);
    }
  };
  ASSERT_EQ(hydro::testing::words(run(3)), "ok");
  EXPECT_EQ(status(0), "finished");
  EXPECT_EQ(status(1), "interrupted");
  EXPECT_EQ(status(2), "waiting");
  const Error error = tune::study_error(state_).value();
  EXPECT_EQ(error.id, "H0642");
  EXPECT_EQ(error.what, "the study was stopped: 1 of 3 trials finished, 0 failed");
  EXPECT_EQ(error.kept, "every event in study.db, trials.csv and metrics.csv");
  EXPECT_NE(error.remedy.find("continuing a study is not built yet"), std::string::npos);
}

TEST_F(EdgeTest, AFolderForTheWeightsThatCannotBeMadeFailsTheTarget) {
  write_text_durably(folder_ / "best", "a file where the folder should be").value();
  ASSERT_EQ(hydro::testing::words(run(1)), "ok");
  EXPECT_EQ(state_.closed->outcome, tune::Outcome::kFailed);
  EXPECT_EQ(tune::study_error(state_).value().id, "H0603");
}

// --- a searcher that learns, two slots ---

/// The types of the events of three trials.
std::vector<std::string> learn(const Suggester& suggester,
                               const Watcher& watcher,
                               const Script& script,
                               WhileItThinks while_it_thinks) {
  const hydro::testing::TemporaryFolder folder;
  const testing::CountingClock clock;
  const testing::FakeBackend backend(script);
  std::vector<std::string> types;
  Edge edge([](const tune::Event&) -> Result<void> { return {}; },
            suggester,
            [&](const tune::State& state, const tune::Event& event) {
              types.emplace_back(tune::event_type(event.body));
              watcher(state, event);
            },
            clock,
            [](const search::Outcome&) -> Result<void> { return {}; },
            while_it_thinks);
  tune::StudySettings settings = tune::make_settings(3, 2);
  settings.suggest_ahead = tune::SuggestAhead::kNone;
  settings.weights = (folder / "best/model.safetensors").string();
  edge.append(tune::StudyOpened{.settings = settings}).value();
  edge.append(tune::Prepared{}).value();
  const auto engine = engine::make_thread_engine(2, backend.workers({}, {}, {}));
  EXPECT_EQ(hydro::testing::words(edge.run(*engine, {})), "ok");
  EXPECT_EQ(edge.state().counts.finished, 3);
  EXPECT_EQ(edge.state().latency.answers, 3);
  return types;
}

/// Bounds what would wait for ever if it were broken.
bool comes(const std::future<void>& moment) {
  return moment.wait_for(std::chrono::minutes(1)) == std::future_status::ready;
}

TEST(LearningEdge, LetsWhatRunsGoOnWhileItsSearcherThinks) {
  std::promise<void> asked;  // about trial 2; trial 1 trains until then
  std::promise<void> ended;  // trial 1; the searcher thinks until then
  Script script;
  script.before_run = [&](const worker::Run& run, const std::stop_token&) {
    EXPECT_TRUE(run.container != worker::ContainerId{1} || comes(asked.get_future()));
  };
  const auto think = [&](std::int64_t k) -> Result<std::optional<tune::TrialSuggested>> {
    if (k == 2) {
      asked.set_value();
      EXPECT_TRUE(comes(ended.get_future()));
    }
    return std::optional(tune::make_suggestion(k));
  };
  const auto watch = [&](const tune::State&, const tune::Event& event) {
    const auto* finished = std::get_if<tune::TrialFinished>(&event.body);
    if (finished != nullptr && finished->trial == worker::TrialId{1}) {
      ended.set_value();
    }
  };
  (void)learn(think, watch, script, WhileItThinks::kGoOn);
}

TEST(LearningEdge, ThinksBetweenNoOtherEventsWhereThatMustNotDependOnTime) {
  const auto think = [](std::int64_t k) -> Result<std::optional<tune::TrialSuggested>> {
    return std::optional(tune::make_suggestion(k));
  };
  const std::vector<std::string> types =
      learn(think, [](const auto&, const auto&) {}, {}, WhileItThinks::kWait);
  for (std::size_t i = 0; i + 1 < types.size(); ++i) {
    EXPECT_TRUE(types[i] != "suggestion_asked" || types[i + 1] == "trial_suggested") << i;
  }
}

}  // namespace
}  // namespace hydro::run
