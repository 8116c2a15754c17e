#include "hydro/tune/decide.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "hydro/plan/containers.h"
#include "hydro/tune/events.h"
#include "hydro/tune/state.h"
#include "hydro/worker/messages.h"

namespace hydro::tune {
namespace {

using worker::ContainerId;
using worker::SlotId;
using worker::TrialId;
using Decisions = std::vector<Decision>;

Record close(Outcome outcome, std::string error = {}, std::string cause = {}) {
  return {
      .body =
          StudyClosed{.outcome = outcome, .error = std::move(error), .cause = std::move(cause)},
      .reason = {}};
}

/// Why a trained trial has no value, or nothing.
std::optional<std::string> fault_of(const std::vector<worker::Report>& reports,
                                    const std::string& metric) {
  const std::optional<double> value = value_of(reports, metric);
  if (!value) {
    std::string names;
    for (const auto& [name, number] :
         reports.empty() ? std::map<std::string, double>{} : reports.back().metrics) {
      names += (names.empty() ? "" : ", ") + name;
    }
    return "metric `" + metric + "` was not reported" +
           (names.empty() ? "" : ", only " + names);
  }
  // A model with any metric that is not finite is broken, also where the tuned one still ranks.
  if (!std::isfinite(*value)) {
    return "`" + metric + "` is not finite";
  }
  for (const auto& [name, number] : reports.back().metrics) {
    if (!std::isfinite(number)) {
      return "`" + name + "` is not finite";
    }
  }
  return std::nullopt;
}

// --- planning ---

std::int64_t most_trials_together(const StudySettings& settings) {
  return settings.max_concurrent_trials
             ? std::min(settings.fusion, *settings.max_concurrent_trials)
             : settings.fusion;
}

Record plan_containers(const State& state) {
  std::vector<plan::Candidate> candidates;
  for (const Trial& trial : state.trials) {
    if (!trial.container) {
      const TrialSuggested& suggestion = trial.suggestion;
      candidates.push_back({.id = suggestion.id,
                            .model = suggestion.model,
                            .batch_size = suggestion.batch_size,
                            .budget = suggestion.budget,
                            .settings = suggestion.settings,
                            .cost_per_sample = suggestion.cost_per_sample});
    }
  }
  ContainersPlanned planned;
  auto next = static_cast<std::int64_t>(state.containers.size());
  for (std::vector<TrialId>& trials :
       plan::pack(candidates, most_trials_together(state.study()))) {
    planned.containers.push_back({.id = ContainerId{next++}, .trials = std::move(trials)});
  }
  return {.body = std::move(planned), .reason = {}};
}

// --- surrogates ---

std::int64_t next_stop(const State& state, const Container& container) {
  std::int64_t stop = milestone(state.trial(container.live.front()));
  for (const TrialId id : container.live) {
    stop = std::min(stop, milestone(state.trial(id)));
  }
  return stop;
}

Record verdict(const State& state, TrialId id) {
  if (const auto fault = fault_of(state.trial(id).reports, state.study().metric)) {
    return {.body = TrialFailed{.trial = id, .cause = *fault},
            .reason = "its value cannot be ranked"};
  }
  return {.body = TrialFinished{.trial = id}, .reason = "its budget is used up"};
}

void judge_trials(const State& state, const Container& container, Decisions& decisions) {
  for (const TrialId id : container.live) {
    if (milestone(state.trial(id)) <= container.step) {
      decisions.emplace_back(verdict(state, id));
    }
  }
}

/// The next move of a surrogate container that is idle with trials alive.
void continue_container(const State& state, const Container& container, Decisions& decisions) {
  const std::int64_t stop = next_stop(state, container);
  if (container.step >= stop) {
    judge_trials(state, container, decisions);
    return;
  }
  decisions.emplace_back(Issue{.slot = container.slot,
                               .order = worker::Run{.container = container.id,
                                                    .to = stop,
                                                    .threads = state.study().surrogate_threads},
                               .reason = {}});
}

/// Goes over the slots once; knows what its own earlier decisions take.
class SlotRound {
 public:
  SlotRound(const State& state, Effort& effort, Decisions& decisions)
      : state_(state), effort_(effort), decisions_(decisions), running_(state.counts.running) {}

  void decide_all() {
    dissolve_parked();
    for (std::size_t index = 0; index < state_.slots.size(); ++index) {
      ++effort_.looked_at;
      const Slot& slot = state_.slots[index];
      if (slot.in_flight || taken(static_cast<SlotId>(index))) {
        continue;
      }
      if (slot.active) {
        continue_container(state_, state_.container(*slot.active), decisions_);
      } else {
        launch_next(static_cast<SlotId>(index));
      }
    }
  }

 private:
  [[nodiscard]] bool taken(SlotId slot) const { return std::ranges::count(taken_, slot) > 0; }

  /// At S=1 the weights of the best trial so far live in its container only.
  [[nodiscard]] bool is_kept(ContainerId id) const {
    const auto best = state_.best();
    return state_.delivers_own_weights() && best && state_.trial(*best).container == id;
  }

  void dissolve_parked() {
    for (const ContainerId id : state_.parked) {
      ++effort_.looked_at;
      const SlotId slot = state_.container(id).slot;
      if (is_kept(id) || taken(slot) ||
          state_.slots[static_cast<std::size_t>(slot)].in_flight) {
        continue;
      }
      taken_.push_back(slot);
      decisions_.emplace_back(Issue{.slot = slot,
                                    .order = worker::Dissolve{.container = id},
                                    .reason = "all its trials ended"});
    }
  }

  void launch_next(SlotId slot) {
    if (launched_ >= state_.waiting.size()) {
      return;
    }
    const Container& container = state_.container(state_.waiting[launched_]);
    const auto size = static_cast<std::int64_t>(container.trials.size());
    const auto& limit = state_.study().max_concurrent_trials;
    if (limit && running_ + size > *limit) {
      return;
    }
    ++launched_;
    running_ += size;
    decisions_.emplace_back(
        Issue{.slot = slot,
              .order = worker::Launch{.spec = spec_of(state_, container),
                                      .threads = state_.study().surrogate_threads},
              .reason = {}});
  }

  const State& state_;
  Effort& effort_;
  Decisions& decisions_;
  std::int64_t running_;
  std::size_t launched_ = 0;
  std::vector<SlotId> taken_;
};

// --- the target ---

std::optional<TrialId> next_best(const State& state) {
  for (const auto& [value, id] : state.ranking) {
    if (std::ranges::count(state.targets, id, &Target::trial) == 0) {
      return id;
    }
  }
  return std::nullopt;
}

Record start_target(const State& state, TrialId trial) {
  const auto next = static_cast<std::int64_t>(state.containers.size());
  return {
      .body = TargetStarted{.trial = trial,
                            .container = state.delivers_own_weights()
                                             ? container_of(state.trial(trial))
                                             : ContainerId{next}},
      .reason = state.targets.empty() ? "best value" : "next best value after a failed target"};
}

/// After the last trial, or after a target that failed.
Record start_or_give_up(const State& state) {
  const std::optional<TrialId> trial = next_best(state);
  const bool own_weights_failed = state.delivers_own_weights() && !state.targets.empty();
  if (trial && !own_weights_failed && state.targets.size() < kTargetAttempts) {
    return start_target(state, *trial);
  }
  if (state.targets.empty()) {
    return close(Outcome::kFailed, "H0640");
  }
  return close(Outcome::kFailed, "H0641", state.targets.back().cause);
}

/// A wider model is better in its own right, so a first target worse than its surrogate says
/// that the surrogate's value was luck, or that its hyperparameters do not transfer.
bool wants_another(const State& state) {
  if (!state.study().retry_worse_target || state.delivers_own_weights() ||
      state.stop_requested || state.targets.size() != 1 ||
      state.targets.front().status != TargetStatus::kFinished) {
    return false;
  }
  const Target& target = state.targets.front();
  const std::string& metric = state.study().metric;
  const auto wide = value_of(target.reports, metric);
  const auto narrow = value_of(state.trial(target.trial).reports, metric);
  return state.is_better(narrow.value(), wide.value()) && next_best(state).has_value();
}

Decision continue_target(const State& state, const Target& target) {
  const Container& container = state.container(target.container);
  const SlotId slot = container.slot;
  const int threads = state.study().target_threads;
  if (!target.cause.empty()) {
    return Record{.body = TargetFailed{.trial = target.trial, .cause = target.cause},
                  .reason = {}};
  }
  if (container.status == ContainerStatus::kPlanned) {
    return Issue{.slot = slot,
                 .order = worker::Launch{.spec = spec_of(state, container), .threads = threads},
                 .reason = {}};
  }
  const std::int64_t end = state.trial(target.trial).suggestion.budget.steps;
  if (container.step < end) {
    return Issue{.slot = slot,
                 .order = worker::Run{.container = container.id, .to = end, .threads = threads},
                 .reason = {}};
  }
  if (const auto fault = fault_of(target.reports, state.study().metric)) {
    return Record{.body = TargetFailed{.trial = target.trial, .cause = *fault}, .reason = {}};
  }
  if (const Target* earlier = state.delivered(); earlier != nullptr) {
    const std::string& metric = state.study().metric;
    if (!state.is_better(value_of(target.reports, metric).value(),
                         value_of(earlier->reports, metric).value())) {
      return Record{.body = TargetFinished{.trial = target.trial},
                    .reason = "the earlier target is better"};
    }
  }
  return Issue{.slot = slot,
               .order = worker::Export{.container = container.id,
                                       .trial = target.trial,
                                       .path = state.study().weights},
               .reason = {}};
}

/// Requires: nothing else is left to do, no command is open
Decision decide_target(const State& state) {
  if (state.targets.empty() || state.targets.back().status == TargetStatus::kFailed) {
    return start_or_give_up(state);
  }
  if (wants_another(state)) {
    return Record{.body = start_target(state, *next_best(state)).body,
                  .reason = "the first target is worse than its own surrogate"};
  }
  return continue_target(state, state.targets.back());
}

/// A finished delivery or weights that cannot be written end the study, whatever else could be
/// done.
std::optional<Record> decide_end(const State& state) {
  if (state.export_error) {
    return close(Outcome::kFailed, state.export_error->id, state.export_error->what);
  }
  if (state.targets.empty()) {
    return std::nullopt;
  }
  const Target& target = state.targets.back();
  if (target.status != TargetStatus::kRunning && state.delivered() != nullptr) {
    return wants_another(state) ? std::nullopt : std::optional(close(Outcome::kFinished));
  }
  if (target.status == TargetStatus::kRunning && target.exported) {
    return Record{.body = TargetFinished{.trial = target.trial},
                  .reason = "its weights are on disk"};
  }
  return std::nullopt;
}

/// Nothing new starts; what is done already is judged, what runs answers first.
Decisions decide_stop(const State& state) {
  Decisions decisions;
  for (const Slot& slot : state.slots) {
    if (slot.active && !slot.in_flight) {
      judge_trials(state, state.container(*slot.active), decisions);
    }
  }
  if (decisions.empty() && state.pending.empty()) {
    decisions.emplace_back(state.delivered() != nullptr
                               ? close(Outcome::kFinished)
                               : close(Outcome::kInterrupted, "H0642"));
  }
  return decisions;
}

OrderNote note_of(const worker::Order& order) {
  return std::visit(
      [](const auto& body) -> OrderNote {
        using Body = std::remove_cvref_t<decltype(body)>;
        if constexpr (std::is_same_v<Body, worker::Launch>) {
          return {.verb = Verb::kLaunch, .container = body.spec.id, .path = {}};
        } else if constexpr (std::is_same_v<Body, worker::Run>) {
          return {.verb = Verb::kRun, .container = body.container, .to = body.to, .path = {}};
        } else if constexpr (std::is_same_v<Body, worker::Drop>) {
          return {.verb = Verb::kDrop,
                  .container = body.container,
                  .trial = body.trial,
                  .path = {}};
        } else if constexpr (std::is_same_v<Body, worker::Dissolve>) {
          return {.verb = Verb::kDissolve, .container = body.container, .path = {}};
        } else {
          return {.verb = Verb::kExport,
                  .container = body.container,
                  .trial = body.trial,
                  .path = body.path};
        }
      },
      order);
}

}  // namespace

std::int64_t milestone(const Trial& trial) {
  return trial.suggestion.budget.steps;
}

std::vector<Decision> decide(const State& state, Effort* effort) {
  Effort unread;
  Decisions decisions;
  if (!state.settings || state.closed) {
    return decisions;
  }
  if (auto end = decide_end(state)) {
    decisions.emplace_back(*std::move(end));
    return decisions;
  }
  if (state.stop_requested) {
    return decide_stop(state);
  }
  if (!state.prepared) {
    return decisions;
  }
  if (!state.all_suggested()) {
    const auto first = static_cast<std::int64_t>(state.trials.size());
    decisions.emplace_back(Suggest{.first = first, .count = state.study().trials - first});
    return decisions;
  }
  if (state.unplanned > 0) {
    decisions.emplace_back(plan_containers(state));
    return decisions;
  }
  SlotRound(state, effort != nullptr ? *effort : unread, decisions).decide_all();
  if (decisions.empty() && state.pending.empty()) {
    decisions.push_back(decide_target(state));
  }
  return decisions;
}

CommandIssued issued(const State& state, const Issue& issue) {
  return {.id = worker::CommandId{state.commands},
          .slot = issue.slot,
          .order = note_of(issue.order)};
}

}  // namespace hydro::tune
