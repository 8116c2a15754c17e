#include "hydro/tune/decide.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "hydro/plan/containers.h"
#include "hydro/tune/decide_target.h"
#include "hydro/tune/events.h"
#include "hydro/tune/state.h"
#include "hydro/worker/messages.h"

namespace hydro::tune {
namespace {

using worker::ContainerId;
using worker::SlotId;
using worker::TrialId;
using Decisions = std::vector<Decision>;

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

// --- suggestions ---

/// Trials that could start at once, were they there.
std::int64_t room(const State& state) {
  const auto is_free = [](const Slot& slot) { return !slot.in_flight && !slot.active; };
  const std::int64_t free =
      std::ranges::count_if(state.slots, is_free) * most_trials_together(state.study());
  const auto& limit = state.study().max_concurrent_trials;
  return limit ? std::min(free, *limit - state.counts.running) : free;
}

std::int64_t waiting_trials(const State& state) {
  std::int64_t waiting = state.unplanned;
  for (const ContainerId id : state.waiting) {
    waiting += static_cast<std::int64_t>(state.container(id).trials.size());
  }
  return waiting;
}

/// How many configurations to ask for.
std::int64_t wanted_suggestions(const State& state) {
  if (state.all_suggested() || state.lost_searcher()) {
    return 0;
  }
  const auto first = static_cast<std::int64_t>(state.trials.size());
  const std::int64_t left = state.study().trials - first;
  const auto& ahead = state.study().suggest_ahead;
  if (!ahead) {
    return left;
  }
  return std::clamp<std::int64_t>(room(state) + *ahead - waiting_trials(state), 0, left);
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
                               ? close_study(Outcome::kFinished)
                               : close_study(Outcome::kInterrupted, "H0642"));
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
  if (const std::int64_t count = wanted_suggestions(state); count > 0) {
    const auto first = static_cast<std::int64_t>(state.trials.size());
    decisions.emplace_back(Suggest{.first = first, .count = count});
    return decisions;
  }
  if (state.unplanned > 0) {
    decisions.emplace_back(plan_containers(state));
    return decisions;
  }
  SlotRound(state, effort != nullptr ? *effort : unread, decisions).decide_all();
  if (decisions.empty() && state.pending.empty()) {
    decisions.push_back(state.lost_searcher()
                            ? close_study(Outcome::kInterrupted, "H0723", state.searcher_cause)
                            : decide_target(state));
  }
  return decisions;
}

CommandIssued issued(const State& state, const Issue& issue) {
  return {.id = worker::CommandId{state.commands},
          .slot = issue.slot,
          .order = note_of(issue.order)};
}

}  // namespace hydro::tune
