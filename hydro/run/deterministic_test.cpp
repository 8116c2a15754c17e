// Deterministic mode: an engine whose slots answer in any order, and a study that decides the
// same.
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <set>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "hydro/base/result.h"
#include "hydro/base/testing.h"
#include "hydro/engine/thread_engine.h"
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

/// Trains by a formula; `pause` comes before each answer.
class SmallWorker final : public worker::Worker {
 public:
  explicit SmallWorker(std::function<void()> pause) : pause_(std::move(pause)) {}

  void carry_out(const worker::Command& command,
                 const std::stop_token& /*stop*/,
                 const worker::AnswerSink& sink) override {
    const auto answer = [&](auto body) {
      pause_();
      sink({.command = command.id, .body = std::move(body)});
    };
    std::int64_t step = 0;
    if (const auto* launch = std::get_if<worker::Launch>(&command.order)) {
      containers_[launch->spec.id] = launch->spec;
    } else if (const auto* run = std::get_if<worker::Run>(&command.order)) {
      step = run->to;
      train(containers_.at(run->container), step, answer);
    } else if (const auto* drop = std::get_if<worker::Drop>(&command.order)) {
      leave(drop->container, drop->trial);
    } else if (const auto* extract = std::get_if<worker::Extract>(&command.order)) {
      leave(extract->container, extract->trial);
    }
    answer(worker::Done{.step = step});
  }

 private:
  void train(worker::ContainerSpec& spec, std::int64_t to, const auto& answer) {
    for (std::int64_t step = spec.step + 10; step <= to; step += 10) {
      for (const worker::TrialSpec& trial : spec.trials) {
        answer(worker::Report{.trial = trial.id,
                              .step = step,
                              .metrics = {{"val_accuracy", value_of(trial.id, step)}}});
      }
    }
    spec.step = to;
  }

  void leave(worker::ContainerId container, TrialId trial) {
    std::erase_if(containers_.at(container).trials,
                  [trial](const worker::TrialSpec& spec) { return spec.id == trial; });
  }

  std::function<void()> pause_;
  std::map<worker::ContainerId, worker::ContainerSpec> containers_;
};

/// Every order is carried out at once; which slot answers next is drawn.
class ShuffledEngine final : public worker::Engine {
 public:
  explicit ShuffledEngine(std::uint64_t seed) : random_(seed) {}

  [[nodiscard]] std::vector<worker::SlotId> slots() const override { return {}; }

  void submit(worker::SlotId slot, worker::Command command) override {
    workers_.try_emplace(slot, [] {})
        .first->second.carry_out(command, {}, [&](worker::Answer answer) {
          answers_[slot].push_back(std::move(answer));
        });
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
  std::mt19937_64 random_;
  std::map<worker::SlotId, SmallWorker> workers_;
  std::map<worker::SlotId, std::deque<worker::Answer>> answers_;
};

/// Where threads wait for their turn: one passes at a time, drawn among those that are there
/// after a while of random length. A delay, but of turns, so that no test waits for a clock.
class Turnstile {
 public:
  explicit Turnstile(std::uint64_t seed) : random_(seed) {}

  void pass(worker::SlotId slot) {
    std::unique_lock lock(mutex_);
    waiting_.push_back(slot);
    changed_.notify_all();
    changed_.wait(lock, [&] { return next_ == slot; });
    next_.reset();
    passed_.push_back(slot);
    changed_.notify_all();
  }

  /// Who passed, in order.
  [[nodiscard]] std::vector<worker::SlotId> passed() {
    const std::scoped_lock lock(mutex_);
    return passed_;
  }

 private:
  void let_pass(const std::stop_token& stop) {
    for (;;) {
      std::unique_lock lock(mutex_);
      if (!changed_.wait(lock, stop, [this] { return !next_ && !waiting_.empty(); })) {
        return;
      }
      lock.unlock();
      for (std::uint64_t i = random_() % 50; i > 0; --i) {
        std::this_thread::yield();
      }
      lock.lock();
      const auto drawn =
          waiting_.begin() + static_cast<std::ptrdiff_t>(random_() % waiting_.size());
      next_ = *drawn;
      waiting_.erase(drawn);
      changed_.notify_all();
    }
  }

  std::mt19937_64 random_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::vector<worker::SlotId> waiting_;
  std::optional<worker::SlotId> next_;
  std::vector<worker::SlotId> passed_;
  std::jthread thread_{[this](const std::stop_token& stop) { let_pass(stop); }};
};

Result<std::optional<tune::TrialSuggested>> suggest(std::int64_t k) {
  tune::TrialSuggested suggestion = tune::make_suggestion(k, k % 2 == 0 ? 64 : 128);
  suggestion.budget = {.steps = 90, .steps_per_epoch = 10, .evaluate_every = 10};
  return std::optional(suggestion);
}

std::unique_ptr<worker::Engine> in_virtual_order(std::unique_ptr<worker::Engine> engine) {
  return engine::make_virtual_order(std::move(engine), [](const worker::ContainerSpec& spec) {
    return static_cast<double>(spec.batch_size);
  });
}

std::unique_ptr<worker::Engine> shuffled(std::uint64_t seed) {
  return in_virtual_order(std::make_unique<ShuffledEngine>(seed));
}

/// The engine of real runs: a thread a slot.
std::unique_ptr<worker::Engine> threads(Turnstile& turnstile) {
  return engine::make_thread_engine(kSlots, [&turnstile](worker::SlotId slot) {
    return std::make_unique<SmallWorker>([&turnstile, slot] { turnstile.pass(slot); });
  });
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
      const auto expected = events_of(shuffled(0), type, fusion);
      for (std::uint64_t seed = 1; seed < 20; ++seed) {
        EXPECT_EQ(events_of(shuffled(seed), type, fusion), expected)
            << "seed " << seed << ", fusion " << fusion;
      }
    }
  }
}

TEST(Deterministic, DelaysInTheThreadsOfWorkersChangeNoDecision) {
  for (const auto type :
       {search::SchedulerType::kStopping, search::SchedulerType::kPromotion}) {
    const auto expected = events_of(shuffled(0), type, 1);
    std::set<std::vector<worker::SlotId>> arrivals;
    for (std::uint64_t seed = 1; seed < 20; ++seed) {
      Turnstile turnstile(seed);
      EXPECT_EQ(events_of(in_virtual_order(threads(turnstile)), type, 1), expected)
          << "seed " << seed;
      arrivals.insert(turnstile.passed());
    }
    EXPECT_GT(arrivals.size(), 1U);  // they did come in other orders
  }
}

TEST(Deterministic, WithoutVirtualTimeTheOrderOfArrivalDecides) {
  const auto type = search::SchedulerType::kStopping;
  const auto first = events_of(std::make_unique<ShuffledEngine>(1), type, 1);
  EXPECT_NE(events_of(std::make_unique<ShuffledEngine>(2), type, 1), first);
}

}  // namespace
}  // namespace hydro::run
