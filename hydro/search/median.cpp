#include "hydro/search/median.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "hydro/search/order_statistics.h"
#include "hydro/search/verdict.h"

namespace hydro::search {

Quantile& Median::means_at(std::int64_t t) {
  const auto index = static_cast<std::size_t>(t - settings_.grace_period);
  if (index >= means_.size()) {
    means_.resize(index + 1, Quantile(1, 2));
  }
  return means_[index];
}

Verdict Median::report(std::int64_t trial, std::int64_t t, double value) {
  Known& known = trials_.at(static_cast<std::size_t>(trial));
  if (t <= known.t) {
    return {};
  }
  // Evaluations that it jumped over: its mean there is the one that it had.
  for (std::int64_t i = std::max(known.t + 1, settings_.grace_period); i < t; ++i) {
    if (known.count > 0) {
      means_at(i).add(known.mean());
    }
  }
  known.best = known.t == 0 ? value : std::max(known.best, value);
  known.t = t;
  if (t < settings_.grace_period) {
    return {};
  }
  known.sum += value;
  ++known.count;
  Quantile& others = means_at(t);
  const std::optional<double> median = others.value();
  Verdict verdict;
  if (others.count() >= settings_.min_samples && t < settings_.max_t && median &&
      known.best < *median) {
    verdict = {.fate = Fate::kStop,
               .ground = Ground::kMedian,
               .at = t,
               .value = known.best,
               .bound = *median,
               .count = others.count()};
  }
  others.add(known.mean());
  return verdict;
}

std::int64_t Median::milestone(std::int64_t trial) const {
  const Known& known = trials_.at(static_cast<std::size_t>(trial));
  return std::min(std::max(known.t + 1, settings_.grace_period), settings_.max_t);
}

}  // namespace hydro::search
