#include "hydro/search/searcher.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
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

std::unique_ptr<Searcher> sobol(Space space, std::uint64_t seed, std::int64_t samples) {
  return make_sobol_searcher(std::move(space), seed, samples).value();
}

std::vector<Config> all_of(Searcher& searcher) {
  std::vector<Config> configs;
  for (std::int64_t k = 0; k < searcher.total(); ++k) {
    configs.push_back(searcher.ask(k).value().value());
  }
  return configs;
}

// ---- Random ----

TEST(RandomSearcher, SuggestionKNeedsNoEarlierSuggestion) {
  const auto forward = all_of(*random(main_space(), 1, 20));
  const auto again = random(main_space(), 1, 20);
  ASSERT_EQ(forward.size(), 20U);
  for (std::int64_t k = 19; k >= 0; --k) {
    EXPECT_EQ(again->ask(k).value(), forward[static_cast<std::size_t>(k)]);
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
  const Config config = random(main_space(), 1, 1)->ask(0).value().value();
  Config other = random(wider, 1, 1)->ask(0).value().value();
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

TEST(RandomSearcher, MoreSamplesLeaveTheFirstAsTheyWere) {
  const auto few = all_of(*random(main_space(), 1, 3));
  const auto many = all_of(*random(main_space(), 1, 30));
  EXPECT_TRUE(std::equal(few.begin(), few.end(), many.begin()));
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

// ---- Sobol ----

TEST(SobolSearcher, SuggestionKNeedsNoEarlierSuggestion) {
  const auto forward = all_of(*sobol(main_space(), 1, 20));
  const auto again = sobol(main_space(), 1, 20);
  for (std::int64_t k = 19; k >= 0; --k) {
    EXPECT_EQ(again->ask(k).value(), forward[static_cast<std::size_t>(k)]);
  }
  EXPECT_NE(all_of(*sobol(main_space(), 2, 20)), forward);
}

/// How many of `configs` fall into each of n equal parts of [0, 1].
std::vector<int> parts_hit(const std::vector<Config>& configs, const std::string& path, int n) {
  std::vector<int> hits(static_cast<std::size_t>(n));
  for (const Config& config : configs) {
    ++hits.at(static_cast<std::size_t>(std::get<double>(config.at(path)) * n));
  }
  return hits;
}

TEST(SobolSearcher, EveryStretchOfAPowerOfTwoHitsEveryPartOnce) {
  const Uniform unit{.low = 0, .high = 1};
  const Space space{{parameter("a", unit), parameter("b", unit), parameter("c", unit)}};
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    auto configs = all_of(*sobol(space, seed, 64));
    const std::vector<Config> second(configs.begin() + 32, configs.end());
    configs.resize(32);
    for (const std::string path : {"a", "b", "c"}) {
      EXPECT_EQ(parts_hit(configs, path, 32), std::vector<int>(32, 1)) << path;
      EXPECT_EQ(parts_hit(second, path, 32), std::vector<int>(32, 1)) << path;
    }
  }
}

TEST(SobolSearcher, TwoDimensionsFillTheirSquares) {
  const Uniform unit{.low = 0, .high = 1};
  const auto configs = all_of(*sobol({{parameter("a", unit), parameter("b", unit)}}, 1, 64));
  std::vector<int> squares(64);
  for (const Config& config : configs) {
    const auto row = static_cast<std::size_t>(std::get<double>(config.at("a")) * 8);
    const auto column = static_cast<std::size_t>(std::get<double>(config.at("b")) * 8);
    ++squares.at(8 * row + column);
  }
  EXPECT_EQ(squares, std::vector<int>(64, 1));
}

TEST(SobolSearcher, AParameterAtTheEndMovesNoOthersDraws) {
  Space wider = main_space();
  wider.parameters.push_back(parameter("extra", Uniform{.low = 0, .high = 1}));
  Config other = sobol(wider, 1, 1)->ask(0).value().value();
  other.erase("extra");
  EXPECT_EQ(sobol(main_space(), 1, 1)->ask(0).value().value(), other);
}

TEST(SobolSearcher, TriesEveryGridCombinationAtTheSamePoints) {
  const Space space{{parameter("width", Grid{{integer(1), integer(2)}}),
                     parameter("lr", Uniform{.low = 0, .high = 1})}};
  const auto configs = all_of(*sobol(space, 1, 2));
  ASSERT_EQ(configs.size(), 4U);
  EXPECT_EQ(configs[0].at("lr"), configs[1].at("lr"));
  EXPECT_NE(configs[0].at("width"), configs[1].at("width"));
  EXPECT_NE(configs[1].at("lr"), configs[2].at("lr"));
}

TEST(SobolSearcher, RefusesMoreParametersThanItHasDimensions) {
  Space space;
  for (int i = 0; i < 4000; ++i) {
    space.parameters.push_back(
        parameter("p" + std::to_string(i), Uniform{.low = 0, .high = 1}));
  }
  EXPECT_EQ(make_sobol_searcher(space, 1, 1).error().id, "H0726");
}

TEST(SobolSearcher, AnEmptySpaceHasOneConfiguration) {
  EXPECT_EQ(all_of(*sobol({}, 1, 2)), (std::vector<Config>{Config{}, Config{}}));
}

// ---- Points and repeats ----

Config batch_of(std::int64_t size) {
  return {{"batch", integer(size)}};
}

Space batches() {
  return {{parameter("batch", Choice{{integer(64), integer(128), integer(256)}})}};
}

TEST(WithPoints, TheyComeFirstAndTakeTheirShareOfTheSamples) {
  const auto plain = all_of(*random(batches(), 1, 5));
  const auto searcher = with_points(random(batches(), 1, 5), {batch_of(256), batch_of(64)});
  const auto configs = all_of(*searcher);
  ASSERT_EQ(configs.size(), 5U);
  EXPECT_EQ(configs[0], batch_of(256));
  EXPECT_EQ(configs[1], batch_of(64));
  EXPECT_TRUE(std::equal(configs.begin() + 2, configs.end(), plain.begin()));
}

TEST(WithoutRepeats, AFiniteSpaceEndsWithItsLastConfiguration) {
  const auto searcher = without_repeats(random(batches(), 1, 20), batches());
  EXPECT_EQ(searcher->total(), 3);
  const auto configs = all_of(*searcher);
  EXPECT_EQ(std::set<Config>(configs.begin(), configs.end()).size(), 3U);
  EXPECT_FALSE(searcher->ask(3).value().has_value());
}

TEST(WithoutRepeats, SuggestionKNeedsNoEarlierSuggestion) {
  const Space space{{parameter("k", RandInt{.low = 0, .high = 40})}};
  const auto forward = all_of(*without_repeats(random(space, 1, 30), space));
  const auto again = without_repeats(random(space, 1, 30), space);
  for (std::int64_t k = 29; k >= 0; --k) {
    EXPECT_EQ(again->ask(k).value(), forward[static_cast<std::size_t>(k)]);
  }
}

TEST(WithoutRepeats, WhatChanceHardlyHitsComesInTheGridsOrder) {
  // The top value has a mass of 5e-6: chance alone would take a million draws.
  const Space space{{parameter("k", QLogUniform{.low = 1e-4, .high = 1, .q = 1e-4})}};
  const auto configs = all_of(*without_repeats(random(space, 1, 10'000), space));
  EXPECT_EQ(configs.size(), 10'000U);
  EXPECT_EQ(std::set<Config>(configs.begin(), configs.end()).size(), 10'000U);
}

TEST(WithoutRepeats, APointIsNotTriedAgain) {
  auto searcher = with_points(make_grid_searcher(batches()).value(), {batch_of(128)});
  const auto configs = all_of(*without_repeats(std::move(searcher), batches()));
  EXPECT_EQ(configs, (std::vector<Config>{batch_of(128), batch_of(64), batch_of(256)}));
}

TEST(CompleteByChance, KeepsWhatIsGivenAndDrawsOnlyTheChosenBranch) {
  const Config given{{"optimizer", integer(1)}};
  const Config config = complete_by_chance(branched_space(), given, 1, 0);
  EXPECT_EQ(config.at("optimizer"), integer(1));
  EXPECT_TRUE(config.contains("momentum"));
  EXPECT_FALSE(config.contains("lr"));
  EXPECT_EQ(complete_by_chance(branched_space(), given, 1, 0), config);
}

TEST(ConfigurationCount, IsKnownOfFiniteSpacesOnly) {
  EXPECT_EQ(configuration_count(branched_space()), 10);
  EXPECT_EQ(configuration_count({}), 1);
  EXPECT_FALSE(configuration_count({{parameter("a", Uniform{0, 1})}}).has_value());
}

// ---- Grid ----

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
