#include "hydro/tune/decide.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "hydro/plan/containers.h"
#include "hydro/search/verdict.h"
#include "hydro/tune/decide_target.h"
#include "hydro/tune/decide_waiting.h"
#include "hydro/tune/events.h"
#include "hydro/tune/judge.h"
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
  for (const TrialId id : state.unplanned) {
    const Trial& trial = state.trial(id);
    candidates.push_back({.id = id,
                          .model = trial.common->model,
                          .batch_size = trial.common->batch_size,
                          .budget = trial.common->budget,
                          .settings = trial.settings,
                          .cost_per_sample = trial.common->cost_per_sample,
                          .steps_done = trial.step});
  }
  ContainersPlanned planned;
  std::int64_t next = state.planned_containers;
  for (std::vector<TrialId>& trials :
       plan::pack(candidates, most_trials_together(state.study()))) {
    planned.containers.push_back({.id = ContainerId{next++}, .trials = std::move(trials)});
  }
  return {.body = std::move(planned), .reason = {}};
}

// --- surrogates ---

std::int64_t next_stop(const State& state, const Container& container) {
  std::int64_t stop = state.trial(container.live.front()).milestone;
  for (const TrialId id : container.live) {
    stop = std::min(stop, state.trial(id).milestone);
  }
  return stop;
}

Record verdict(const State& state, TrialId id) {
  const Trial& trial = state.trial(id);
  if (const auto fault = fault_of(trial.reports, state.study().metric)) {
    return {.body = TrialFailed{.trial = id, .cause = *fault},
            .reason = "its value cannot be ranked"};
  }
  if (!trial.judgement) {
    return {.body = TrialFinished{.trial = id}, .reason = "its budget is used up"};
  }
  if (*trial.judgement == search::Fate::kPause) {
    return {.body = TrialPaused{.trial = id, .cause = trial.cause}, .reason = {}};
  }
  return {.body = TrialStopped{.trial = id, .cause = trial.cause}, .reason = {}};
}

void judge_trials(const State& state, const Container& container, Decisions& decisions) {
  for (const TrialId id : container.live) {
    if (state.trial(id).milestone <= container.step) {
      decisions.emplace_back(verdict(state, id));
    }
  }
}

/// Of the trials that no longer train: first those that are forgotten, but only where others go
/// on; then those whose state is kept.
std::optional<worker::Order> clear_out(const State& state, const Container& container) {
  const auto is_paused = [&state](TrialId id) {
    return state.trial(id).status == TrialStatus::kPaused;
  };
  const auto ended = std::ranges::find_if_not(container.leaving, is_paused);
  if (ended != container.leaving.end() && !container.live.empty()) {
    return worker::Drop{.container = container.id, .trial = *ended};
  }
  const auto paused = std::ranges::find_if(container.leaving, is_paused);
  return paused == container.leaving.end() ? std::nullopt
                                           : std::optional<worker::Order>(worker::Extract{
                                                 .container = container.id, .trial = *paused});
}

/// The next move of a surrogate container that is idle and still holds a trial of interest.
void continue_container(const State& state, const Container& container, Decisions& decisions) {
  const bool is_due = !container.live.empty() && container.step >= next_stop(state, container);
  if (is_due) {
    judge_trials(state, container, decisions);
    return;
  }
  if (std::optional<worker::Order> order = clear_out(state, container)) {
    decisions.emplace_back(
        Issue{.slot = container.slot, .order = *std::move(order), .reason = {}});
    return;
  }
  decisions.emplace_back(Issue{.slot = container.slot,
                               .order = worker::Run{.container = container.id,
                                                    .to = next_stop(state, container),
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
      } else if (!discard_next(static_cast<SlotId>(index))) {
        fill(static_cast<SlotId>(index));
      }
    }
  }

 private:
  [[nodiscard]] bool taken(SlotId slot) const { return std::ranges::count(taken_, slot) > 0; }

  /// At S=1 the weights of the best trial so far live in its container only.
  [[nodiscard]] bool is_kept(ContainerId id) const {
    const auto best = state_.best();
    return state_.delivers_own_weights() && best &&
           state_.trial(*best).status == TrialStatus::kFinished &&
           state_.trial(*best).container == id;
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
                                    .reason = "none of its trials goes on here"});
    }
  }

  bool discard_next(SlotId slot) {
    if (discarded_ >= state_.left_over.size()) {
      return false;
    }
    const TrialId trial =
        *std::next(state_.left_over.begin(), static_cast<std::ptrdiff_t>(discarded_++));
    decisions_.emplace_back(Issue{.slot = slot,
                                  .order = worker::Discard{.trial = trial},
                                  .reason = "it ended while it waited"});
    return true;
  }

  [[nodiscard]] bool has_room_for(std::int64_t trials) const {
    const auto& limit = state_.study().max_concurrent_trials;
    return !limit || running_ + trials <= *limit;
  }

  /// From the top rung down who may go on, else who never ran, else a new configuration.
  void fill(SlotId slot) {
    if (is_settled_ || !has_room_for(1)) {
      return;
    }
    if (std::optional<Record> promoted = promotion(state_); promoted && !front_is_promoted()) {
      decisions_.emplace_back(*std::move(promoted));
      is_settled_ = true;  // its container comes before all others
    } else if (launched_ < state_.waiting.size()) {
      launch_next(slot);
    } else if (!state_.all_suggested() && !state_.lost_searcher() && !state_.asked_ns) {
      suggest_next();
    }
  }

  [[nodiscard]] bool front_is_promoted() const {
    return launched_ < state_.waiting.size() &&
           state_.container(state_.waiting[launched_]).step > 0;
  }

  void launch_next(SlotId slot) {
    const Container& container = state_.container(state_.waiting[launched_]);
    const auto size = static_cast<std::int64_t>(container.trials.size());
    if (!has_room_for(size)) {
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

  /// Enough for one container.
  void suggest_next() {
    const auto first = static_cast<std::int64_t>(state_.trials.size());
    decisions_.emplace_back(Suggest{.first = first,
                                    .count = std::min(most_trials_together(state_.study()),
                                                      state_.study().trials - first)});
    is_settled_ = true;
  }

  const State& state_;
  Effort& effort_;
  Decisions& decisions_;
  std::int64_t running_;
  std::size_t launched_ = 0;
  std::size_t discarded_ = 0;
  bool is_settled_ = false;  // what free slots get next is known once this is carried out
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
  // What came to a rung does not begin to wait any more.
  std::erase_if(decisions, [](const Decision& decision) {
    return std::holds_alternative<TrialPaused>(std::get<Record>(decision).body);
  });
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
        } else if constexpr (std::is_same_v<Body, worker::Extract>) {
          return {.verb = Verb::kExtract,
                  .container = body.container,
                  .trial = body.trial,
                  .path = {}};
        } else if constexpr (std::is_same_v<Body, worker::Insert>) {
          return {.verb = Verb::kInsert,
                  .container = body.container,
                  .trial = body.trial.id,
                  .path = {}};
        } else if constexpr (std::is_same_v<Body, worker::Discard>) {
          return {.verb = Verb::kDiscard, .trial = body.trial, .path = {}};
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
  if (!state.all_suggested() && state.study().suggest_ahead == SuggestAhead::kAll) {
    const auto first = static_cast<std::int64_t>(state.trials.size());
    decisions.emplace_back(Suggest{.first = first, .count = state.study().trials - first});
    return decisions;
  }
  if (std::optional<Record> lost = defeat(state)) {
    decisions.emplace_back(*std::move(lost));
    return decisions;
  }
  if (!state.unplanned.empty()) {
    std::optional<Record> beside = promote_beside(state, most_trials_together(state.study()));
    decisions.emplace_back(beside ? *std::move(beside) : plan_containers(state));
    return decisions;
  }
  SlotRound(state, effort != nullptr ? *effort : unread, decisions).decide_all();
  if (!decisions.empty() || !state.pending.empty() || state.asked_ns) {
    return decisions;
  }
  if (std::optional<Record> ended = end_waiting(state)) {
    decisions.emplace_back(*std::move(ended));
  } else {
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
