#include "hydro/tune/phases.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "hydro/base/result.h"

namespace hydro::tune {
namespace {

constexpr auto kTarget = static_cast<std::size_t>(Phase::kTarget);

double seconds_of(std::int64_t nanoseconds) {
  constexpr double kNanosecond = 1e-9;
  return static_cast<double>(nanoseconds) * kNanosecond;
}

}  // namespace

void PhaseClock::advance(std::int64_t to_ns) {
  const std::int64_t length = std::max<std::int64_t>(to_ns - now_ns_, 0);
  now_ns_ += length;
  std::size_t winner = kTarget;  // of the phases beside the target; kTarget: none
  for (std::size_t phase = 0; phase < kTarget; ++phase) {
    winner = open_[phase] > 0 ? phase : winner;
  }
  const bool others = winner != kTarget;
  const bool target = open_[kTarget] > 0;
  spent_ns_[winner] += others ? length : 0;
  spent_ns_[kTarget] += target ? length : 0;
  overlap_ns_ += others && target ? length : 0;
  idle_ns_ += others || target ? 0 : length;
}

void PhaseClock::begin(Phase phase, std::int64_t at_ns) {
  advance(at_ns);
  ++open_[static_cast<std::size_t>(phase)];
}

void PhaseClock::end(Phase phase, std::int64_t at_ns) {
  advance(at_ns);
  lose(phase);
}

void PhaseClock::lose(Phase phase) {
  std::int64_t& open = open_[static_cast<std::size_t>(phase)];
  HYDRO_CHECK(open > 0, "a piece of work ends that did not begin");
  --open;
}

PhaseSeconds PhaseClock::seconds(std::int64_t end_ns) const {
  HYDRO_CHECK(begin_ns_ <= end_ns, "a study ends before it begins");
  PhaseClock whole = *this;
  whole.advance(end_ns);
  const auto spent = [&whole](Phase phase) {
    return seconds_of(whole.spent_ns_[static_cast<std::size_t>(phase)]);
  };
  return {.prepare = spent(Phase::kPrepare),
          .profile = spent(Phase::kProfile),
          .surrogates = spent(Phase::kSurrogates),
          .defuse = spent(Phase::kDefuse),
          .target = spent(Phase::kTarget),
          .overlap = seconds_of(whole.overlap_ns_),
          .idle = seconds_of(whole.idle_ns_),
          .makespan = seconds_of(end_ns - begin_ns_)};
}

}  // namespace hydro::tune
