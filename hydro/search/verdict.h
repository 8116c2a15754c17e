// hydro/search/verdict.h — what a scheduler says about a trial, with the numbers behind it.
#pragma once

#include <cstdint>

namespace hydro::search {

enum class Fate : std::uint8_t { kContinue, kStop, kPause, kFail };

/// What the numbers of a verdict mean.
enum class Ground : std::uint8_t {
  kNone,
  kCutOff,  // value against the cut-off `bound` of `count` earlier values at the rung
  kRank,    // value against the best `places` of `count` values at the rung
  kRung,    // came to the rung with value, where `count` values are
  kMedian,  // best value so far against the median `bound` of `count` other trials
};

/// Values are larger when better.
struct Verdict {
  Fate fate = Fate::kContinue;
  Ground ground = Ground::kNone;
  std::int64_t at = 0;  // the rung's evaluation; of kMedian the trial's
  double value = 0;
  double bound = 0;
  std::int64_t places = 0;
  std::int64_t count = 0;
};

/// A verdict on a waiting trial.
struct Move {
  std::int64_t trial = 0;
  Verdict verdict;
};

}  // namespace hydro::search
