#include "hydro/tune/judge.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include <fmt/core.h>

#include "hydro/search/scheduler.h"
#include "hydro/search/verdict.h"
#include "hydro/tune/compact.h"
#include "hydro/tune/events.h"
#include "hydro/worker/settings.h"

namespace hydro::tune {
namespace {

/// Schedulers know values that are larger when better.
std::string text_of(double value, Mode mode) {
  return fmt::format("{:.4g}", mode == Mode::kMax ? value : 0 - value);
}

std::string counted(std::int64_t count, const char* noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

}  // namespace

std::int64_t end_of(const StudySettings& settings, const worker::Budget& budget) {
  const search::SchedulerSettings& scheduler = settings.scheduler;
  return scheduler.kind == search::SchedulerKind::kFifo
             ? budget.steps
             : std::min(budget.steps, scheduler.max_t * budget.evaluate_every);
}

std::int64_t step_of(const StudySettings& settings,
                     const worker::Budget& budget,
                     std::int64_t evaluation) {
  return std::min(evaluation * budget.evaluate_every, end_of(settings, budget));
}

std::optional<std::string> fault_of(const Reports& reports, const std::string& metric) {
  const std::optional<double> value = reports.last(metric);
  if (!value) {
    std::string names;
    for (const auto& [name, number] :
         reports.empty() ? std::map<std::string, double>{} : reports.last_metrics()) {
      names += (names.empty() ? "" : ", ") + name;
    }
    return "metric `" + metric + "` was not reported" +
           (names.empty() ? "" : ", only " + names);
  }
  // A model with any metric that is not finite is broken, also where the tuned one still ranks.
  if (!std::isfinite(*value)) {
    return "`" + metric + "` is not finite";
  }
  if (const std::optional<std::string> name = reports.broken_metric()) {
    return "`" + *name + "` is not finite";
  }
  return std::nullopt;
}

std::string reason_of(const search::Verdict& verdict, Mode mode) {
  const std::string value = text_of(verdict.value, mode);
  const char* worse = mode == Mode::kMax ? "under" : "over";
  switch (verdict.ground) {
    case search::Ground::kCutOff:
      return fmt::format("rung {}: {} {} the cut-off {}, {}",
                         verdict.at,
                         value,
                         worse,
                         text_of(verdict.bound, mode),
                         counted(verdict.count, "value"));
    case search::Ground::kRank:
      return fmt::format("rung {}: {} {} the best {} of {}",
                         verdict.at,
                         value,
                         verdict.fate == search::Fate::kContinue ? "among" : "not among",
                         verdict.places,
                         counted(verdict.count, "value"));
    case search::Ground::kRung:
      return fmt::format("rung {}: waits with {}, {} there so far",
                         verdict.at,
                         value,
                         counted(verdict.count, "value"));
    case search::Ground::kMedian:
      return fmt::format("evaluation {}: best {} {} the median {} of {}",
                         verdict.at,
                         value,
                         worse,
                         text_of(verdict.bound, mode),
                         counted(verdict.count, "trial"));
    case search::Ground::kNone:
      break;
  }
  return {};
}

}  // namespace hydro::tune
