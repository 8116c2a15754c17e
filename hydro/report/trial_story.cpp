#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "hydro/base/text.h"
#include "hydro/report/results.h"
#include "hydro/tune/state.h"
#include "hydro/tune/summary.h"
#include "hydro/worker/messages.h"

namespace hydro::report {
namespace {

std::string report_line(const worker::Report& report) {
  std::vector<std::string> numbers;
  numbers.reserve(report.metrics.size());
  for (const auto& [name, value] : report.metrics) {
    numbers.push_back(fmt::format("{} {:.4g}", printable(name), value));
  }
  return fmt::format(
      "  epoch {:<6.4g} step {:<7} {}\n", report.epoch, report.step, join(numbers, ", "));
}

/// Why a trial that has not begun waits.
std::string waiting_text(const tune::State& state, const tune::Trial& trial) {
  if (!trial.container.has_value()) {
    return "waits to be packed into a container";
  }
  const auto place = std::ranges::find(state.waiting, *trial.container) - state.waiting.begin();
  return fmt::format("waits for a free core or device, number {} in line", place + 1);
}

std::string ending_text(const tune::State& state, const tune::Trial& trial) {
  if (trial.status == tune::TrialStatus::kWaiting) {
    return waiting_text(state, trial);
  }
  const std::string status(tune::trial_status_name(trial.status));
  return trial.cause.empty() ? status : status + ": " + printable(trial.cause);
}

std::string target_text(const tune::State& state, const tune::Target& target) {
  std::string text =
      fmt::format("  at full width: {}", tune::target_status_name(target.status));
  if (!target.cause.empty()) {
    text += ": " + printable(target.cause);
  }
  if (const auto value = target.reports.last(state.study().metric)) {
    text += fmt::format(", {} {:.4g}", state.study().metric, *value);
  }
  return text + (state.delivered() == &target ? ", delivered\n" : "\n");
}

}  // namespace

std::string trial_story(const tune::State& state,
                        worker::TrialId id,
                        const std::vector<Column>& columns) {
  const tune::Trial& trial = state.trial(id);
  std::string text = fmt::format("trial {} of {}\n  {}\n",
                                 static_cast<std::int64_t>(id),
                                 printable(state.study().name),
                                 config_text(trial.config.expanded(), columns));
  for (const worker::Report& report : trial.reports.expanded(id, trial.common->budget)) {
    text += report_line(report);
  }
  text += "  " + ending_text(state, trial) + "\n";
  for (const tune::Target& target : state.targets) {
    text += target.trial == id ? target_text(state, target) : "";
  }
  return text;
}

}  // namespace hydro::report
