// hydro/search/scheduler_testing.h — schedulers at one rung, decisions as text.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "hydro/search/scheduler.h"

namespace hydro::search {

constexpr double kNotANumber = std::numeric_limits<double>::quiet_NaN();

/// 'C', 'S', 'P' or 'F'.
inline char letter(Fate fate) {
  constexpr std::string_view kLetters = "CSPF";
  return kLetters.at(static_cast<std::size_t>(fate));
}

/// One rung, at the first evaluation of a long budget.
inline SchedulerSettings one_rung(std::int64_t eta, SchedulerType type) {
  return {.kind = SchedulerKind::kAsha,
          .type = type,
          .grace_period = 1,
          .reduction_factor = eta,
          .max_t = eta,
          .brackets = 1};
}

/// The verdict on each trial's first report, trials in order.
inline std::string decide_first_rung(const SchedulerSettings& settings,
                                     const std::vector<double>& values) {
  Scheduler scheduler(settings);
  std::string fates;
  for (const double value : values) {
    scheduler.add();
    fates += letter(scheduler.report(static_cast<std::int64_t>(fates.size()), 1, value).fate);
  }
  return fates;
}

/// After each arrival one worker asks: the trial promoted, or a dot.
inline std::string promote_after_each(std::int64_t eta, const std::vector<double>& values) {
  Scheduler scheduler(one_rung(eta, SchedulerType::kPromotion));
  std::string text;
  for (std::size_t i = 0; i < values.size(); ++i) {
    scheduler.add();
    scheduler.report(static_cast<std::int64_t>(i), 1, values[i]);
    const std::optional<Move> move = scheduler.next();
    text += (text.empty() ? "" : " ") + (move ? std::to_string(move->trial) : ".");
    if (move) {
      scheduler.make(*move);
    }
  }
  return text;
}

}  // namespace hydro::search
