// hydro/tune/phases.h — where the makespan went. Each instant counts once among surrogates,
// defuse, profile and prepare, the earlier of these names first; target is its own union,
// overlap is both at once, idle neither, so that
//   makespan = prepare + profile + surrogates + defuse + target - overlap + idle.
// Source: DESIGN "Honest output".
#pragma once

#include <cstdint>
#include <span>

namespace hydro::tune {

/// In rising order of precedence; kTarget stands beside the others.
enum class Phase : std::uint8_t { kPrepare, kProfile, kDefuse, kSurrogates, kTarget };

/// One piece of work, [begin, end) on the monotonic clock.
struct Interval {
  Phase phase = Phase::kPrepare;
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
};

/// Wall seconds.
struct PhaseSeconds {
  double prepare = 0;
  double profile = 0;
  double surrogates = 0;
  double defuse = 0;
  double target = 0;
  double overlap = 0;
  double idle = 0;
  double makespan = 0;
};

/// What lies outside [begin, end) is cut off.
[[nodiscard]] PhaseSeconds phase_seconds(std::span<const Interval> intervals,
                                         std::int64_t begin_ns,
                                         std::int64_t end_ns);

}  // namespace hydro::tune
