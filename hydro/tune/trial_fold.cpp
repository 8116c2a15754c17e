#include "hydro/tune/trial_fold.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

#include "hydro/base/result.h"
#include "hydro/search/scheduler.h"
#include "hydro/search/stop_rules.h"
#include "hydro/search/verdict.h"
#include "hydro/tune/events.h"
#include "hydro/tune/judge.h"
#include "hydro/tune/state.h"
#include "hydro/worker/messages.h"
#include "hydro/worker/settings.h"

namespace hydro::tune {
namespace {

using worker::TrialId;

std::int64_t number(TrialId id) {
  return static_cast<std::int64_t>(id);
}

/// Smaller is better.
double loss_of(const State& state, double value) {
  return state.study().mode == Mode::kMax ? -value : value;
}

/// With rules every evaluation may be a trial's last.
std::int64_t next_milestone(const State& state, const Trial& trial, std::int64_t evaluation) {
  const worker::Budget& budget = trial.common->budget;
  const std::int64_t rung =
      step_of(state.study(), budget, state.scheduler.milestone(number(trial.id)));
  const bool to_the_end = state.study().scheduler.kind == search::SchedulerKind::kFifo;
  const std::int64_t next = to_the_end ? end_of(state.study(), budget) : rung;
  return state.study().stop.is_empty()
             ? next
             : std::min(next, step_of(state.study(), budget, evaluation + 1));
}

/// What follows from a trial's last report, as soon as its container stands still.
void judge(const State& state,
           Trial& trial,
           const worker::Report& report,
           const search::Verdict& verdict,
           std::int64_t now_ns) {
  constexpr double kNanosecond = 1e-9;
  const search::Progress progress{
      .metrics = report.metrics,
      .seconds = static_cast<double>(trained_ns(trial, now_ns)) * kNanosecond};
  if (const std::optional<std::string> why = search::broken(state.study().stop, progress)) {
    trial.judgement = search::Fate::kStop;
    trial.cause = "stop rule: " + *why;
  } else if (verdict.fate != search::Fate::kContinue) {
    trial.judgement = verdict.fate;
    trial.cause = reason_of(verdict, state.study().mode);
  }
}

/// Of an ended trial. One that used up its training came to the highest rung.
std::int64_t rung_of(const State& state, TrialId id, TrialStatus status) {
  const search::SchedulerSettings& settings = state.study().scheduler;
  const bool has_rungs = settings.kind == search::SchedulerKind::kAsha ||
                         settings.kind == search::SchedulerKind::kHyperband;
  if (!has_rungs) {
    return 0;
  }
  return status == TrialStatus::kFinished ? settings.max_t : state.scheduler.rung(number(id));
}

void rank_trial(State& state, TrialId id, std::int64_t rung) {
  const std::optional<double> value = trial_at(state, id).reports.last(state.study().metric);
  HYDRO_CHECK(value && std::isfinite(*value), "a trial that is ranked has a finite value");
  state.ranking.insert({.minus_rung = -rung, .loss = loss_of(state, *value), .trial = id});
  // One more than can have become targets: there is always a next best.
  if (state.ranking.size() > kTargetAttempts + 1) {
    state.ranking.erase(std::prev(state.ranking.end()));
  }
}

std::int64_t& count_of(Counts& counts, TrialStatus status) {
  switch (status) {
    case TrialStatus::kFinished:
      return counts.finished;
    case TrialStatus::kStopped:
      return counts.stopped;
    case TrialStatus::kFailed:
      return counts.failed;
    case TrialStatus::kInterrupted:
      return counts.interrupted;
    case TrialStatus::kRunning:
      return counts.running;
    case TrialStatus::kPaused:
      return counts.paused;
    case TrialStatus::kWaiting:
      break;
  }
  HYDRO_CHECK(false, "waiting trials are not counted");
}

void change_status(State& state, TrialId id, TrialStatus status, std::int64_t now_ns) {
  Trial& trial = trial_at(state, id);
  if (trial.status != TrialStatus::kWaiting) {
    --count_of(state.counts, trial.status);
  }
  if (status == TrialStatus::kRunning) {
    trial.begin_ns = now_ns;
  } else {
    trial.trained_ns = trained_ns(trial, now_ns);
  }
  trial.status = status;
  if (status != TrialStatus::kWaiting) {
    ++count_of(state.counts, status);
  }
}

}  // namespace

Trial& trial_at(State& state, TrialId id) {
  const auto index = static_cast<std::size_t>(id);
  HYDRO_CHECK(index < state.trials.size(), "trial " + std::to_string(index));
  return state.trials[index];
}

void add_trial(State& state, const TrialSuggested& suggested) {
  HYDRO_CHECK(static_cast<std::size_t>(suggested.id) == state.trials.size(),
              "trials are numbered without gaps");
  state.trials.emplace_back();
  Trial& trial = state.trials.back();
  trial.id = suggested.id;
  trial.common = state.commons.keep({.model = suggested.model,
                                     .target_model = suggested.target_model,
                                     .batch_size = suggested.batch_size,
                                     .budget = suggested.budget,
                                     .cost_per_sample = suggested.cost_per_sample});
  trial.config = CompactConfig(suggested.config, state.names);
  trial.settings = suggested.settings;
  state.searcher_failures = 0;
  state.scheduler.add();
  if (state.all_suggested()) {
    state.scheduler.close();
  }
  trial.milestone = next_milestone(state, trial, 0);
  state.unplanned.insert(suggested.id);
}

void start_trial(State& state, TrialId id, std::int64_t now_ns) {
  change_status(state, id, TrialStatus::kRunning, now_ns);
  trial_at(state, id).extracted = false;
}

void report_of(State& state, const worker::Report& report, std::int64_t now_ns) {
  Trial& trial = trial_at(state, report.trial);
  trial.reports.add(report, state.names);
  if (fault_of(trial.reports, state.study().metric)) {
    return;  // it fails where it is due, and counts in no rung
  }
  const worker::Budget& budget = trial.common->budget;
  const std::int64_t evaluation = worker::evaluation_at(budget, report.step);
  const double value = -loss_of(state, report.metrics.at(state.study().metric));
  const search::Verdict verdict =
      state.scheduler.report(number(report.trial), evaluation, value);
  if (report.step >= end_of(state.study(), budget)) {
    return;
  }
  judge(state, trial, report, verdict, now_ns);
  trial.milestone = trial.judgement ? report.step : next_milestone(state, trial, evaluation);
}

void end_trial(
    State& state, TrialId id, TrialStatus status, std::string cause, std::int64_t now_ns) {
  Trial& trial = trial_at(state, id);
  HYDRO_CHECK(trial.status == TrialStatus::kRunning || trial.status == TrialStatus::kPaused,
              "trial " + std::to_string(number(id)) + " does not run");
  state.paused.erase(id);
  if (trial.extracted) {
    state.left_over.insert(id);
  }
  change_status(state, id, status, now_ns);
  trial.cause = std::move(cause);
  trial.judgement.reset();
  trial.reports.close();
  if (status == TrialStatus::kFinished || status == TrialStatus::kStopped) {
    const std::int64_t rung = rung_of(state, id, status);
    rank_trial(state, id, rung);
    if (status == TrialStatus::kStopped) {
      ++state.stopped_at[rung];
    }
  }
  state.scheduler.remove(number(id));
}

void pause_trial(State& state, TrialId id, std::string cause, std::int64_t now_ns) {
  Trial& trial = trial_at(state, id);
  HYDRO_CHECK(trial.status == TrialStatus::kRunning, "only what runs can be paused");
  change_status(state, id, TrialStatus::kPaused, now_ns);
  trial.cause = std::move(cause);
  trial.judgement.reset();
  trial.step = trial.milestone;
  state.paused.insert(id);
}

void promote_trial(State& state, TrialId id, std::string cause) {
  const std::optional<search::Move> move = state.scheduler.next();
  HYDRO_CHECK(
      move && move->trial == number(id) && move->verdict.fate == search::Fate::kContinue,
      "the scheduler promotes another trial");
  Trial& trial = trial_at(state, id);
  HYDRO_CHECK(trial.status == TrialStatus::kPaused && trial.extracted,
              "only a trial whose state waits is promoted");
  state.scheduler.make(*move);
  state.paused.erase(id);
  change_status(state, id, TrialStatus::kWaiting, trial.begin_ns);
  trial.cause = std::move(cause);
  trial.milestone =
      next_milestone(state, trial, worker::evaluation_at(trial.common->budget, trial.step));
  trial.container.reset();
  state.unplanned.insert(id);
}

}  // namespace hydro::tune
