#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "hydro/base/text.h"
#include "hydro/report/results.h"
#include "hydro/tune/phases.h"
#include "hydro/tune/state.h"
#include "hydro/tune/summary.h"

namespace hydro::report {
namespace {

constexpr std::string_view kWeights = "best/model.safetensors";

std::string value_text(const std::optional<double>& value) {
  return value.has_value() ? fmt::format("{:.4g}", *value) : "none";
}

std::string phases_text(const tune::PhaseSeconds& phases) {
  std::string text = fmt::format("{:.1f} s: prepare {:.1f}, surrogates {:.1f}, target {:.1f}",
                                 phases.makespan,
                                 phases.prepare,
                                 phases.surrogates,
                                 phases.target);
  const std::pair<const char*, double> others[] = {{"profile", phases.profile},
                                                   {"defuse", phases.defuse},
                                                   {"overlap", phases.overlap},
                                                   {"idle", phases.idle}};
  for (const auto& [name, seconds] : others) {
    constexpr double kWorthSaying = 0.05;
    if (seconds >= kWorthSaying) {
      text += fmt::format(", {} {:.1f}", name, seconds);
    }
  }
  return text;
}

std::string trials_text(const tune::Summary& summary) {
  const tune::Counts& counts = summary.counts;
  std::string text = fmt::format("{} of {} finished", counts.finished, counts.total);
  if (counts.stopped > 0) {
    text += fmt::format(", {} stopped{}", counts.stopped, rungs_text(summary.stopped_at));
  }
  if (counts.paused > 0) {
    text += fmt::format(", {} paused", counts.paused);
  }
  if (counts.failed > 0) {
    text += fmt::format(", {} failed", counts.failed);
  }
  if (counts.interrupted > 0) {
    text += fmt::format(", {} interrupted", counts.interrupted);
  }
  return text;
}

/// What became of a target that is not the answer.
std::string undelivered_text(const tune::TargetRow& row, const tune::Summary& summary) {
  const auto trial = static_cast<std::int64_t>(row.trial);
  if (row.status == tune::TargetStatus::kFailed) {
    return fmt::format("target of trial {} failed: {}", trial, row.reason);
  }
  if (row.status == tune::TargetStatus::kInterrupted) {
    return fmt::format(
        "target of trial {} was interrupted after {:.3g} epochs, nothing is kept of it",
        trial,
        row.epochs);
  }
  if (row.status == tune::TargetStatus::kFinished &&
      (!summary.target.has_value() || summary.target->trial != row.trial)) {
    return fmt::format("target of trial {}: {} (surrogate {}), not delivered",
                       trial,
                       value_text(row.value),
                       value_text(row.surrogate));
  }
  return {};
}

/// Names the trial only where that is not the best one of the search.
std::string target_text(const tune::TargetRow& target, const tune::Summary& summary) {
  const bool is_best = summary.best.has_value() && summary.best->id == target.trial;
  std::string text =
      is_best ? "" : fmt::format("trial {}: ", static_cast<std::int64_t>(target.trial));
  text += fmt::format("{} {}", summary.metric, value_text(target.value));
  if (summary.scaling > 1) {
    text += fmt::format(" (surrogate {})", value_text(target.surrogate));
  }
  if (target.test.has_value()) {
    text += fmt::format(", test {}", value_text(target.test));
  }
  return text;
}

/// The value stands here only when no target has one.
std::string best_text(const tune::TrialRow& best,
                      const tune::Summary& summary,
                      const std::vector<Column>& columns) {
  const std::string value =
      summary.target.has_value()
          ? ""
          : fmt::format(" ({} {})", summary.metric, value_text(best.value));
  return fmt::format("trial {}{}: {}",
                     static_cast<std::int64_t>(best.id),
                     value,
                     config_text(best.config, columns));
}

void add_line(std::string& text, const char* label, const std::string& rest) {
  text += fmt::format("{:<10} {}\n", label, rest);
}

/// All but where the weights are.
std::string results_text(const tune::Summary& summary, const std::vector<Column>& columns) {
  std::string text;
  add_line(text, "study", printable(summary.study) + ": " + summary.state);
  add_line(text, "trials", trials_text(summary));
  for (const tune::FailureCause& failure : summary.failures) {
    add_line(text,
             "",
             fmt::format("{} failed: {} (first: trial {})",
                         failure.count,
                         failure.cause,
                         static_cast<std::int64_t>(failure.first)));
  }
  for (const tune::TargetRow& row : summary.targets) {
    if (const std::string note = undelivered_text(row, summary); !note.empty()) {
      add_line(text, "", note);
    }
  }
  if (summary.best.has_value()) {
    add_line(text, "best", best_text(*summary.best, summary, columns));
  }
  if (summary.target.has_value()) {
    add_line(text, "target", target_text(*summary.target, summary));
  }
  if (summary.latency.answers > 0) {
    add_line(text, "searcher", tune::latency_text(summary.latency));
  }
  add_line(text, "makespan", phases_text(summary.phases));
  return text;
}

std::string weights_text(const tune::Summary& summary, const std::string& folder) {
  std::string text;
  if (summary.target.has_value()) {
    add_line(text, "weights", folder + "/" + std::string(kWeights));
  }
  return text;
}

}  // namespace

std::string rungs_text(const std::map<std::int64_t, std::int64_t>& stopped_at) {
  std::string text;
  for (const auto& [rung, count] : stopped_at) {
    if (rung > 0) {
      text += fmt::format("{}{} at rung {}", text.empty() ? " (" : ", ", count, rung);
    }
  }
  return text.empty() ? text : text + ")";
}

std::string summary_text(const tune::Summary& summary,
                         const std::vector<Column>& columns,
                         const std::string& folder) {
  return results_text(summary, columns) + weights_text(summary, folder);
}

std::string show_text(const Shown& shown, const std::string& folder) {
  std::string text = results_text(shown.summary, shown.columns);
  if (std::ranges::find(shown.lost, kWeights) == shown.lost.end()) {
    text += weights_text(shown.summary, folder);
  }
  if (!shown.lost.empty()) {
    add_line(text, "lost", join(shown.lost, ", ") + ": missing or not readable");
  }
  text += fmt::format("\n{:>5}  {:<11}  {:>10}  {:>6}  {:>8}  {}\n",
                      "trial",
                      "state",
                      "value",
                      "epochs",
                      "seconds",
                      "hyperparameters");
  std::int64_t waiting = 0;  // nothing to tell but their number
  for (const tune::TrialRow& row : shown.trials) {
    if (row.status == tune::TrialStatus::kWaiting) {
      ++waiting;
      continue;
    }
    text += fmt::format("{:>5}  {:<11}  {:>10}  {:>6}  {:>8.1f}  {}{}\n",
                        static_cast<std::int64_t>(row.id),
                        tune::trial_status_name(row.status),
                        value_text(row.value),
                        plain_number(row.epochs),
                        row.seconds,
                        config_text(row.config, shown.columns),
                        row.reason.empty() ? "" : " (" + row.reason + ")");
  }
  if (waiting > 0) {
    text += fmt::format("{:>5}  {} waiting\n", "...", waiting);
  }
  return text;
}

}  // namespace hydro::report
