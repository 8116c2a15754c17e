#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/tune/events.h"
#include "hydro/tune/phases.h"
#include "hydro/tune/state.h"
#include "hydro/worker/messages.h"

namespace hydro::tune {
namespace {

using worker::CommandId;
using worker::ContainerId;
using worker::SlotId;
using worker::TrialId;
using worker::TrialKind;

template <class Id>
std::size_t index_of(Id id) {
  return static_cast<std::size_t>(id);
}

// Small mutable doors to the state; each checks what its event promised.

Trial& trial_at(State& state, TrialId id) {
  HYDRO_CHECK(index_of(id) < state.trials.size(), "trial " + std::to_string(index_of(id)));
  return state.trials[index_of(id)];
}

Container& container_at(State& state, ContainerId id) {
  HYDRO_CHECK(index_of(id) < state.containers.size(),
              "container " + std::to_string(index_of(id)));
  return state.containers[index_of(id)];
}

Slot& slot_at(State& state, SlotId id) {
  HYDRO_CHECK(index_of(id) < state.slots.size(), "slot " + std::to_string(index_of(id)));
  return state.slots[index_of(id)];
}

Target& current_target(State& state) {
  HYDRO_CHECK(!state.targets.empty(), "no target was started");
  return state.targets.back();
}

const Pending& pending_at(const State& state, CommandId id) {
  const auto found = state.pending.find(id);
  HYDRO_CHECK(found != state.pending.end(),
              "command " + std::to_string(index_of(id)) + " is not open");
  return found->second;
}

Phase phase_of(const State& state, const OrderNote& order) {
  if (!state.targets.empty() && state.targets.back().container == order.container) {
    return Phase::kTarget;
  }
  if (state.containers[index_of(order.container)].kind == TrialKind::kTarget) {
    return Phase::kTarget;  // what clears an earlier, failed target away
  }
  return order.verb == Verb::kLaunch || order.verb == Verb::kRun ? Phase::kSurrogates
                                                                 : Phase::kDefuse;
}

/// The command has its answer; returns what it had ordered.
OrderNote close_command(State& state, CommandId id, std::int64_t now_ns) {
  const Pending pending = pending_at(state, id);
  state.intervals.push_back({.phase = phase_of(state, pending.order),
                             .begin_ns = pending.since_ns,
                             .end_ns = now_ns});
  slot_at(state, pending.slot).in_flight.reset();
  state.pending.erase(id);
  return pending.order;
}

void leave_slot(State& state, const Container& container) {
  Slot& slot = slot_at(state, container.slot);
  if (slot.active == container.id) {
    slot.active.reset();
  }
}

/// A container whose trials have all ended waits for its end, and its slot takes the next.
void park_if_done(State& state, Container& container) {
  if (container.live.empty() && container.status == ContainerStatus::kIdle) {
    state.parked.insert(container.id);
    leave_slot(state, container);
  }
}

void lose_container(State& state, Container& container) {
  container.status = ContainerStatus::kDissolved;
  container.live.clear();
  state.parked.erase(container.id);
  leave_slot(state, container);
}

void end_trial(State& state, TrialId id, TrialStatus status, std::int64_t now_ns) {
  Trial& trial = trial_at(state, id);
  HYDRO_CHECK(trial.status == TrialStatus::kRunning,
              "trial " + std::to_string(index_of(id)) + " does not run");
  trial.status = status;
  trial.end_ns = now_ns;
  --state.counts.running;
  state.counts.finished += status == TrialStatus::kFinished ? 1 : 0;
  state.counts.failed += status == TrialStatus::kFailed ? 1 : 0;
  state.counts.interrupted += status == TrialStatus::kInterrupted ? 1 : 0;
}

void fail_trial(State& state, TrialId id, std::string cause, std::int64_t now_ns) {
  end_trial(state, id, TrialStatus::kFailed, now_ns);
  trial_at(state, id).cause = std::move(cause);
}

void take_out(State& state, TrialId id) {
  Container& container = container_at(state, container_of(trial_at(state, id)));
  std::erase(container.live, id);
  park_if_done(state, container);
}

/// All trials of the container that had not ended get `status`; a target keeps the cause for
/// its verdict.
void end_live(State& state,
              const Container& container,
              TrialStatus status,
              const std::string& cause,
              std::int64_t now_ns) {
  if (container.kind == TrialKind::kTarget) {
    Target& target = current_target(state);
    target.cause = cause;
    if (status == TrialStatus::kInterrupted) {
      target.status = TargetStatus::kInterrupted;
    }
    return;
  }
  for (const TrialId id : container.live) {
    end_trial(state, id, status, now_ns);
    trial_at(state, id).cause = cause;
  }
}

/// Its container is cleared away when another target follows.
void end_target(State& state, TargetStatus status) {
  Target& target = current_target(state);
  target.status = status;
  Container& container = container_at(state, target.container);
  container.live.clear();
  park_if_done(state, container);
}

void bind(State& state, Container& container, SlotId slot, std::int64_t now_ns) {
  HYDRO_CHECK(container.status == ContainerStatus::kPlanned, "a container is launched once");
  container.status = ContainerStatus::kBound;
  container.slot = slot;
  if (container.kind == TrialKind::kTarget) {
    return;
  }
  HYDRO_CHECK(!state.waiting.empty(), "no container waits");
  HYDRO_CHECK(state.waiting.front() == container.id, "containers start in order");
  state.waiting.pop_front();
  slot_at(state, slot).active = container.id;
  for (const TrialId id : container.trials) {
    Trial& trial = trial_at(state, id);
    trial.status = TrialStatus::kRunning;
    trial.begin_ns = now_ns;
    ++state.counts.running;
  }
}

/// One fold an event type.
struct Fold {
  State& state;
  const Event& event;

  void operator()(const StudyOpened& opened) const {
    HYDRO_CHECK(!state.settings, "a study is opened once");
    HYDRO_CHECK(opened.settings.slots >= 1, "a study needs a slot");
    state.settings = opened.settings;
    state.slots.resize(static_cast<std::size_t>(opened.settings.slots));
    state.begin_ns = opened.process_start_ns;
    state.counts.total = opened.settings.trials;
  }

  void operator()(const Prepared& /*prepared*/) const {
    state.prepared = true;
    state.intervals.push_back(
        {.phase = Phase::kPrepare, .begin_ns = state.begin_ns, .end_ns = event.mono_ns});
  }

  void operator()(const TrialSuggested& suggested) const {
    HYDRO_CHECK(index_of(suggested.id) == state.trials.size(),
                "trials are numbered without gaps");
    state.trials.emplace_back();
    state.trials.back().suggestion = suggested;
    state.searcher_failures = 0;
    ++state.unplanned;
  }

  void operator()(const SuggestionsExhausted& /*exhausted*/) const {
    state.exhausted = true;
    state.counts.total = static_cast<std::int64_t>(state.trials.size());
  }

  void operator()(const ContainersPlanned& planned) const {
    for (const PlannedContainer& plan : planned.containers) {
      HYDRO_CHECK(index_of(plan.id) == state.containers.size(),
                  "containers are numbered without gaps");
      state.containers.push_back({.id = plan.id, .trials = plan.trials, .live = plan.trials});
      state.waiting.push_back(plan.id);
      for (const TrialId id : plan.trials) {
        HYDRO_CHECK(!trial_at(state, id).container, "a trial is in one container");
        trial_at(state, id).container = plan.id;
        --state.unplanned;
      }
    }
  }

  void operator()(const CommandIssued& issued) const {
    HYDRO_CHECK(index_of(issued.id) == static_cast<std::size_t>(state.commands),
                "commands are numbered");
    Slot& slot = slot_at(state, issued.slot);
    HYDRO_CHECK(!slot.in_flight, "a slot carries out one command at a time");
    ++state.commands;
    slot.in_flight = issued.id;
    state.pending[issued.id] = {
        .slot = issued.slot, .order = issued.order, .since_ns = event.mono_ns};
    Container& container = container_at(state, issued.order.container);
    if (issued.order.verb == Verb::kLaunch) {
      bind(state, container, issued.slot, event.mono_ns);
    } else if (issued.order.verb == Verb::kRun) {
      container.status = ContainerStatus::kRunning;
    }
  }

  void operator()(const Reported& reported) const {
    const OrderNote& order = pending_at(state, reported.command).order;
    const Container& container = container_at(state, order.container);
    if (container.kind == TrialKind::kTarget) {
      current_target(state).reports.push_back(reported.report);
    } else {
      trial_at(state, reported.report.trial).reports.push_back(reported.report);
    }
  }

  void operator()(const TrialDiverged& diverged) const {
    const OrderNote& order = pending_at(state, diverged.command).order;
    Container& container = container_at(state, order.container);
    std::erase(container.live, diverged.trial);
    if (container.kind == TrialKind::kTarget) {
      current_target(state).cause = diverged.cause;
    } else {
      fail_trial(state, diverged.trial, diverged.cause, event.mono_ns);
    }
  }

  void operator()(const CommandDone& done) const {
    const OrderNote order = close_command(state, done.command, event.mono_ns);
    Container& container = container_at(state, order.container);
    switch (order.verb) {
      case Verb::kLaunch:
        container.status = ContainerStatus::kIdle;
        break;
      case Verb::kRun:
        if (!container.live.empty()) {
          HYDRO_CHECK(done.step >= order.to, "a run ended early with trials alive");
        }
        container.status = ContainerStatus::kIdle;
        container.step = done.step;
        park_if_done(state, container);
        break;
      case Verb::kDissolve:
        lose_container(state, container);
        break;
      case Verb::kExport:
        current_target(state).exported = true;
        break;
      case Verb::kDrop:
        break;
    }
  }

  void operator()(const CommandStopped& stopped) const {
    const OrderNote order = close_command(state, stopped.command, event.mono_ns);
    Container& container = container_at(state, order.container);
    container.status = ContainerStatus::kIdle;
    container.step = std::max(container.step, stopped.step);
    park_if_done(state, container);
  }

  void operator()(const CommandFailed& failed) const {
    const OrderNote order = close_command(state, failed.command, event.mono_ns);
    if (order.verb == Verb::kExport) {
      state.export_error = failed.error;
    }
    Container& container = container_at(state, order.container);
    end_live(state,
             container,
             TrialStatus::kFailed,
             failed.error.id + ": " + failed.error.what,
             event.mono_ns);
    lose_container(state, container);
  }

  void operator()(const CommandLost& lost) const {
    const OrderNote order =
        close_command(state, lost.command, pending_at(state, lost.command).since_ns);
    Container& container = container_at(state, order.container);
    end_live(state, container, TrialStatus::kInterrupted, "the process died", event.mono_ns);
    lose_container(state, container);
  }

  void operator()(const TrialFinished& finished) const {
    end_trial(state, finished.trial, TrialStatus::kFinished, event.mono_ns);
    const std::optional<double> value =
        value_of(trial_at(state, finished.trial).reports, state.study().metric);
    HYDRO_CHECK(value && std::isfinite(*value), "a finished trial has a finite value");
    const bool maximize = state.study().mode == Mode::kMax;
    state.ranking.emplace(maximize ? -*value : *value, finished.trial);
    take_out(state, finished.trial);
  }

  void operator()(const TrialFailed& failed) const {
    fail_trial(state, failed.trial, failed.cause, event.mono_ns);
    take_out(state, failed.trial);
  }

  void operator()(const TargetStarted& started) const {
    Target target;
    target.trial = started.trial;
    target.container = started.container;
    if (index_of(started.container) == state.containers.size()) {
      state.containers.push_back({.id = started.container,
                                  .kind = TrialKind::kTarget,
                                  .trials = {started.trial},
                                  .live = {started.trial}});
    } else {
      target.reports = trial_at(state, started.trial).reports;
    }
    state.targets.push_back(std::move(target));
  }

  void operator()(const TargetFinished& /*finished*/) const {
    end_target(state, TargetStatus::kFinished);
  }

  void operator()(const TargetFailed& failed) const {
    end_target(state, TargetStatus::kFailed);
    current_target(state).cause = failed.cause;
  }

  void operator()(const SearcherFailed& failed) const {
    HYDRO_CHECK(failed.attempt == state.searcher_failures + 1, "attempts are counted");
    state.searcher_failures = failed.attempt;
    state.searcher_cause = failed.cause;
  }

  void operator()(const StopRequested& /*requested*/) const { state.stop_requested = true; }

  void operator()(const StudyClosed& closed) const {
    state.closed = closed;
    for (const Slot& slot : state.slots) {
      if (slot.active) {
        end_live(state,
                 container_at(state, *slot.active),
                 TrialStatus::kInterrupted,
                 "the study stopped",
                 event.mono_ns);
      }
    }
    if (!state.targets.empty() && state.targets.back().status == TargetStatus::kRunning) {
      const bool interrupted = state.stop_requested || closed.outcome == Outcome::kInterrupted;
      state.targets.back().status =
          interrupted ? TargetStatus::kInterrupted : TargetStatus::kFailed;
    }
  }
};

}  // namespace

void apply(State& state, const Event& event) {
  HYDRO_CHECK(event.seq == state.last_seq + 1,
              "event " + std::to_string(event.seq) + " is out of order");
  HYDRO_CHECK(state.settings || std::holds_alternative<StudyOpened>(event.body),
              "the study is not open");
  HYDRO_CHECK(!state.closed, "the study is closed");
  state.last_seq = event.seq;
  state.last_ns = event.mono_ns;
  std::visit(Fold{.state = state, .event = event}, event.body);
}

}  // namespace hydro::tune
