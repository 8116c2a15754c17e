#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/search/scheduler.h"
#include "hydro/tune/container_fold.h"
#include "hydro/tune/events.h"
#include "hydro/tune/phases.h"
#include "hydro/tune/state.h"
#include "hydro/tune/trial_fold.h"
#include "hydro/worker/messages.h"

namespace hydro::tune {
namespace {

using worker::CommandId;
using worker::TrialId;
using worker::TrialKind;

/// "H0501: libtorch failed in training: index 300 is out of range", one line.
std::string cause_of(const Error& error) {
  const std::string why = error.why.substr(0, error.why.find('\n'));
  return error.id + ": " + error.what + (why.empty() ? "" : ": " + why);
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
  if (order.verb != Verb::kDiscard &&
      state.container(order.container).kind == TrialKind::kTarget) {
    return Phase::kTarget;  // what clears an earlier, failed target away
  }
  return order.verb == Verb::kLaunch || order.verb == Verb::kRun ? Phase::kSurrogates
                                                                 : Phase::kDefuse;
}

OrderNote forget_command(State& state, CommandId id) {
  const Pending pending = pending_at(state, id);
  slot_at(state, pending.slot).in_flight.reset();
  state.pending.erase(id);
  return pending.order;
}

/// The command has its answer; returns what it had ordered.
OrderNote close_command(State& state, CommandId id, std::int64_t now_ns) {
  state.phases.end(pending_at(state, id).phase, now_ns);
  return forget_command(state, id);
}

/// It has none and never will.
OrderNote lose_command(State& state, CommandId id) {
  state.phases.lose(pending_at(state, id).phase);
  return forget_command(state, id);
}

/// Of a searcher that learns, if it was asked.
void note_answer(State& state, std::int64_t now_ns) {
  if (const std::optional<std::int64_t> since = std::exchange(state.asked_ns, std::nullopt)) {
    ++state.latency.answers;
    state.latency.total_ns += now_ns - *since;
    state.latency.longest_ns = std::max(state.latency.longest_ns, now_ns - *since);
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
    state.phases = PhaseClock(opened.process_start_ns);
    state.phases.begin(Phase::kPrepare, opened.process_start_ns);
    state.counts.total = opened.settings.trials;
    state.scheduler = search::Scheduler(opened.settings.scheduler);
  }

  void operator()(const Prepared& /*prepared*/) const {
    state.prepared = true;
    state.phases.end(Phase::kPrepare, event.mono_ns);
  }

  void operator()(const SuggestionAsked& /*asked*/) const {
    HYDRO_CHECK(!state.asked_ns, "a searcher is asked one thing at a time");
    state.asked_ns = event.mono_ns;
  }

  void operator()(const TrialSuggested& suggested) const {
    note_answer(state, event.mono_ns);
    add_trial(state, suggested);
  }

  void operator()(const SuggestionsExhausted& /*exhausted*/) const {
    note_answer(state, event.mono_ns);
    state.exhausted = true;
    state.scheduler.close();
    state.counts.total = static_cast<std::int64_t>(state.trials.size());
  }

  void operator()(const ContainersPlanned& planned) const {
    for (const PlannedContainer& plan : planned.containers) {
      add_container(state, plan);
    }
  }

  void operator()(const CommandIssued& issued) const {
    HYDRO_CHECK(index_of(issued.id) == static_cast<std::size_t>(state.commands),
                "commands are numbered");
    Slot& slot = slot_at(state, issued.slot);
    HYDRO_CHECK(!slot.in_flight, "a slot carries out one command at a time");
    ++state.commands;
    slot.in_flight = issued.id;
    const Phase phase = phase_of(state, issued.order);
    state.phases.begin(phase, event.mono_ns);
    state.pending[issued.id] = {
        .slot = issued.slot, .order = issued.order, .phase = phase, .since_ns = event.mono_ns};
    if (issued.order.verb == Verb::kLaunch) {
      bind(state, container_at(state, issued.order.container), issued.slot, event.mono_ns);
    } else if (issued.order.verb == Verb::kRun) {
      container_at(state, issued.order.container).status = ContainerStatus::kRunning;
    } else if (issued.order.verb == Verb::kDiscard) {
      state.left_over.erase(issued.order.trial);
    }
  }

  void operator()(const Reported& reported) const {
    const OrderNote& order = pending_at(state, reported.command).order;
    const Container& container = container_at(state, order.container);
    if (container.kind == TrialKind::kTarget) {
      current_target(state).reports.add(reported.report, state.names);
    } else {
      report_of(state, reported.report, event.mono_ns);
    }
  }

  void operator()(const TrialDiverged& diverged) const {
    const OrderNote& order = pending_at(state, diverged.command).order;
    Container& container = container_at(state, order.container);
    std::erase(container.live, diverged.trial);
    if (container.kind == TrialKind::kTarget) {
      current_target(state).cause = diverged.cause;
    } else {
      container.leaving.push_back(diverged.trial);
      end_trial(state, diverged.trial, TrialStatus::kFailed, diverged.cause, event.mono_ns);
      trial_at(state, diverged.trial).diverged_at = diverged.step;
    }
  }

  void operator()(const CommandDone& done) const {
    const OrderNote order = close_command(state, done.command, event.mono_ns);
    if (order.verb == Verb::kDiscard) {
      return;  // it is about no container
    }
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
      case Verb::kExtract:
        trial_at(state, order.trial).extracted = true;
        std::erase(container.leaving, order.trial);
        park_if_done(state, container);
        break;
      case Verb::kDrop:
        std::erase(container.leaving, order.trial);
        break;
      case Verb::kInsert:
      case Verb::kDiscard:
        break;
    }
  }

  void operator()(const CommandStopped& stopped) const {
    const OrderNote order = close_command(state, stopped.command, event.mono_ns);
    if (order.verb == Verb::kDiscard) {
      return;  // it is about no container
    }
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
    lose_all(state, order, TrialStatus::kFailed, cause_of(failed.error), event.mono_ns);
  }

  void operator()(const CommandLost& lost) const {
    const OrderNote order = lose_command(state, lost.command);
    lose_all(state, order, TrialStatus::kInterrupted, "the process died", event.mono_ns);
  }

  void operator()(const TrialFinished& finished) const {
    end_trial(state, finished.trial, TrialStatus::kFinished, {}, event.mono_ns);
    take_out(state, finished.trial);
  }

  void operator()(const TrialStopped& stopped) const {
    const Trial& trial = state.trial(stopped.trial);
    const bool trains = trial.status == TrialStatus::kRunning;
    end_trial(state, stopped.trial, TrialStatus::kStopped, stopped.cause, event.mono_ns);
    if (trains) {
      take_out(state, stopped.trial);
    } else if (!trial.extracted) {
      park_if_done(state, container_at(state, container_of(trial)));
    }
  }

  void operator()(const TrialPaused& paused) const {
    pause_trial(state, paused.trial, paused.cause, event.mono_ns);
    take_out(state, paused.trial);
  }

  void operator()(const TrialPromoted& promoted) const {
    promote_trial(state, promoted.trial, promoted.cause);
  }

  void operator()(const TrialFailed& failed) const {
    end_trial(state, failed.trial, TrialStatus::kFailed, failed.cause, event.mono_ns);
    take_out(state, failed.trial);
  }

  void operator()(const TargetStarted& started) const {
    Target target;
    target.trial = started.trial;
    target.container = started.container;
    target.full_width =
        index_of(started.container) == static_cast<std::size_t>(state.planned_containers);
    if (target.full_width) {
      new_container(state,
                    {.id = started.container,
                     .kind = TrialKind::kTarget,
                     .trials = {started.trial},
                     .live = {started.trial},
                     .leaving = {}});
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
    state.asked_ns.reset();
    state.searcher_failures = failed.attempt;
    state.searcher_cause = failed.cause;
    if (state.lost_searcher()) {
      state.scheduler.close();
    }
  }

  void operator()(const StopRequested& /*requested*/) const { state.stop_requested = true; }

  void operator()(const StudyClosed& closed) const {
    state.closed = closed;
    for (const TrialId id : std::vector(state.paused.begin(), state.paused.end())) {
      end_trial(state, id, TrialStatus::kInterrupted, "the study stopped", event.mono_ns);
    }
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
