// hydro/search/median.h — Ray's median stopping rule: a trial whose best value so far is worse
// than the median of the other trials' running means ends.
#pragma once

#include <cstdint>
#include <vector>

#include "hydro/search/order_statistics.h"
#include "hydro/search/verdict.h"

namespace hydro::search {

struct MedianSettings {
  std::int64_t grace_period = 1;  // means are taken from here on
  std::int64_t max_t = 1;
  std::int64_t min_samples = 3;  // other trials that must have come as far
};

class Median {
 public:
  explicit Median(const MedianSettings& settings) : settings_(settings) {}

  void add() { trials_.emplace_back(); }

  Verdict report(std::int64_t trial, std::int64_t t, double value);
  [[nodiscard]] std::int64_t milestone(std::int64_t trial) const;

 private:
  struct Known {
    std::int64_t t = 0;
    double best = 0;
    double sum = 0;  // of the values since the grace period
    std::int64_t count = 0;

    [[nodiscard]] double mean() const { return sum / static_cast<double>(count); }
  };

  /// The means at t of all trials that came to t or further.
  Quantile& means_at(std::int64_t t);

  MedianSettings settings_;
  std::vector<Quantile> means_;  // by t - grace_period
  std::vector<Known> trials_;
};

}  // namespace hydro::search
