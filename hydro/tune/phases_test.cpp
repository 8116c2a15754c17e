#include "hydro/tune/phases.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "hydro/base/result.h"
#include "hydro/tune/testing.h"

namespace hydro::tune {
namespace {

/// One piece of work, [begin, end).
struct Interval {
  Phase phase = Phase::kPrepare;
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
};

/// Seconds from..to.
Interval make_interval(Phase phase, std::int64_t from, std::int64_t to) {
  return {.phase = phase, .begin_ns = from * kSecond, .end_ns = to * kSecond};
}

PhaseSeconds over(const std::vector<Interval>& intervals, std::int64_t end) {
  std::multimap<std::int64_t, std::pair<bool, Phase>> edges;
  for (const Interval& interval : intervals) {
    edges.insert({interval.begin_ns, {true, interval.phase}});
  }
  for (const Interval& interval : intervals) {
    edges.insert({interval.end_ns, {false, interval.phase}});
  }
  PhaseClock clock(0);
  for (const auto& [at_ns, edge] : edges) {
    edge.first ? clock.begin(edge.second, at_ns) : clock.end(edge.second, at_ns);
  }
  return clock.seconds(end * kSecond);
}

TEST(PhaseSeconds, AreAllIdleWhenNothingRan) {
  const PhaseSeconds seconds = over({}, 5);
  EXPECT_DOUBLE_EQ(seconds.makespan, 5);
  EXPECT_DOUBLE_EQ(seconds.idle, 5);
}

TEST(PhaseSeconds, CountTwoSlotsOnce) {
  const PhaseSeconds seconds = over(
      {make_interval(Phase::kSurrogates, 0, 4), make_interval(Phase::kSurrogates, 2, 6)}, 6);
  EXPECT_DOUBLE_EQ(seconds.surrogates, 6);
  EXPECT_DOUBLE_EQ(seconds.idle, 0);
}

TEST(PhaseSeconds, PreferSurrogatesThenDefuseThenProfileThenPrepare) {
  const PhaseSeconds seconds = over({make_interval(Phase::kPrepare, 0, 10),
                                     make_interval(Phase::kProfile, 0, 6),
                                     make_interval(Phase::kDefuse, 0, 3),
                                     make_interval(Phase::kSurrogates, 0, 1)},
                                    10);
  EXPECT_DOUBLE_EQ(seconds.surrogates, 1);
  EXPECT_DOUBLE_EQ(seconds.defuse, 2);
  EXPECT_DOUBLE_EQ(seconds.profile, 3);
  EXPECT_DOUBLE_EQ(seconds.prepare, 4);
}

TEST(PhaseSeconds, CountWhatRanBesideTheTargetAsOverlap) {
  const PhaseSeconds seconds =
      over({make_interval(Phase::kSurrogates, 0, 5), make_interval(Phase::kTarget, 3, 9)}, 10);
  EXPECT_DOUBLE_EQ(seconds.surrogates, 5);
  EXPECT_DOUBLE_EQ(seconds.target, 6);
  EXPECT_DOUBLE_EQ(seconds.overlap, 2);
  EXPECT_DOUBLE_EQ(seconds.idle, 1);
}

TEST(PhaseSeconds, CountWhatIsStillUnderWay) {
  PhaseClock clock(0);
  clock.begin(Phase::kTarget, 2 * kSecond);
  EXPECT_DOUBLE_EQ(clock.seconds(5 * kSecond).target, 3);
  EXPECT_DOUBLE_EQ(clock.seconds(9 * kSecond).target, 7);
}

TEST(PhaseSeconds, CountNothingForTheTimeInWhichWorkWasLost) {
  PhaseClock clock(0);
  clock.begin(Phase::kSurrogates, 0);
  clock.begin(Phase::kDefuse, 2 * kSecond);
  clock.lose(Phase::kSurrogates);
  clock.lose(Phase::kDefuse);
  EXPECT_DOUBLE_EQ(clock.seconds(9 * kSecond).surrogates, 2);
  EXPECT_DOUBLE_EQ(clock.seconds(9 * kSecond).idle, 7);
}

TEST(PhaseSeconds, RefuseAnEndBeforeTheBeginning) {
  EXPECT_THROW((void)PhaseClock(5).seconds(4), BugError);
}

TEST(PhaseSeconds, AddUpToTheMakespan) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    std::mt19937_64 random(seed);
    std::vector<Interval> intervals;
    for (std::size_t i = 0; i < random() % 20; ++i) {
      const auto from = static_cast<std::int64_t>(random() % 100);
      intervals.push_back(make_interval(static_cast<Phase>(random() % 5),
                                        from,
                                        from + static_cast<std::int64_t>(random() % 30)));
    }
    const PhaseSeconds s = over(intervals, 130);
    EXPECT_NEAR(s.makespan,
                s.prepare + s.profile + s.surrogates + s.defuse + s.target - s.overlap + s.idle,
                1e-9)
        << "seed " << seed;
    EXPECT_LE(s.overlap, s.target + 1e-9) << "seed " << seed;
  }
}

}  // namespace
}  // namespace hydro::tune
