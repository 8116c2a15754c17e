#include "hydro/tune/summary.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "hydro/base/result.h"
#include "hydro/tune/compact.h"
#include "hydro/tune/event_fields.h"
#include "hydro/tune/events.h"
#include "hydro/tune/phases.h"
#include "hydro/tune/settings_fields.h"
#include "hydro/tune/state.h"
#include "hydro/worker/messages.h"
#include "hydro/worker/settings.h"

namespace hydro::tune {
namespace {

constexpr EnumList<TrialStatus, 7> kTrialStatuses = {
    {{{TrialStatus::kWaiting, "waiting"},
      {TrialStatus::kRunning, "running"},
      {TrialStatus::kPaused, "paused"},
      {TrialStatus::kFinished, "finished"},
      {TrialStatus::kStopped, "stopped"},
      {TrialStatus::kFailed, "failed"},
      {TrialStatus::kInterrupted, "interrupted"}}}};
constexpr EnumList<TargetStatus, 4> kTargetStatuses = {
    {{{TargetStatus::kRunning, "running"},
      {TargetStatus::kFinished, "finished"},
      {TargetStatus::kFailed, "failed"},
      {TargetStatus::kInterrupted, "interrupted"}}}};

double epochs_of(const Reports& reports, const worker::Budget& budget) {
  return reports.empty() ? 0 : worker::epoch_at(budget, reports.last_step());
}

TrialRow row_of(const State& state, const Trial& trial) {
  constexpr double kNanosecond = 1e-9;
  return {.id = trial.id,
          .status = trial.status,
          .reason = trial.cause,
          .config = trial.config.expanded(),
          .value = trial.reports.last(state.study().metric),
          .epochs = epochs_of(trial.reports, trial.common->budget),
          .seconds = static_cast<double>(trained_ns(trial, state.last_ns)) * kNanosecond};
}

/// "val_accuracy" -> "test_accuracy"; a metric of another split has no counterpart.
std::string test_name(const std::string& metric) {
  constexpr std::string_view kValidation = "val_";
  return metric.starts_with(kValidation) ? "test_" + metric.substr(kValidation.size())
                                         : std::string();
}

TargetRow row_of(const State& state, const Target& target) {
  const std::string& metric = state.study().metric;
  return {.trial = target.trial,
          .status = target.status,
          .reason = target.cause,
          .value = target.reports.last(metric),
          .test = target.reports.last(test_name(metric)),
          .surrogate = state.trial(target.trial).reports.last(metric),
          .epochs = epochs_of(target.reports, state.trial(target.trial).common->budget)};
}

std::vector<FailureCause> group_failures(const State& state) {
  std::map<std::string, FailureCause> by_cause;
  for (const Trial& trial : state.trials) {
    if (trial.status == TrialStatus::kFailed) {
      FailureCause& group = by_cause[trial.cause];
      if (group.count++ == 0) {
        group.cause = trial.cause;
        group.first = trial.id;
      }
    }
  }
  std::vector<FailureCause> groups;
  groups.reserve(by_cause.size());
  for (auto& [cause, group] : by_cause) {
    groups.push_back(std::move(group));
  }
  std::ranges::sort(groups, [](const FailureCause& left, const FailureCause& right) {
    return left.count != right.count ? left.count > right.count : left.first < right.first;
  });
  return groups;
}

void add_metrics(std::vector<MetricRow>& rows,
                 const Trial& trial,
                 worker::TrialKind kind,
                 const Reports& reports) {
  for (const worker::Report& report : reports.expanded(trial.id, trial.common->budget)) {
    for (const auto& [name, value] : report.metrics) {
      rows.push_back({.trial = trial.id,
                      .kind = kind,
                      .step = report.step,
                      .epoch = report.epoch,
                      .metric = name,
                      .value = value});
    }
  }
}

std::string causes_text(const State& state) {
  constexpr std::size_t kShown = 5;
  const std::vector<FailureCause> groups = group_failures(state);
  std::string text;
  for (std::size_t index = 0; index < std::min(groups.size(), kShown); ++index) {
    const FailureCause& group = groups[index];
    text += (text.empty() ? "" : "; ") + std::to_string(group.count) + " x " + group.cause +
            " (first: trial " + std::to_string(static_cast<std::int64_t>(group.first)) + ")";
  }
  return groups.size() > kShown
             ? text + "; " + std::to_string(groups.size() - kShown) + " other causes"
             : text;
}

/// A loss, gradient or metric of a failed trial was not finite.
bool has_numeric_cause(const State& state) {
  return std::ranges::any_of(state.trials, [](const Trial& trial) {
    return trial.status == TrialStatus::kFailed &&
           (trial.diverged_at || (!trial.reports.empty() && trial.reports.broken_metric()));
  });
}

std::string what_ended(const Counts& counts) {
  return std::to_string(counts.finished) + " of " + std::to_string(counts.total) +
         " trials finished, " +
         (counts.stopped > 0 ? std::to_string(counts.stopped) + " stopped, " : "") +
         std::to_string(counts.failed) + " failed";
}

/// The catalogue's remedy is about losses that turn NaN; others want their own.
Error no_trial_error(const State& state, const std::string& id) {
  Error error = make_error(id, "no trial succeeded: " + what_ended(state.counts))
                    .because(causes_text(state));
  if (state.counts.total == 0) {
    return std::move(error)
        .because("the searcher ended without suggesting a configuration")
        .fix("mend the searcher, or use `search: random`");
  }
  return has_numeric_cause(state)
             ? error
             : std::move(error).fix(
                   "mend the causes named above; `hydro show` has each trial's");
}

std::string target_causes(const State& state) {
  std::string text;
  for (const Target& target : state.targets) {
    text += (text.empty() ? "" : "; ") + std::string("trial ") +
            std::to_string(static_cast<std::int64_t>(target.trial)) + ": " + target.cause;
  }
  return text;
}

}  // namespace

std::string_view trial_status_name(TrialStatus status) {
  return kTrialStatuses.text(status);
}

std::string_view target_status_name(TargetStatus status) {
  return kTargetStatuses.text(status);
}

std::string_view mode_name(Mode mode) {
  return EnumText<Mode>::text(mode);
}

std::vector<TrialRow> trial_rows(const State& state) {
  std::vector<TrialRow> rows;
  rows.reserve(state.trials.size());
  for (const Trial& trial : state.trials) {
    rows.push_back(row_of(state, trial));
  }
  return rows;
}

std::vector<MetricRow> metric_rows(const State& state) {
  std::vector<MetricRow> rows;
  for (const Trial& trial : state.trials) {
    add_metrics(rows, trial, worker::TrialKind::kSurrogate, trial.reports);
  }
  for (const Target& target : state.targets) {
    if (target.full_width) {
      add_metrics(rows, state.trial(target.trial), worker::TrialKind::kTarget, target.reports);
    }
  }
  return rows;
}

Summary summarize(const State& state) {
  HYDRO_CHECK(state.settings.has_value(), "the study is not open");
  Summary summary{.study = state.study().name,
                  .state = state.closed
                               ? std::string(EnumText<Outcome>::text(state.closed->outcome))
                               : "running",
                  .metric = state.study().metric,
                  .mode = state.study().mode,
                  .scaling = state.study().scaling,
                  .best = {},
                  .target = {},
                  .targets = {},
                  .counts = state.counts,
                  .stopped_at = state.stopped_at,
                  .failures = group_failures(state),
                  .latency = state.latency,
                  .phases = state.phases.seconds(state.last_ns)};
  if (const auto best = state.best()) {
    summary.best = row_of(state, state.trial(*best));
  }
  for (const Target& target : state.targets) {
    summary.targets.push_back(row_of(state, target));
  }
  if (const Target* delivered = state.delivered(); delivered != nullptr) {
    summary.target = row_of(state, *delivered);
  }
  return summary;
}

std::string latency_text(const Latency& latency) {
  constexpr double kNanosecond = 1e-9;
  return fmt::format("{} answers in {:.3g} s, the longest {:.3g} s",
                     latency.answers,
                     static_cast<double>(latency.total_ns) * kNanosecond,
                     static_cast<double>(latency.longest_ns) * kNanosecond);
}

std::optional<Error> study_error(const State& state) {
  if (!state.closed || state.closed->outcome == Outcome::kFinished) {
    return std::nullopt;
  }
  if (state.export_error) {
    return state.export_error;
  }
  const std::string kept = "every event in study.db, trials.csv and metrics.csv";
  if (state.closed->outcome == Outcome::kInterrupted) {
    return make_error(state.closed->error, "the study was stopped: " + what_ended(state.counts))
        .because(state.closed->cause)
        .keeping(kept);
  }
  if (state.targets.empty()) {
    return no_trial_error(state, state.closed->error).keeping(kept);
  }
  return make_error(state.closed->error,
                    "no target could be trained in " + std::to_string(state.targets.size()) +
                        (state.targets.size() == 1 ? " attempt" : " attempts"))
      .because(target_causes(state))
      .keeping(kept + ", without best/");
}

}  // namespace hydro::tune
