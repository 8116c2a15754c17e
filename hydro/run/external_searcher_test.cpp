// tests/data/searcher.py is the other side.
#include "hydro/run/external_searcher.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <variant>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hydro/base/file.h"
#include "hydro/base/result.h"
#include "hydro/base/testing.h"
#include "hydro/engine/thread_engine.h"
#include "hydro/run/edge.h"
#include "hydro/run/testing.h"
#include "hydro/search/searcher.h"
#include "hydro/search/space.h"
#include "hydro/search/testing.h"
#include "hydro/tune/events.h"
#include "hydro/tune/state.h"
#include "hydro/tune/summary.h"
#include "hydro/tune/testing.h"

namespace hydro::run {
namespace {

using ::testing::HasSubstr;

class ExternalSearcherTest : public ::testing::Test {
 protected:
  ExternalSearch settings(const std::string& fault) {
    return {.program = {.arguments = {"/usr/bin/python3",
                                      HYDRO_SOURCE_DIR "/tests/data/searcher.py",
                                      folder_.path().string(),
                                      fault},
                        .environment = {},
                        .folder = {}},
            .deadline = kHang,
            .greeting = {.study = "test",
                         .metric = "val_accuracy",
                         .seed = 1,
                         .trials = trials_,
                         .dedup = true,
                         .space = space_},
            .points = points_};
  }

  ExternalSearcher searcher(const std::string& fault = "none") {
    return {settings(fault), stop_.get_token()};
  }

  /// What the running process was told, and how many there were.
  std::string told() { return read_text(folder_ / "told").value(); }

  std::int64_t starts() {
    const std::string text = read_text(folder_ / "starts").value();
    return std::count(text.begin(), text.end(), '\n');
  }

  static constexpr std::chrono::milliseconds kHang = testing::kHang;

  hydro::testing::TemporaryFolder folder_;
  std::stop_source stop_;
  std::int64_t trials_ = 20;
  std::vector<search::Config> points_;
  search::Space space_{
      {search::testing::parameter("lr", search::LogUniform{.low = 1e-4, .high = 1}),
       search::testing::parameter("batch",
                                  search::Choice{{std::int64_t{64}, std::int64_t{128}}})}};
};

TEST_F(ExternalSearcherTest, SuggestsFromTheSpaceAndIsTold) {
  ExternalSearcher it = searcher();
  const search::Config first = it.ask(0).value().value();
  EXPECT_TRUE(search::contains(space_.parameters[0].distribution, first.at("lr")));
  EXPECT_NE(it.ask(1).value().value(), first);
  ASSERT_TRUE(it.tell({.k = 1, .ending = search::Ending::kFinished, .value = 0.5}));
  ASSERT_TRUE(it.tell({.k = 0, .ending = search::Ending::kFailed, .value = {}}));
  EXPECT_EQ(told(), "1 0");
  EXPECT_EQ(starts(), 1);
}

TEST_F(ExternalSearcherTest, PointsComeFirst) {
  points_ = {{{"lr", 0.5}, {"batch", std::int64_t{64}}}};
  ExternalSearcher it = searcher();
  EXPECT_EQ(it.ask(0).value().value(), points_[0]);
  EXPECT_NE(it.ask(1).value().value(), points_[0]);
}

/// One that fails once at id 2, after two suggestions and an outcome.
class Failing : public ExternalSearcherTest {
 protected:
  Error failure(const std::string& fault, std::chrono::milliseconds deadline) {
    ExternalSearch failing = settings(fault + ":2:once");
    failing.deadline = deadline;
    searcher_ = std::make_unique<ExternalSearcher>(failing, stop_.get_token());
    for (const std::int64_t k : {0, 1}) {
      configs_.push_back(searcher_->ask(k).value().value());
    }
    searcher_->tell({.k = 1, .ending = search::Ending::kFinished, .value = 0.5}).value();
    const auto asked = searcher_->ask(2);
    EXPECT_FALSE(asked.has_value());
    return asked.has_value() ? Error() : asked.error();
  }

  /// The next process knows what this one was told.
  void expect_that_it_goes_on() {
    EXPECT_TRUE(searcher_->ask(2).value().has_value());
    EXPECT_EQ(starts(), 2);
    EXPECT_EQ(told(), "1");
    ASSERT_TRUE(searcher_->tell({.k = 0, .ending = search::Ending::kFinished, .value = 0.5}));
    EXPECT_EQ(told(), "1 0");
  }

  std::unique_ptr<ExternalSearcher> searcher_;
  std::vector<search::Config> configs_;
};

TEST_F(Failing, OneThatHangsIsEndedAtItsDeadline) {
  const Error error = failure("hang", std::chrono::seconds(2));
  EXPECT_EQ(error.id, "H0722");
  EXPECT_THAT(error.what, HasSubstr("did not answer within 2 s"));
  EXPECT_EQ(error.why, "its last lines: asked for 0 / asked for 1 / asked for 2");
  expect_that_it_goes_on();
}

TEST_F(Failing, OneThatDiesSaysHowAndItsLastWords) {
  const Error error = failure("die", kHang);
  EXPECT_EQ(error.id, "H0722");
  EXPECT_THAT(error.what, HasSubstr("`/usr/bin/python3` ended with code 3"));
  EXPECT_THAT(error.why, HasSubstr("asked for 2 / last words"));
  expect_that_it_goes_on();
}

TEST_F(Failing, GarbageIsShown) {
  const Error error = failure("garbage", kHang);
  EXPECT_EQ(error.id, "H0722");
  EXPECT_THAT(error.what, HasSubstr("answered `no JSON at all`: that is no JSON object"));
  expect_that_it_goes_on();
}

TEST_F(Failing, AValueOutsideTheSpaceIsGarbage) {
  EXPECT_THAT(failure("outside", kHang).what, HasSubstr("`lr` cannot be 1000000000.0"));
  expect_that_it_goes_on();
}

TEST_F(Failing, ARepeatedConfigurationIsAFailure) {
  EXPECT_THAT(failure("repeat", kHang).what, HasSubstr("repeated a configuration"));
  expect_that_it_goes_on();
}

TEST_F(ExternalSearcherTest, AStopEndsTheWait) {
  ExternalSearcher it = searcher("hang:0");
  ASSERT_TRUE(it.start());
  stop_.request_stop();
  EXPECT_EQ(hydro::testing::outcome(it.ask(0)), "H0650");
}

TEST_F(ExternalSearcherTest, ARefusalIsTheSearchersOwnWords) {
  const auto refused = searcher("refuse").start();
  EXPECT_EQ(refused.error().id, "H0725");
  EXPECT_THAT(refused.error().what, HasSubstr("does not like this space"));
  EXPECT_EQ(refused.error().remedy, "use another");
}

TEST_F(ExternalSearcherTest, OneThatEndsAtOnceIsAFailure) {
  const auto dead = searcher("dead").start();
  EXPECT_EQ(dead.error().id, "H0722");
  EXPECT_EQ(dead.error().why, "its last lines: nothing to say");
}

TEST_F(ExternalSearcherTest, AMissingProgramIsNamed) {
  ExternalSearch missing = settings("none");
  missing.program.arguments = {"no-such-searcher"};
  const auto started = ExternalSearcher(missing, {}).start();
  EXPECT_EQ(started.error().id, "H0724");
  EXPECT_THAT(started.error().what, HasSubstr("no-such-searcher"));
}

// ---- Whole studies ----

class ExternalStudy : public ExternalSearcherTest {
 protected:
  /// One slot, so that asks and tells take turns.
  void run(ExternalSearcher& it) {
    Edge edge(
        [](const tune::Event&) -> Result<void> { return {}; },
        [&it](std::int64_t k) -> Result<std::optional<tune::TrialSuggested>> {
          HYDRO_TRY(const std::optional<search::Config> config, it.ask(k));
          tune::TrialSuggested suggestion = tune::make_suggestion(k);
          suggestion.config = config.value();
          return std::optional(suggestion);
        },
        [this](const tune::State& state, const tune::Event& event) { note(state, event); },
        clock_,
        [&it](const search::Outcome& outcome) { return it.tell(outcome); });
    tune::StudySettings study = tune::make_settings(trials_, 1);
    study.weights = (folder_ / "best/model.safetensors").string();
    study.suggest_ahead = tune::SuggestAhead::kNone;
    edge.append(tune::StudyOpened{.settings = study}).value();
    edge.append(tune::Prepared{}).value();
    const testing::FakeBackend backend;
    const auto engine = engine::make_thread_engine(1, backend.workers({}, {}, nullptr));
    ASSERT_EQ(hydro::testing::words(edge.run(*engine, {})), "ok");
  }

  void note(const tune::State& state, const tune::Event& event) {
    state_ = state;
    most_waiting_ = std::max(most_waiting_, state.unplanned.size() + state.waiting.size());
    if (const auto* failed = std::get_if<tune::SearcherFailed>(&event.body)) {
      failures_.push_back(*failed);
    }
  }

  testing::CountingClock clock_;
  tune::State state_;
  std::size_t most_waiting_ = 0;
  std::vector<tune::SearcherFailed> failures_;
};

std::vector<search::Config> configs_of(const tune::State& state) {
  std::vector<search::Config> configs;
  for (const tune::Trial& trial : state.trials) {
    configs.push_back(trial.config.expanded());
  }
  return configs;
}

TEST_F(ExternalStudy, IsAskedOnlyWhenASlotIsFree) {
  ExternalSearcher it = searcher();
  run(it);
  EXPECT_EQ(state_.counts.finished, 20);
  EXPECT_EQ(most_waiting_, 1U);  // between its suggestion and its start
  EXPECT_EQ(state_.latency.answers, 20);
}

TEST_F(ExternalStudy, FiftyKillsLoseNoTrialAndDoubleNone) {
  trials_ = 50;
  ExternalSearcher undisturbed = searcher();
  run(undisturbed);
  const std::vector<search::Config> expected = configs_of(state_);
  ASSERT_TRUE(failures_.empty());
  std::filesystem::remove(folder_ / "starts");
  ExternalSearcher killed = searcher("kills:50:7");
  run(killed);
  EXPECT_EQ(failures_.size(), 50U);
  EXPECT_EQ(starts(), 51);
  EXPECT_EQ(configs_of(state_), expected);
  EXPECT_EQ(state_.counts.finished, 50);
  EXPECT_EQ(state_.closed->outcome, tune::Outcome::kFinished);
  for (const tune::SearcherFailed& failed : failures_) {
    EXPECT_THAT(failed.cause, HasSubstr("was killed by signal 9"));
    EXPECT_LE(failed.attempt, 2);
  }
}

TEST_F(ExternalStudy, TheLastProcessKnowsEveryOutcomeOnceInOrder) {
  trials_ = 50;
  ExternalSearcher killed = searcher("kills:50:8");
  run(killed);
  std::string expected = "0";
  for (int id = 1; id < 50; ++id) {
    expected += " " + std::to_string(id);
  }
  EXPECT_EQ(failures_.size(), 50U);
  EXPECT_EQ(told(), expected);
}

TEST_F(ExternalStudy, ThreeFailuresInARowEndItWithAllThatRan) {
  ExternalSearcher it = searcher("die:5");
  run(it);
  ASSERT_EQ(failures_.size(), 3U);
  EXPECT_EQ(failures_.back().attempt, 3);
  EXPECT_EQ(state_.counts.finished, 5);
  EXPECT_EQ(state_.closed->outcome, tune::Outcome::kInterrupted);
  const Error error = tune::study_error(state_).value();
  EXPECT_EQ(error.id, "H0723");
  EXPECT_THAT(error.why, HasSubstr("last words"));
  EXPECT_THAT(error.kept, HasSubstr("study.db"));
}

}  // namespace
}  // namespace hydro::run
