#include "hydro/tune/decide.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hydro/tune/events.h"
#include "hydro/tune/state.h"
#include "hydro/tune/summary.h"
#include "hydro/tune/testing.h"
#include "hydro/worker/messages.h"

namespace hydro::tune {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;
using worker::TrialId;

/// Some trials diverge, values repeat, batch sizes mix.
World make_world(StudySettings settings) {
  World world{.settings = std::move(settings)};
  world.suggest = [](std::int64_t id) { return make_suggestion(id, id % 3 == 0 ? 64 : 128); };
  world.surrogate_value = [](TrialId id) {
    const auto k = static_cast<std::int64_t>(id);
    return k % 7 == 3 ? kNan : static_cast<double>(k * 5 % 8) / 10;
  };
  return world;
}

/// All that a user reads, but times.
std::string outcome_text(const State& state) {
  std::string text = summarize(state).state;
  for (const TrialRow& row : trial_rows(state)) {
    text += "\n" + std::string(trial_status_name(row.status)) + " " + row.reason + " " +
            std::to_string(row.value.value_or(-1));
  }
  for (const Target& target : state.targets) {
    text += "\ntarget " + std::to_string(static_cast<std::int64_t>(target.trial)) + " " +
            std::string(target_status_name(target.status));
  }
  return text;
}

std::string run_text(World world) {
  return outcome_text(Simulation(std::move(world)).run().state());
}

TEST(Decide, HasNothingToSayBeforeAStudyIsOpen) {
  EXPECT_THAT(decide(State()), IsEmpty());
}

TEST(Decide, WaitsForThePreparation) {
  Journal journal;
  journal.append(StudyOpened{.settings = make_settings(3), .process_start_ns = 0});
  EXPECT_THAT(decide(journal.state()), IsEmpty());
}

TEST(Decide, HasNothingToSayOnceAStudyIsClosed) {
  Simulation simulation(make_world(make_settings(3)));
  EXPECT_THAT(decide(simulation.run().state()), IsEmpty());
}

TEST(Decide, DoesNotDependOnTheOrderOfArrival) {
  const std::string expected = run_text(make_world(make_settings(20, 4)));
  for (std::uint64_t seed = 1; seed < 30; ++seed) {
    World world = make_world(make_settings(20, 4));
    world.arrivals = seed;
    EXPECT_EQ(run_text(std::move(world)), expected) << "seed " << seed;
  }
}

TEST(Decide, DoesNotDependOnSlotsConcurrencyOrFusion) {
  const std::string expected = run_text(make_world(make_settings(20)));
  for (const std::int64_t slots : {1, 2, 5}) {
    for (const std::int64_t fusion : {1, 4, 20}) {
      for (const std::int64_t concurrent : {1, 2, 20}) {
        World world = make_world(make_settings(20, slots));
        world.settings.fusion = fusion;
        world.settings.max_concurrent_trials = concurrent;
        world.arrivals = 5;
        EXPECT_EQ(run_text(std::move(world)), expected)
            << slots << " " << fusion << " " << concurrent;
      }
    }
  }
}

TEST(Decide, DoesNotDependOnTheOrderOfArrivalWithoutShrinking) {
  StudySettings settings = make_settings(20, 4);
  settings.scaling = 1;
  settings.fusion = 3;
  const std::string expected = run_text(make_world(settings));
  for (std::uint64_t seed = 1; seed < 30; ++seed) {
    World world = make_world(settings);
    world.arrivals = seed;
    EXPECT_EQ(run_text(std::move(world)), expected) << "seed " << seed;
  }
}

TEST(Decide, GivesOneCallsDecisionsThatDoNotDependOnEachOther) {
  World world = make_world(make_settings(20, 3));
  const std::string expected = run_text(world);
  world.one_decision_at_a_time = true;
  EXPECT_EQ(run_text(std::move(world)), expected);
}

std::set<std::pair<std::int64_t, int>> commands_of(const std::vector<Event>& events) {
  std::set<std::pair<std::int64_t, int>> commands;
  for (const Event& event : events) {
    if (const auto* issued = std::get_if<CommandIssued>(&event.body)) {
      const auto key = std::pair(static_cast<std::int64_t>(issued->order.container),
                                 static_cast<int>(issued->order.verb));
      EXPECT_TRUE(commands.insert(key).second) << "issued twice";
    }
  }
  return commands;
}

TEST(Decide, NeverIssuesAnythingTwice) {
  Simulation simulation(make_world(make_settings(12, 3)));
  // 12 surrogates: launch, run, dissolve; the target: launch, run, export.
  EXPECT_THAT(commands_of(simulation.run().events()), SizeIs(12 * 3 + 3));
}

TEST(Decide, SaysTheSameTwiceWhenNothingHappenedBetween) {
  Journal journal;
  journal.append(StudyOpened{.settings = make_settings(4), .process_start_ns = 0});
  journal.append(Prepared{});
  for (std::int64_t id = 0; id < 4; ++id) {
    journal.append(make_suggestion(id));
  }
  journal.carry_out(decide(journal.state()).front());
  const auto slots_of = [&journal] {
    std::vector<worker::SlotId> slots;
    for (const Decision& decision : decide(journal.state())) {
      slots.push_back(std::get<Issue>(decision).slot);
    }
    return slots;
  };
  EXPECT_EQ(slots_of(), slots_of());
  EXPECT_THAT(slots_of(), SizeIs(2));
}

std::int64_t most_running(const std::vector<Event>& events) {
  State state;
  std::int64_t most = 0;
  for (const Event& event : events) {
    apply(state, event);
    most = std::max(most, state.counts.running);
  }
  return most;
}

TEST(Decide, NeverRunsMoreTrialsThanAreAllowed) {
  for (const std::int64_t limit : {1, 3, 5}) {
    World world = make_world(make_settings(20, 4));
    world.settings.fusion = 2;
    world.settings.max_concurrent_trials = limit;
    Simulation simulation(std::move(world));
    const std::int64_t most = most_running(simulation.run().events());
    EXPECT_LE(most, limit);
    EXPECT_GE(most, limit - 1);  // a container of two may not fit
  }
}

TEST(Decide, StartsTheTargetOnlyWhenNothingElseIsLeft) {
  Simulation simulation(make_world(make_settings(9, 3)));
  State state;
  for (const Event& event : simulation.run().events()) {
    if (std::holds_alternative<TargetStarted>(event.body)) {
      EXPECT_THAT(state.pending, IsEmpty());
      EXPECT_EQ(state.counts.ended(), 9);
      EXPECT_THAT(state.containers, IsEmpty());
    }
    apply(state, event);
  }
}

TEST(Decide, LooksAtAFewThingsPerEventHoweverManyTrialsThereAre) {
  const auto looks_per_event = [](std::int64_t trials) {
    Simulation simulation(make_world(make_settings(trials)));
    const auto events = static_cast<double>(simulation.run().events().size());
    return static_cast<double>(simulation.effort().looked_at) / events;
  };
  const double few = looks_per_event(100);
  EXPECT_GT(few, 0.5);
  EXPECT_NEAR(looks_per_event(10'000), few, 0.05 * few);
}

TEST(Decide, FailsATrialThatNeverReportedTheMetricAndNamesWhatItDid) {
  Journal journal;
  journal.append(StudyOpened{.settings = make_settings(1), .process_start_ns = 0});
  journal.append(Prepared{});
  journal.append(make_suggestion(0));
  for (int i = 0; i < 2; ++i) {
    journal.carry_out(decide(journal.state()).front());
  }
  journal.append(CommandDone{.command = worker::CommandId{0}, .step = 0});
  journal.carry_out(decide(journal.state()).front());
  journal.append(
      Reported{.command = worker::CommandId{1},
               .report = {.step = 100, .metrics = {{"train_loss", 1}, {"val_loss", 2}}}});
  journal.append(CommandDone{.command = worker::CommandId{1}, .step = 100});
  const auto failed =
      std::get<TrialFailed>(std::get<Record>(decide(journal.state()).front()).body);
  EXPECT_EQ(failed.cause, "metric `val_accuracy` was not reported, only train_loss, val_loss");
}

}  // namespace
}  // namespace hydro::tune
