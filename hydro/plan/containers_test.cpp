#include "hydro/plan/containers.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hydro/base/result.h"
#include "hydro/plan/testing.h"
#include "hydro/worker/messages.h"
#include "hydro/worker/settings.h"

namespace hydro::plan {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using worker::TrialId;
using Packed = std::vector<std::vector<TrialId>>;

std::vector<Candidate> make_candidates(std::int64_t count, std::int64_t batch_size = 128) {
  std::vector<Candidate> candidates;
  candidates.reserve(static_cast<std::size_t>(count));
  for (std::int64_t id = 0; id < count; ++id) {
    candidates.push_back(make_candidate(id, batch_size));
  }
  return candidates;
}

std::vector<std::size_t> sizes(const Packed& packed) {
  std::vector<std::size_t> found;
  for (const auto& trials : packed) {
    found.push_back(trials.size());
  }
  return found;
}

TEST(Differences, AreNoneForNumbersThatEachTrialHasForItself) {
  Candidate left = make_candidate(0);
  Candidate right = make_candidate(1);
  left.settings.clip_norm = 1.0;
  right.settings.clip_norm = 2.0;
  right.settings.optimizer = {.lr = 0.1,
                              .momentum = 0.9,
                              .dampening = 0.1,
                              .beta1 = 0.5,
                              .eps = 1e-4,
                              .weight_decay = 0.01};
  right.settings.schedule.gamma = 0.3;
  right.settings.schedule.warmup = {.amount = 0.1, .unit = worker::Span::Unit::kShare};
  right.settings.label_smoothing = 0.1;
  EXPECT_THAT(differences(left, right), IsEmpty());
  EXPECT_EQ(container_key(left), container_key(right));
}

TEST(Differences, NameWhatDiffersAndBothValues) {
  EXPECT_THAT(differences(make_candidate(0, 64), make_candidate(1, 128)),
              ElementsAre(Difference{.what = "batch_size", .left = "64", .right = "128"},
                          Difference{.what = "steps", .left = "160", .right = "80"},
                          Difference{.what = "steps_per_epoch", .left = "160", .right = "80"},
                          Difference{.what = "evaluate_every", .left = "160", .right = "80"}));
}

TEST(Differences, FollowFromEverythingThatChangesACodePath) {
  using Change = void (*)(Candidate&);
  const std::map<std::string, Change> changes = {
      {"model", [](Candidate& c) { c.model = "vgg11/8/mup"; }},
      {"steps_done", [](Candidate& c) { c.steps_done = 10; }},
      {"optimizer",
       [](Candidate& c) { c.settings.optimizer.kind = worker::OptimizerKind::kAdam; }},
      {"nesterov", [](Candidate& c) { c.settings.optimizer.nesterov = true; }},
      {"amsgrad", [](Candidate& c) { c.settings.optimizer.amsgrad = true; }},
      {"schedule",
       [](Candidate& c) { c.settings.schedule.kind = worker::ScheduleKind::kCosine; }},
      {"clip_norm", [](Candidate& c) { c.settings.clip_norm = 1.0; }},
  };
  for (const auto& [what, change] : changes) {
    Candidate other = make_candidate(1);
    change(other);
    const std::vector<Difference> found = differences(make_candidate(0), other);
    ASSERT_EQ(found.size(), 1U) << what;
    EXPECT_EQ(found.front().what, what);
    EXPECT_NE(container_key(make_candidate(0)), container_key(other)) << what;
  }
}

TEST(ContainerKey, IsNotFooledByAModelNameThatLooksLikeAField) {
  Candidate odd = make_candidate(0);
  odd.model = "a batch_size=3:128";
  Candidate plain = make_candidate(1);
  plain.model = "a";
  EXPECT_NE(container_key(odd), container_key(plain));
}

TEST(Pack, SplitsTenTrialsOverContainersOfAtMostFourEvenly) {
  EXPECT_THAT(sizes(pack(make_candidates(10), 4)), ElementsAre(4, 3, 3));
  EXPECT_THAT(sizes(pack(make_candidates(9), 8)), ElementsAre(5, 4));
}

TEST(Pack, GivesEveryTrialItsOwnContainerAtLimitOne) {
  EXPECT_EQ(pack(make_candidates(3), 1), (Packed{{TrialId{0}}, {TrialId{1}}, {TrialId{2}}}));
}

TEST(Pack, OfNothingIsNothing) {
  EXPECT_THAT(pack({}, 4), IsEmpty());
}

TEST(Pack, RefusesALimitOfZero) {
  EXPECT_THROW((void)pack(make_candidates(1), 0), BugError);
}

TEST(Pack, StartsTheLongestContainerFirst) {
  std::vector<Candidate> candidates = make_candidates(3);
  candidates[2].cost_per_sample = 5;
  candidates[2].model = "vgg11/8/mup";
  EXPECT_EQ(pack(candidates, 2), (Packed{{TrialId{2}}, {TrialId{0}, TrialId{1}}}));
}

std::vector<Candidate> random_candidates(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  constexpr std::array<std::int64_t, 3> kBatches = {64, 128, 256};
  std::vector<Candidate> candidates =
      make_candidates(static_cast<std::int64_t>(random() % 101));
  for (Candidate& candidate : candidates) {
    const auto id = static_cast<std::int64_t>(candidate.id);
    candidate = make_candidate(id, kBatches[random() % kBatches.size()]);
    candidate.settings.optimizer.nesterov = random() % 2 == 0;
  }
  std::ranges::shuffle(candidates, random);
  return candidates;
}

const Candidate& find(const std::vector<Candidate>& candidates, TrialId id) {
  return *std::ranges::find(candidates, id, &Candidate::id);
}

TEST(Pack, PutsEachTrialIntoExactlyOneHomogeneousContainer) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const std::vector<Candidate> candidates = random_candidates(seed);
    std::set<TrialId> seen;
    for (const auto& trials : pack(candidates, static_cast<std::int64_t>(seed % 12) + 1)) {
      for (const TrialId id : trials) {
        EXPECT_TRUE(seen.insert(id).second) << "seed " << seed;
        EXPECT_THAT(differences(find(candidates, trials.front()), find(candidates, id)),
                    IsEmpty());
      }
    }
    EXPECT_EQ(seen.size(), candidates.size()) << "seed " << seed;
  }
}

TEST(Pack, UsesTheFewestContainersAndFillsThemEvenly) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const std::vector<Candidate> candidates = random_candidates(seed);
    const std::size_t limit = seed % 12 + 1;
    std::map<std::string, std::vector<std::size_t>> by_key;
    for (const auto& trials : pack(candidates, static_cast<std::int64_t>(limit))) {
      by_key[container_key(find(candidates, trials.front()))].push_back(trials.size());
    }
    for (const auto& [key, counts] : by_key) {
      const auto [least, most] = std::ranges::minmax(counts);
      const auto total =
          static_cast<std::size_t>(std::ranges::count(candidates, key, container_key));
      EXPECT_LE(most, limit) << "seed " << seed;
      EXPECT_LE(most - least, 1U) << "seed " << seed;
      EXPECT_EQ(counts.size(), (total + limit - 1) / limit) << "seed " << seed;
    }
  }
}

TEST(Pack, DoesNotDependOnTheOrderOfItsInput) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    std::vector<Candidate> candidates = random_candidates(seed);
    const Packed shuffled = pack(candidates, 4);
    std::ranges::sort(candidates, {}, &Candidate::id);
    EXPECT_EQ(pack(candidates, 4), shuffled) << "seed " << seed;
  }
}

}  // namespace
}  // namespace hydro::plan
