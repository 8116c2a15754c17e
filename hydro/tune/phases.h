// hydro/tune/phases.h — where the makespan went. Each instant counts once among surrogates,
// defuse, profile and prepare, the earlier of these names first; target is its own union,
// overlap is both at once, idle neither, so that
//   makespan = prepare + profile + surrogates + defuse + target - overlap + idle.
// Source: DESIGN "Honest output".
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace hydro::tune {

/// In rising order of precedence; kTarget stands beside the others.
enum class Phase : std::uint8_t { kPrepare, kProfile, kDefuse, kSurrogates, kTarget };

constexpr std::size_t kPhases = 5;

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

/// Told when pieces of work begin and end, in the order of time on the monotonic clock.
class PhaseClock {
 public:
  PhaseClock() = default;

  /// The makespan begins.
  explicit PhaseClock(std::int64_t begin_ns) : begin_ns_(begin_ns), now_ns_(begin_ns) {}

  void begin(Phase phase, std::int64_t at_ns);
  void end(Phase phase, std::int64_t at_ns);
  /// When it ended is not known: what is known of it is counted.
  void lose(Phase phase);

  /// Up to `end_ns`; what is under way counts. Requires: not before the beginning (BugError)
  [[nodiscard]] PhaseSeconds seconds(std::int64_t end_ns) const;

 private:
  void advance(std::int64_t to_ns);

  std::int64_t begin_ns_ = 0;
  std::int64_t now_ns_ = 0;
  std::array<std::int64_t, kPhases> open_{};  // pieces under way, by phase
  std::array<std::int64_t, kPhases> spent_ns_{};
  std::int64_t overlap_ns_ = 0;
  std::int64_t idle_ns_ = 0;
};

}  // namespace hydro::tune
