#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "hydro/base/text.h"
#include "hydro/search/space.h"
#include "hydro/search/testing.h"

namespace hydro::search {
namespace {

using testing::chi_square;
using testing::count_draws;

constexpr std::uint32_t kDraws = 100'000;

std::string refusal(const Distribution& distribution) {
  const auto checked = check_distribution(distribution);
  return checked ? "none" : checked.error().id;
}

/// 1 - 1e-6 quantile of chi-square with `n` degrees of freedom (Wilson and Hilferty).
double limit(double n) {
  const double z = 4.753;
  return n * std::pow(1 - 2 / (9 * n) + z * std::sqrt(2 / (9 * n)), 3);
}

TEST(Distribution, QuniformValuesAreShortDecimalsAndBothEndsBelong) {
  const auto all = values(QUniform{.low = 0, .high = 0.7, .q = 0.1}).value();
  const std::array<std::string, 8> expected{
      "0.0", "0.1", "0.2", "0.3", "0.4", "0.5", "0.6", "0.7"};
  ASSERT_EQ(all.size(), expected.size());
  for (std::size_t k = 0; k < all.size(); ++k) {
    EXPECT_EQ(to_text(all[k]), expected[k]);
  }
}

TEST(Distribution, TheGridStartsAtTheLowerBoundNotAtZero) {
  const auto all = values(QUniform{.low = 1, .high = 10, .q = 3}).value();
  EXPECT_EQ(all, (std::vector<Value>{1.0, 4.0, 7.0, 10.0}));
}

TEST(Distribution, EveryGridValueReadsBackAsWritten) {
  const QLogUniform distribution{.low = 1e-4, .high = 1, .q = 1e-4};
  ASSERT_EQ(value_count(distribution), 10'000);
  for (std::int64_t k = 0; k < 10'000; ++k) {
    const double value = std::get<double>(value_of_index(distribution, k));
    EXPECT_LE(plain_number(value).size(), 6U) << plain_number(value);
  }
}

TEST(Distribution, QuniformGivesEveryValueTheSameMass) {
  std::map<std::string, double> masses;
  const auto all = values(QUniform{.low = 0.5, .high = 0.99, .q = 0.01}).value();
  for (const Value& value : all) {
    masses[to_text(value)] = 1.0 / 50;
  }
  EXPECT_LT(chi_square(count_draws(QUniform{0.5, 0.99, 0.01}, kDraws), masses, kDraws),
            limit(49));
}

TEST(Distribution, QloguniformGivesEveryValueTheMassOfItsLogInterval) {
  const QLogUniform distribution{.low = 0.1, .high = 2, .q = 0.1};
  std::map<std::string, double> masses;
  for (int k = 1; k <= 20; ++k) {
    const double low = std::max(0.1, k * 0.1 - 0.05);
    const double high = std::min(2.0, k * 0.1 + 0.05);
    masses[to_text(value_of_index(distribution, k - 1))] =
        std::log(high / low) / std::log(20.0);
  }
  EXPECT_LT(chi_square(count_draws(distribution, kDraws), masses, kDraws), limit(19));
}

TEST(Distribution, QloguniformOfTheMainJobHasTheKnownEndMasses) {
  const QLogUniform lr{.low = 1e-4, .high = 1, .q = 1e-4};
  // u is the distribution function, so a value's mass is the length of its u interval.
  const double first = std::log(1.5) / std::log(1e4);
  const double second = std::log(2.5) / std::log(1e4);
  EXPECT_NEAR(first, 0.0440, 5e-5);
  EXPECT_NEAR(second - first, 0.0555, 5e-5);
  EXPECT_EQ(value_at(lr, 0), Value(1e-4));
  EXPECT_EQ(value_at(lr, first - 1e-9), Value(1e-4));
  EXPECT_EQ(value_at(lr, first + 1e-9), Value(2e-4));
  EXPECT_EQ(value_at(lr, second + 1e-9), Value(3e-4));
  EXPECT_EQ(value_at(lr, 1 - 5.3e-6), Value(1.0));
  EXPECT_EQ(value_at(lr, 1 - 5.6e-6), Value(0.9999));
}

TEST(Distribution, UniformAndLoguniformAreFlatInTheirOwnScale) {
  std::array<std::int64_t, 10> flat{};
  std::array<std::int64_t, 10> flat_log{};
  for (std::uint32_t i = 0; i < kDraws; ++i) {
    const double u = testing::test_uniform(i);
    const double x = std::get<double>(value_at(Uniform{.low = -2, .high = 3}, u));
    const double y = std::get<double>(value_at(LogUniform{.low = 1e-5, .high = 1}, u));
    ++flat.at(static_cast<std::size_t>((x + 2) / 5 * 10));
    ++flat_log.at(static_cast<std::size_t>((std::log10(y) + 5) / 5 * 10));
  }
  for (std::size_t cell = 0; cell < 10; ++cell) {
    EXPECT_NEAR(static_cast<double>(flat.at(cell)), 10'000, 500);
    EXPECT_NEAR(static_cast<double>(flat_log.at(cell)), 10'000, 500);
  }
}

TEST(Distribution, RandintExcludesItsUpperBound) {
  const std::map<std::string, double> masses{
      {"3", 0.25}, {"4", 0.25}, {"5", 0.25}, {"6", 0.25}};
  EXPECT_LT(chi_square(count_draws(RandInt{3, 7}, kDraws), masses, kDraws), limit(3));
}

TEST(Distribution, ChoiceKeepsTheTypeOfItsOptions) {
  const Choice choice{{true, std::int64_t{64}, 0.5, std::string("relu")}};
  const std::map<std::string, double> masses{
      {"true", 0.25}, {"64", 0.25}, {"0.5", 0.25}, {"relu", 0.25}};
  EXPECT_LT(chi_square(count_draws(choice, kDraws), masses, kDraws), limit(3));
  EXPECT_EQ(value_at(choice, 0.3), Value(std::int64_t{64}));
}

TEST(Distribution, TheMedianIsTheMiddleAndAnOptionsFirst) {
  EXPECT_EQ(median(Uniform{0, 4}), Value(2.0));
  EXPECT_NEAR(std::get<double>(median(LogUniform{1e-4, 1})), 1e-2, 1e-15);
  EXPECT_EQ(median(Choice{{std::int64_t{64}, std::int64_t{128}}}), Value(std::int64_t{64}));
}

TEST(Distribution, ContainsOnlyWhatCanBeDrawn) {
  EXPECT_TRUE(contains(QUniform{0.5, 0.999, 0.001}, 0.713));
  EXPECT_FALSE(contains(QUniform{0.5, 0.999, 0.001}, 0.7135));
  EXPECT_FALSE(contains(QUniform{0.5, 0.999, 0.001}, 1.0));
  EXPECT_FALSE(contains(RandInt{1, 3}, std::int64_t{3}));
  EXPECT_TRUE(contains(LogUniform{1, 10}, 10.0));
  EXPECT_FALSE(contains(LogUniform{1, 10}, std::string("3")));
}

TEST(Distribution, ContinuousOnesHaveNoValues) {
  EXPECT_FALSE(values(Uniform{0, 1}).has_value());
  EXPECT_FALSE(value_count(LogUniform{1, 2}).has_value());
}

TEST(Distribution, RefusesEmptyAndInvertedRanges) {
  EXPECT_EQ(refusal(Uniform{1, 1}), "H0701");
  EXPECT_EQ(refusal(LogUniform{1, 0.1}), "H0701");
  EXPECT_EQ(refusal(RandInt{5, 5}), "H0701");
  EXPECT_EQ(refusal(RandInt{INT64_MIN, INT64_MAX}), "H0701");
}

TEST(Distribution, RefusesLogRangesThatTouchZero) {
  EXPECT_EQ(refusal(LogUniform{0, 1}), "H0702");
  EXPECT_EQ(refusal(QLogUniform{-1, 1, 0.5}), "H0702");
}

TEST(Distribution, RefusesBoundsThatAreNotFinite) {
  EXPECT_EQ(refusal(Uniform{std::nan(""), 1}), "H0703");
  EXPECT_EQ(refusal(QUniform{0, 1, std::numeric_limits<double>::infinity()}), "H0703");
  EXPECT_EQ(refusal(Uniform{-1.5e308, 1.5e308}), "H0703");
  EXPECT_EQ(refusal(Choice{{1.0, std::nan("")}}), "H0703");
}

TEST(Distribution, RefusesBoundsOffTheGrid) {
  EXPECT_EQ(refusal(QUniform{0, 1, 0.3}), "H0704");
  EXPECT_EQ(refusal(QUniform{0, 1, 0}), "H0704");
  EXPECT_EQ(refusal(QLogUniform{1e-4, 1e-1, 7e-4}), "H0704");
  EXPECT_EQ(refusal(QUniform{0, 1e300, 1e-300}), "H0704");
  EXPECT_EQ(refusal(QUniform{0, 0.3, 0.1}), "none");
}

TEST(Distribution, RefusesMissingAndRepeatedOptions) {
  EXPECT_EQ(refusal(Choice{}), "H0705");
  EXPECT_EQ(refusal(Grid{{1.0, 2.0, 1.0}}), "H0705");
  EXPECT_EQ(refusal(Choice{{std::int64_t{1}, 1.0}}), "H0705");
  EXPECT_EQ(refusal(Choice{{true, std::int64_t{1}}}), "none");
}

TEST(Value, TextReadsBackAsTheSameValue) {
  EXPECT_EQ(to_text(Value(true)), "true");
  EXPECT_EQ(to_text(Value(std::int64_t{128})), "128");
  EXPECT_EQ(to_text(Value(0.1)), "0.1");
  EXPECT_EQ(to_text(Value(2.0)), "2.0");
  EXPECT_EQ(to_text(Value(std::string("relu"))), "relu");
}

}  // namespace
}  // namespace hydro::search
