#include "hydro/search/preview.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "hydro/search/hyperband.h"
#include "hydro/search/rungs.h"
#include "hydro/search/scheduler.h"

namespace hydro::search {
namespace {

/// How many come to each evaluation; added up over brackets.
using Arrivals = std::map<std::int64_t, double>;

bool has_rungs(const SchedulerSettings& settings) {
  return settings.kind == SchedulerKind::kAsha || settings.kind == SchedulerKind::kHyperband;
}

double survivors(const SchedulerSettings& settings, double n) {
  return settings.type == SchedulerType::kPromotion
             ? std::floor(n / static_cast<double>(settings.reduction_factor))
             : expected_survivors(n, settings.reduction_factor);
}

std::vector<std::int64_t> trials_by_bracket(const SchedulerSettings& settings,
                                            std::int64_t trials) {
  std::vector<std::int64_t> counts(static_cast<std::size_t>(settings.brackets), 0);
  Spread spread(bracket_shares(settings));
  for (std::int64_t trial = 0; trial < trials; ++trial) {
    ++counts[static_cast<std::size_t>(spread.next())];
  }
  return counts;
}

/// The last arrival is the end, whether a rung lies there or not.
void add_bracket(const SchedulerSettings& settings,
                 std::int64_t bracket,
                 double trials,
                 std::vector<Arrivals>& brackets) {
  const std::vector<std::int64_t> levels =
      rung_levels(settings.grace_period, settings.max_t - 1, settings.reduction_factor);
  Arrivals arrivals;
  for (auto k = static_cast<std::size_t>(bracket); k < levels.size(); ++k) {
    arrivals[levels[k]] = trials;
    trials = survivors(settings, trials);
  }
  arrivals[settings.max_t] = trials;
  brackets.push_back(arrivals);
}

void add_band_bracket(const SchedulerSettings& settings,
                      const BracketPlan& plan,
                      std::int64_t trials,
                      std::vector<Arrivals>& brackets) {
  const std::int64_t eta = settings.reduction_factor;
  Arrivals arrivals;
  std::int64_t places = plan.trials;
  std::int64_t milestone = plan.milestone;
  for (std::int64_t left = plan.halvings; left > 0; --left, milestone *= eta) {
    arrivals[milestone] = static_cast<double>(trials);
    places = (places + eta - 1) / eta;
    trials = std::min(trials, places);
  }
  arrivals[settings.max_t] = static_cast<double>(trials);
  brackets.push_back(arrivals);
}

std::vector<Arrivals> arrivals_of(const SchedulerSettings& settings, std::int64_t trials) {
  std::vector<Arrivals> brackets;
  if (settings.type != SchedulerType::kSynchronous) {
    std::int64_t bracket = 0;
    for (const std::int64_t count : trials_by_bracket(settings, trials)) {
      add_bracket(settings, bracket++, static_cast<double>(count), brackets);
    }
    return brackets;
  }
  const std::vector<BracketPlan> band = band_of({.grace_period = settings.grace_period,
                                                 .reduction_factor = settings.reduction_factor,
                                                 .max_t = settings.max_t});
  for (std::size_t i = 0; trials > 0; ++i) {
    const BracketPlan& plan = band[i % band.size()];
    add_band_bracket(settings, plan, std::min(plan.trials, trials), brackets);
    trials -= std::min(plan.trials, trials);
  }
  return brackets;
}

/// Each trial trained from its last arrival to the next.
double evaluations_of(const Arrivals& arrivals) {
  double sum = 0;
  std::int64_t from = 0;
  for (const auto& [at, trials] : arrivals) {
    sum += trials * static_cast<double>(at - from);
    from = at;
  }
  return sum;
}

}  // namespace

double expected_survivors(double n, std::int64_t eta) {
  // The newcomer after m others is equally likely at each of m + 1 places; the cut-off lies at
  // place (m - 1)(1 - 1/eta) of the m, so (m - 1)/eta + 1 places of m + 1 are above it.
  double sum = 0;
  for (double m = 0; m < n; ++m) {
    const double chance = m == 0 ? 1 : ((m - 1) / static_cast<double>(eta) + 1) / (m + 1);
    sum += std::min(n - m, 1.0) * chance;
  }
  return sum;
}

Preview preview(const SchedulerSettings& settings, std::int64_t trials) {
  Preview out;
  out.all_to_the_end = static_cast<double>(trials) * static_cast<double>(settings.max_t);
  if (!has_rungs(settings)) {
    out.evaluations = out.all_to_the_end;
    return out;
  }
  Arrivals all;
  for (const Arrivals& bracket : arrivals_of(settings, trials)) {
    out.evaluations += evaluations_of(bracket);
    for (const auto& [at, count] : bracket) {
      all[at] += count;
    }
  }
  for (const auto& [at, count] : all) {
    out.rungs.push_back({.at = at, .trials = count});
  }
  return out;
}

bool can_stop_something(const SchedulerSettings& settings, std::int64_t trials) {
  if (settings.kind == SchedulerKind::kFifo) {
    return true;  // nobody asked it to
  }
  if (settings.kind == SchedulerKind::kMedian) {
    return settings.grace_period < settings.max_t && trials > settings.min_samples;
  }
  return preview(settings, trials).evaluations < static_cast<double>(trials * settings.max_t);
}

}  // namespace hydro::search
