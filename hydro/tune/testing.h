// hydro/tune/testing.h — studies for tests: a journal that appends events, and a world that
// answers commands.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <limits>
#include <random>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/tune/decide.h"
#include "hydro/tune/events.h"
#include "hydro/tune/state.h"
#include "hydro/worker/messages.h"

namespace hydro::tune {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr std::int64_t kSecond = 1'000'000'000;

/// One trial after the other, two slots, the target on two cores.
inline StudySettings make_settings(std::int64_t trials, std::int64_t slots = 2) {
  StudySettings settings;
  settings.name = "fashion";
  settings.metric = "val_accuracy";
  settings.trials = trials;
  settings.slots = slots;
  settings.target_threads = 2;
  settings.scaling = 8;
  settings.weights = "best/model.safetensors";
  return settings;
}

/// 100 steps of SGD, evaluated once.
inline TrialSuggested make_suggestion(std::int64_t id, std::int64_t batch_size = 64) {
  TrialSuggested suggestion;
  suggestion.id = worker::TrialId{id};
  suggestion.config = {{"train.optimizer.lr", 0.5}, {"train.batch_size", batch_size}};
  suggestion.model = "surrogate";
  suggestion.target_model = "target";
  suggestion.batch_size = batch_size;
  suggestion.budget = {.steps = 100, .steps_per_epoch = 100, .evaluate_every = 100};
  suggestion.settings.optimizer.lr = 0.5;
  return suggestion;
}

/// A state with all its events; every event comes a second after the one before.
class Journal {
 public:
  void append(EventBody body, std::string reason = {}) {
    const auto seq = static_cast<std::int64_t>(events_.size()) + 1;
    events_.push_back({.seq = seq,
                       .wall_ns = seq * kSecond,
                       .mono_ns = seq * kSecond,
                       .reason = std::move(reason),
                       .body = std::move(body)});
    apply(state_, events_.back());
  }

  /// Carries out a record or an issue; a suggestion is the world's.
  void carry_out(const Decision& decision) {
    if (const auto* record = std::get_if<Record>(&decision)) {
      append(record->body, record->reason);
    } else if (const auto* issue = std::get_if<Issue>(&decision)) {
      append(issued(state_, *issue), issue->reason);
    }
  }

  [[nodiscard]] const State& state() const { return state_; }

  [[nodiscard]] const std::vector<Event>& events() const { return events_; }

 private:
  State state_;
  std::vector<Event> events_;
};

/// How the world behaves: values by trial id; NaN diverges.
struct World {
  StudySettings settings;
  std::function<TrialSuggested(std::int64_t)> suggest = [](std::int64_t id) {
    return make_suggestion(id);
  };
  std::function<double(worker::TrialId)> surrogate_value = [](worker::TrialId) { return 0.5; };
  /// At a step of the search; without it surrogate_value() at every evaluation.
  std::function<double(worker::TrialId, std::int64_t)> curve = {};
  std::function<double(worker::TrialId)> target_value = [](worker::TrialId) { return 0.9; };
  std::uint64_t arrivals = 0;  // seed of the order in which commands answer
  bool one_decision_at_a_time = false;
};

/// Runs a study to its end.
class Simulation {
 public:
  explicit Simulation(World world) : world_(std::move(world)), random_(world_.arrivals) {
    journal_.append(StudyOpened{.settings = world_.settings, .process_start_ns = 0});
    journal_.append(Prepared{});
  }

  const Journal& run() {
    while (!journal_.state().closed) {
      const std::vector<Decision> decisions = decide(journal_.state(), &effort_);
      if (decisions.empty()) {
        answer_one();
        continue;
      }
      for (const Decision& decision : decisions) {
        carry_out(decision);
        if (world_.one_decision_at_a_time) {
          break;
        }
      }
    }
    return journal_;
  }

  [[nodiscard]] const Effort& effort() const { return effort_; }

 private:
  void carry_out(const Decision& decision) {
    if (const auto* suggest = std::get_if<Suggest>(&decision)) {
      for (std::int64_t id = suggest->first; id < suggest->first + suggest->count; ++id) {
        journal_.append(world_.suggest(id));
      }
    }
    journal_.carry_out(decision);
  }

  void answer_one() {
    const auto& pending = journal_.state().pending;
    HYDRO_CHECK(!pending.empty(), "nothing to do and nothing to wait for");
    const auto chosen =
        std::next(pending.begin(), static_cast<std::ptrdiff_t>(random_() % pending.size()));
    const worker::CommandId id = chosen->first;
    const OrderNote order = chosen->second.order;
    if (order.verb == Verb::kRun) {
      train(id, journal_.state().container(order.container), order.to);
    }
    journal_.append(CommandDone{.command = id, .step = order.to});
  }

  /// Every evaluation of the run, trials in order.
  void train(worker::CommandId id, const Container& container, std::int64_t to) {
    const worker::Budget budget =
        journal_.state().trial(container.trials.front()).common->budget;
    const worker::ContainerId container_id = container.id;
    const std::int64_t from = container.step;
    for (std::int64_t step = from + 1; step <= to; ++step) {
      if (step % budget.evaluate_every == 0 || step == budget.steps) {
        evaluate(id, journal_.state().container(container_id), step);
      }
    }
  }

  void evaluate(worker::CommandId id, const Container& container, std::int64_t step) {
    const bool target = container.kind == worker::TrialKind::kTarget;
    for (const worker::TrialId trial : std::vector(container.live)) {
      const double value = target         ? world_.target_value(trial)
                           : world_.curve ? world_.curve(trial, step)
                                          : world_.surrogate_value(trial);
      if (std::isnan(value)) {
        journal_.append(TrialDiverged{
            .command = id, .trial = trial, .step = step, .cause = "the loss is not finite"});
      } else {
        journal_.append(Reported{.command = id,
                                 .report = {.trial = trial,
                                            .step = step,
                                            .epoch = 1,
                                            .metrics = {{world_.settings.metric, value}}}});
      }
    }
  }

  World world_;
  std::mt19937_64 random_;
  Journal journal_;
  Effort effort_;
};

}  // namespace hydro::tune
