#include "hydro/tune/phases.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "hydro/base/result.h"

namespace hydro::tune {
namespace {

constexpr std::size_t kPhases = 5;
constexpr double kNanosecond = 1e-9;

struct Edge {
  std::int64_t at_ns = 0;
  Phase phase = Phase::kPrepare;
  std::int64_t change = 0;  // +1 begins, -1 ends
};

using Active = std::array<std::int64_t, kPhases>;

std::vector<Edge> edges_of(std::span<const Interval> intervals,
                           std::int64_t begin_ns,
                           std::int64_t end_ns) {
  std::vector<Edge> edges;
  for (const Interval& interval : intervals) {
    const std::int64_t from = std::clamp(interval.begin_ns, begin_ns, end_ns);
    const std::int64_t to = std::clamp(interval.end_ns, begin_ns, end_ns);
    if (from < to) {
      edges.push_back({.at_ns = from, .phase = interval.phase, .change = 1});
      edges.push_back({.at_ns = to, .phase = interval.phase, .change = -1});
    }
  }
  std::ranges::sort(edges, {}, &Edge::at_ns);
  return edges;
}

std::optional<Phase> winner(const Active& active) {
  for (const Phase phase :
       {Phase::kSurrogates, Phase::kDefuse, Phase::kProfile, Phase::kPrepare}) {
    if (active[static_cast<std::size_t>(phase)] > 0) {
      return phase;
    }
  }
  return std::nullopt;
}

double& seconds_of(PhaseSeconds& seconds, Phase phase) {
  switch (phase) {
    case Phase::kPrepare:
      return seconds.prepare;
    case Phase::kProfile:
      return seconds.profile;
    case Phase::kDefuse:
      return seconds.defuse;
    case Phase::kSurrogates:
      return seconds.surrogates;
    case Phase::kTarget:
      break;
  }
  return seconds.target;
}

void add_segment(PhaseSeconds& seconds, const Active& active, std::int64_t length_ns) {
  const double length = static_cast<double>(length_ns) * kNanosecond;
  const std::optional<Phase> phase = winner(active);
  const bool target = active[static_cast<std::size_t>(Phase::kTarget)] > 0;
  if (phase) {
    seconds_of(seconds, *phase) += length;
  }
  if (target) {
    seconds.target += length;
  }
  if (phase && target) {
    seconds.overlap += length;
  }
  if (!phase && !target) {
    seconds.idle += length;
  }
}

}  // namespace

PhaseSeconds phase_seconds(std::span<const Interval> intervals,
                           std::int64_t begin_ns,
                           std::int64_t end_ns) {
  HYDRO_CHECK(begin_ns <= end_ns, "a study ends before it begins");
  PhaseSeconds seconds;
  seconds.makespan = static_cast<double>(end_ns - begin_ns) * kNanosecond;
  Active active{};
  std::int64_t at_ns = begin_ns;
  for (const Edge& edge : edges_of(intervals, begin_ns, end_ns)) {
    add_segment(seconds, active, edge.at_ns - at_ns);
    active[static_cast<std::size_t>(edge.phase)] += edge.change;
    at_ns = edge.at_ns;
  }
  add_segment(seconds, active, end_ns - at_ns);
  return seconds;
}

}  // namespace hydro::tune
