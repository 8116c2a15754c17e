// Deterministic mode: an engine whose slots answer in any order, and a study that decides the
// same.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <deque>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <stop_token>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "hydro/base/result.h"
#include "hydro/base/testing.h"
#include "hydro/engine/virtual_order.h"
#include "hydro/run/edge.h"
#include "hydro/run/testing.h"
#include "hydro/search/scheduler.h"
#include "hydro/tune/event_json.h"
#include "hydro/tune/events.h"
#include "hydro/tune/state.h"
#include "hydro/tune/testing.h"
#include "hydro/worker/messages.h"
#include "hydro/worker/worker.h"

namespace hydro::run {
namespace {

using worker::TrialId;

constexpr std::int64_t kSlots = 3;

double value_of(TrialId trial, std::int64_t step) {
  return static_cast<double>((static_cast<std::int64_t>(trial) * 7 + step * 3) % 23) / 23;
}

/// Every order is carried out at once; which slot answers next is drawn.
class ShuffledEngine final : public worker::Engine {
 public:
  explicit ShuffledEngine(std::uint64_t seed) : random_(seed) {}

  [[nodiscard]] std::vector<worker::SlotId> slots() const override { return {}; }

  void submit(worker::SlotId slot, worker::Command command) override {
    std::int64_t step = 0;
    if (const auto* launch = std::get_if<worker::Launch>(&command.order)) {
      containers_[launch->spec.id] = launch->spec;
    } else if (const auto* run = std::get_if<worker::Run>(&command.order)) {
      step = run->to;
      train(slot, command.id, *run);
    } else if (const auto* drop = std::get_if<worker::Drop>(&command.order)) {
      leave(drop->container, drop->trial);
    } else if (const auto* extract = std::get_if<worker::Extract>(&command.order)) {
      leave(extract->container, extract->trial);
    }
    answer(slot, command.id, worker::Done{.step = step});
  }

  [[nodiscard]] std::optional<worker::Answer> wait(
      std::chrono::milliseconds /*patience*/) override {
    HYDRO_CHECK(!answers_.empty(), "nothing to wait for");
    const auto slot =
        std::next(answers_.begin(), static_cast<std::ptrdiff_t>(random_() % answers_.size()));
    worker::Answer next = std::move(slot->second.front());
    slot->second.pop_front();
    if (slot->second.empty()) {
      answers_.erase(slot);
    }
    return next;
  }

  void request_stop() override {}

 private:
  template <class Body>
  void answer(worker::SlotId slot, worker::CommandId command, Body body) {
    answers_[slot].push_back({.command = command, .body = std::move(body)});
  }

  void train(worker::SlotId slot, worker::CommandId command, const worker::Run& run) {
    worker::ContainerSpec& spec = containers_.at(run.container);
    for (std::int64_t step = spec.step + 10; step <= run.to; step += 10) {
      for (const worker::TrialSpec& trial : spec.trials) {
        answer(slot,
               command,
               worker::Report{.trial = trial.id,
                              .step = step,
                              .metrics = {{"val_accuracy", value_of(trial.id, step)}}});
      }
    }
    spec.step = run.to;
  }

  void leave(worker::ContainerId container, TrialId trial) {
    std::erase_if(containers_.at(container).trials,
                  [trial](const worker::TrialSpec& spec) { return spec.id == trial; });
  }

  std::mt19937_64 random_;
  std::map<worker::ContainerId, worker::ContainerSpec> containers_;
  std::map<worker::SlotId, std::deque<worker::Answer>> answers_;
};

Result<std::optional<tune::TrialSuggested>> suggest(std::int64_t k) {
  tune::TrialSuggested suggestion = tune::make_suggestion(k, k % 2 == 0 ? 64 : 128);
  suggestion.budget = {.steps = 90, .steps_per_epoch = 10, .evaluate_every = 10};
  return std::optional(suggestion);
}

std::unique_ptr<worker::Engine> in_virtual_order(std::uint64_t seed) {
  return engine::make_virtual_order(
      std::make_unique<ShuffledEngine>(seed),
      [](const worker::ContainerSpec& spec) { return static_cast<double>(spec.batch_size); });
}

/// Every event of a study's search, without times.
std::vector<std::string> events_of(std::unique_ptr<worker::Engine> engine,
                                   search::SchedulerType type,
                                   std::int64_t fusion) {
  std::vector<std::string> events;
  const testing::CountingClock clock;
  const hydro::testing::TemporaryFolder folder;
  Edge edge([](const tune::Event&) { return Result<void>(); },
            suggest,
            [&events](const tune::State& state, const tune::Event& event) {
              if (state.targets.empty() && state.last_seq > 1) {  // the search alone
                events.push_back(std::string(tune::event_type(event.body)) +
                                 tune::body_to_json(event.body).dump());
              }
            },
            clock);
  tune::StudySettings settings = tune::make_settings(20, kSlots);
  settings.fusion = fusion;
  settings.scheduler = {.kind = search::SchedulerKind::kAsha, .type = type, .max_t = 9};
  settings.weights = (folder / "model.safetensors").string();
  EXPECT_TRUE(edge.append(tune::StudyOpened{.settings = settings}).has_value());
  EXPECT_TRUE(edge.append(tune::Prepared{}).has_value());
  EXPECT_TRUE(edge.run(*engine, std::stop_token()).has_value());
  return events;
}

TEST(Deterministic, AStudyDecidesTheSameWhateverSlotWasFaster) {
  for (const auto type :
       {search::SchedulerType::kStopping, search::SchedulerType::kPromotion}) {
    for (const std::int64_t fusion : {1, 3}) {
      const auto expected = events_of(in_virtual_order(0), type, fusion);
      for (std::uint64_t seed = 1; seed < 20; ++seed) {
        EXPECT_EQ(events_of(in_virtual_order(seed), type, fusion), expected)
            << "seed " << seed << ", fusion " << fusion;
      }
    }
  }
}

TEST(Deterministic, WithoutVirtualTimeTheOrderOfArrivalDecides) {
  const auto type = search::SchedulerType::kStopping;
  const auto first = events_of(std::make_unique<ShuffledEngine>(1), type, 1);
  EXPECT_NE(events_of(std::make_unique<ShuffledEngine>(2), type, 1), first);
}

}  // namespace
}  // namespace hydro::run
