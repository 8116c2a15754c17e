// hydro/search/preview.h — what a scheduler will do with so many trials, before any has run.
#pragma once

#include <cstdint>
#include <vector>

#include "hydro/search/scheduler.h"

namespace hydro::search {

/// How many trials are expected to come to an evaluation.
struct ExpectedRung {
  std::int64_t at = 0;
  double trials = 0;
};

struct Preview {
  std::vector<ExpectedRung> rungs;  // ascending; empty where the scheduler has none
  double evaluations = 0;           // expected, of all trials together
  double all_to_the_end = 0;
};

/// Exact where the rule fixes the counts (promotion, synchronous). For stopping: the mean over
/// trials that come in random order and whose values at one rung say nothing about the next.
/// fifo and median have no rungs: all evaluations are counted.
[[nodiscard]] Preview preview(const SchedulerSettings& settings, std::int64_t trials);

/// Of n that come to a rung one after the other, how many stopping lets go on, on average.
[[nodiscard]] double expected_survivors(double n, std::int64_t eta);

/// Whether some trial may end early: false when no rung lies before the end, or too few trials
/// come for a comparison.
[[nodiscard]] bool can_stop_something(const SchedulerSettings& settings, std::int64_t trials);

}  // namespace hydro::search
