#include "hydro/tune/event_json.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hydro/base/json.h"
#include "hydro/base/result.h"
#include "hydro/search/scheduler.h"
#include "hydro/search/space.h"
#include "hydro/search/stop_rules.h"
#include "hydro/tune/events.h"
#include "hydro/tune/state.h"
#include "hydro/tune/testing.h"
#include "hydro/worker/messages.h"
#include "hydro/worker/settings.h"

namespace hydro::tune {
namespace {

using ::testing::HasSubstr;
using worker::CommandId;
using worker::ContainerId;
using worker::TrialId;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

StudySettings make_full_settings() {
  StudySettings settings = make_settings(4);
  settings.mode = Mode::kMin;
  settings.max_concurrent_trials = 3;
  settings.scheduler = {.kind = search::SchedulerKind::kHyperband,
                        .type = search::SchedulerType::kPromotion,
                        .grace_period = 2,
                        .reduction_factor = 4,
                        .max_t = 9,
                        .brackets = 2,
                        .min_samples = 5};
  settings.stop = {
      .kind = search::StopKind::kAll,
      .metric = {},
      .rules = {{.kind = search::StopKind::kBelow, .metric = "x", .bound = 0.5, .rules = {}}}};
  settings.suggest_ahead = SuggestAhead::kNone;
  settings.seed = std::numeric_limits<std::uint64_t>::max();
  return settings;
}

/// Every type once, no field at its default.
std::vector<EventBody> make_bodies() {
  TrialSuggested suggestion = make_suggestion(2);
  suggestion.config = {
      {"a", true}, {"b", std::int64_t{128}}, {"c", 128.0}, {"d", std::string("relu")}};
  suggestion.settings.optimizer.kind = worker::OptimizerKind::kAdamW;
  suggestion.settings.schedule = {
      .kind = worker::ScheduleKind::kStep,
      .warmup = {.amount = 0.05, .unit = worker::Span::Unit::kShare},
      .step_size = {.amount = 1, .unit = worker::Span::Unit::kEpochs},
      .gamma = 0.1};
  suggestion.settings.clip_norm = 1.5;
  const worker::Report report{
      .trial = TrialId{1},
      .step = 9,
      .epoch = 0.5,
      .metrics = {{"train_loss", kNan}, {"val_loss", -kInfinity}, {"x", 0.1}}};
  return {
      StudyOpened{.settings = make_full_settings(), .process_start_ns = -5},
      Prepared{},
      suggestion,
      SuggestionsExhausted{},
      ContainersPlanned{
          .containers = {{.id = ContainerId{1}, .trials = {TrialId{2}, TrialId{3}}}}},
      CommandIssued{.id = CommandId{4},
                    .slot = worker::SlotId{1},
                    .order = {.verb = Verb::kExport,
                              .container = ContainerId{2},
                              .trial = TrialId{1},
                              .to = 5,
                              .path = "best"}},
      Reported{.command = CommandId{4}, .report = report},
      TrialDiverged{.command = CommandId{4}, .trial = TrialId{1}, .step = 3, .cause = "nan"},
      CommandDone{.command = CommandId{4}, .step = 8},
      CommandStopped{.command = CommandId{4}, .step = 8},
      CommandFailed{
          .command = CommandId{4},
          .error = make_error("H0603", "disk full").at("best").because("x").keeping("y")},
      CommandLost{.command = CommandId{4}},
      TrialFinished{.trial = TrialId{1}},
      TrialStopped{.trial = TrialId{1}, .cause = "low"},
      TrialPaused{.trial = TrialId{1}, .cause = "rung"},
      TrialPromoted{.trial = TrialId{1}, .cause = "high"},
      TrialFailed{.trial = TrialId{1}, .cause = "nan"},
      TargetStarted{.trial = TrialId{1}, .container = ContainerId{3}},
      TargetFinished{.trial = TrialId{1}},
      TargetFailed{.trial = TrialId{1}, .cause = "nan"},
      StopRequested{},
      StudyClosed{.outcome = Outcome::kFailed, .error = "H0640", .cause = "nan"},
      SearcherFailed{.attempt = 2, .cause = "it hangs"},
      SuggestionAsked{.first = 3, .count = 2}};
}

Json make_json(EventBody body) {
  return to_json(
      {.seq = 7, .wall_ns = 8, .mono_ns = 9, .reason = "why", .body = std::move(body)});
}

TEST(EventJson, KeepsEveryFieldOfEveryType) {
  std::set<std::string_view> types;
  for (const EventBody& body : make_bodies()) {
    const std::string text = make_json(body).dump();
    const Result<Event> event = event_from_json(Json::parse(text));
    ASSERT_TRUE(event) << event.error().what;
    EXPECT_EQ(to_json(*event).dump(), text);
    EXPECT_EQ(event->body.index(), body.index());
    types.insert(event_type(body));
  }
  EXPECT_EQ(types.size(), std::variant_size_v<EventBody>);
}

TEST(EventJson, HasAFormThatStays) {
  EXPECT_EQ(
      make_json(CommandDone{.command = CommandId{4}, .step = 8}).dump(),
      R"({"body":{"command":4,"step":8},"mono_ns":9,"reason":"why","seq":7,"type":"command_done",)"
      R"("version":2,"wall_ns":8})");
  EXPECT_EQ(
      make_json(StudyClosed{.outcome = Outcome::kInterrupted, .error = {}, .cause = {}})["body"]
          .dump(),
      R"({"cause":"","error":"","outcome":"interrupted"})");
}

TEST(EventJson, WritesWhatIsNotFiniteAsText) {
  const Json metrics = make_json(make_bodies()[6])["body"]["report"]["metrics"];
  EXPECT_EQ(metrics.dump(), R"({"train_loss":"NaN","val_loss":"-Infinity","x":0.1})");
}

TEST(EventJson, TellsWholeNumbersFromOthersInAConfiguration) {
  const Result<Event> event = event_from_json(Json::parse(make_json(make_bodies()[2]).dump()));
  ASSERT_TRUE(event);
  const auto& config = std::get<TrialSuggested>(event->body).config;
  EXPECT_EQ(config.at("b"), search::Value(std::int64_t{128}));
  EXPECT_EQ(config.at("c"), search::Value(128.0));
}

TEST(EventJson, ReadsAStoredStudyIntoTheSameState) {
  Simulation simulation({.settings = make_settings(5)});
  State again;
  for (const Event& event : simulation.run().events()) {
    const Result<Event> read = event_from_json(Json::parse(to_json(event).dump()));
    ASSERT_TRUE(read) << read.error().what;
    apply(again, *read);
  }
  EXPECT_EQ(again.closed->outcome, Outcome::kFinished);
  EXPECT_EQ(again.best(), simulation.run().state().best());
  EXPECT_EQ(again.commands, simulation.run().state().commands);
}

std::string refusal(const Json& json) {
  const Result<Event> event = event_from_json(json);
  return event ? "accepted" : event.error().id + ": " + event.error().what;
}

TEST(EventJson, RefusesATypeItDoesNotKnow) {
  Json json = make_json(Prepared{});
  json["type"] = "trial_cloned";
  EXPECT_EQ(refusal(json),
            "H0643: event `trial_cloned` version 2 is not known to this program");
}

TEST(EventJson, RefusesANewerVersion) {
  Json json = make_json(Prepared{});
  json["version"] = 3;
  EXPECT_THAT(refusal(json), HasSubstr("H0643: event `prepared` version 3"));
}

TEST(EventJson, NamesTheFieldThatIsDamaged) {
  Json json = make_json(make_bodies()[2]);
  json["body"]["settings"]["optimizer"]["lr"] = "fast";
  EXPECT_EQ(refusal(json),
            "H0644: event `trial_suggested`: body.settings.optimizer.lr is not a number");
  json["body"]["settings"]["optimizer"].erase("lr");
  EXPECT_EQ(refusal(json),
            "H0644: event `trial_suggested`: body.settings.optimizer.lr is missing");
}

TEST(EventJson, RefusesValuesOfTheWrongKind) {
  const Json whole = make_json(CommandDone{.command = CommandId{4}, .step = 8});
  for (const Json& wrong :
       {Json(1.5), Json("4"), Json(nullptr), Json(true), Json(UINT64_MAX), Json::array()}) {
    Json json = whole;
    json["body"]["step"] = wrong;
    EXPECT_THAT(refusal(json), HasSubstr("H0644: event `command_done`: body.step")) << wrong;
  }
}

TEST(EventJson, RefusesWhatIsNoEventAtAll) {
  for (const Json& wrong : {Json(), Json::array(), Json::object(), Json("event"), Json(3)}) {
    EXPECT_THAT(refusal(wrong), HasSubstr("H0644")) << wrong;
  }
  Json json = make_json(Prepared{});
  json.erase("body");
  EXPECT_EQ(refusal(json), "H0644: event 7 has no body");
}

}  // namespace
}  // namespace hydro::tune
