#include "hydro/search/searcher.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "hydro/search/space.h"
#include "hydro/search/testing.h"

namespace hydro::search {
namespace {

using testing::in_branch;
using testing::parameter;

Value integer(std::int64_t value) {
  return value;
}

Space main_space() {
  return {{parameter("lr", QLogUniform{.low = 1e-4, .high = 1, .q = 1e-4}),
           parameter("momentum", QUniform{.low = 0.5, .high = 0.999, .q = 0.001}),
           parameter("batch", Choice{{integer(64), integer(128), integer(256)}})}};
}

/// optimizer 0 has an lr of three values, optimizer 1 a momentum of two.
Space branched_space() {
  return {{parameter("optimizer", Choice{{integer(0), integer(1)}}),
           in_branch("optimizer", 0, parameter("lr", Choice{{0.1, 0.2, 0.3}})),
           in_branch("optimizer", 1, parameter("momentum", Choice{{0.8, 0.9}})),
           parameter("batch", RandInt{.low = 1, .high = 3})}};
}

std::unique_ptr<Searcher> random(Space space, std::uint64_t seed, std::int64_t samples) {
  return make_random_searcher(std::move(space), seed, samples).value();
}

std::vector<Config> all_of(const Searcher& searcher) {
  std::vector<Config> configs;
  for (std::int64_t k = 0; auto config = searcher.suggest(k); ++k) {
    configs.push_back(*config);
  }
  return configs;
}

TEST(RandomSearcher, SuggestionKNeedsNoEarlierSuggestion) {
  const auto forward = all_of(*random(main_space(), 1, 20));
  const auto again = random(main_space(), 1, 20);
  ASSERT_EQ(forward.size(), 20U);
  for (std::int64_t k = 19; k >= 0; --k) {
    EXPECT_EQ(again->suggest(k), forward[static_cast<std::size_t>(k)]);
  }
}

TEST(RandomSearcher, SeedsAndSuggestionsDiffer) {
  std::set<Config> distinct;
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    for (const Config& config : all_of(*random(main_space(), seed, 20))) {
      distinct.insert(config);
    }
  }
  EXPECT_EQ(distinct.size(), 60U);
}

TEST(RandomSearcher, AParameterMoreMovesNoOthersDraws) {
  Space wider = main_space();
  wider.parameters.insert(wider.parameters.begin(),
                          parameter("extra", Uniform{.low = 0, .high = 1}));
  const Config config = random(main_space(), 1, 1)->suggest(0).value();
  Config other = random(wider, 1, 1)->suggest(0).value();
  other.erase("extra");
  EXPECT_EQ(other, config);
}

TEST(RandomSearcher, DrawsOnlyWhatTheConditionAllows) {
  int sgd = 0;
  for (const Config& config : all_of(*random(branched_space(), 1, 200))) {
    const bool first = config.at("optimizer") == integer(0);
    sgd += first ? 1 : 0;
    EXPECT_EQ(config.contains("lr"), first);
    EXPECT_EQ(config.contains("momentum"), !first);
  }
  EXPECT_NEAR(sgd, 100, 35);
}

TEST(RandomSearcher, GridMultipliesTheSamplesAndEachDrawsAnew) {
  const Space space{{parameter("width", Grid{{integer(1), integer(2)}}),
                     parameter("lr", Uniform{.low = 0, .high = 1}),
                     parameter("depth", Grid{{integer(5), integer(6), integer(7)}})}};
  const auto configs = all_of(*random(space, 1, 2));
  ASSERT_EQ(configs.size(), 12U);
  std::set<Value> rates;
  for (std::size_t k = 0; k < 12; ++k) {
    EXPECT_EQ(configs[k].at("width"), integer(k % 6 < 3 ? 1 : 2));
    EXPECT_EQ(configs[k].at("depth"), integer(static_cast<std::int64_t>(5 + k % 3)));
    rates.insert(configs[k].at("lr"));
  }
  EXPECT_EQ(rates.size(), 12U);
}

TEST(RandomSearcher, EndsAfterItsSamples) {
  const auto searcher = random(main_space(), 1, 3);
  EXPECT_EQ(searcher->total(), 3);
  EXPECT_TRUE(searcher->suggest(2).has_value());
  EXPECT_FALSE(searcher->suggest(3).has_value());
}

TEST(RandomSearcher, RefusesAGridInsideABranch) {
  const Space space{{parameter("optimizer", Choice{{integer(0), integer(1)}}),
                     in_branch("optimizer", 0, parameter("lr", Grid{{0.1, 0.2}}))}};
  EXPECT_EQ(make_random_searcher(space, 1, 4).error().id, "H0708");
}

TEST(RandomSearcher, RefusesMoreThanABillion) {
  const Space space{{parameter("a", Grid{{integer(1), integer(2)}})}};
  EXPECT_EQ(make_random_searcher(space, 1, 600'000'000).error().id, "H0707");
}

TEST(GridSearcher, TakesTheProductWithTheFirstParameterSlowest) {
  const Space space{{parameter("a", Choice{{integer(1), integer(2)}}),
                     parameter("b", QUniform{.low = 0, .high = 0.2, .q = 0.1})}};
  const auto searcher = make_grid_searcher(space).value();
  EXPECT_EQ(searcher->total(), 6);
  const auto configs = all_of(*searcher);
  ASSERT_EQ(configs.size(), 6U);
  EXPECT_EQ(configs[1], (Config{{"a", integer(1)}, {"b", 0.1}}));
  EXPECT_EQ(configs[3], (Config{{"a", integer(2)}, {"b", 0.0}}));
}

TEST(GridSearcher, BranchesMultiplyOnlyInside) {
  const auto searcher = make_grid_searcher(branched_space()).value();
  EXPECT_EQ(searcher->total(), 3 * 2 + 2 * 2);
  const auto configs = all_of(*searcher);
  const std::set<Config> distinct(configs.begin(), configs.end());
  EXPECT_EQ(distinct.size(), 10U);
  for (const Config& config : configs) {
    EXPECT_EQ(config.contains("lr"), config.at("optimizer") == integer(0));
    EXPECT_EQ(config.size(), 3U);
  }
}

TEST(GridSearcher, AnEmptySpaceHasOneConfiguration) {
  const auto searcher = make_grid_searcher({}).value();
  EXPECT_EQ(all_of(*searcher), std::vector<Config>{Config{}});
}

TEST(GridSearcher, RefusesAContinuousParameterByName) {
  const auto refused =
      make_grid_searcher({{parameter("train.clip_norm", Uniform{.low = 0, .high = 1})}});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().id, "H0706");
  EXPECT_NE(refused.error().what.find("train.clip_norm"), std::string::npos);
}

TEST(GridSearcher, RefusesMoreThanABillion) {
  const QUniform fine{.low = 0, .high = 1, .q = 1e-6};
  EXPECT_EQ(make_grid_searcher({{parameter("a", fine), parameter("b", fine)}}).error().id,
            "H0707");
}

TEST(Space, FindsByPathAndByName) {
  Space space{{parameter("train.optimizer.lr", Uniform{.low = 0, .high = 1})}};
  space.parameters[0].name = "lr";
  EXPECT_EQ(space.find("lr"), space.parameters.data());
  EXPECT_EQ(space.find("train.optimizer.lr"), space.parameters.data());
  EXPECT_EQ(space.find("train.lr"), nullptr);
}

}  // namespace
}  // namespace hydro::search
