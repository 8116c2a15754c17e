#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "hydro/base/text.h"
#include "hydro/search/space.h"

namespace hydro::search {
namespace {

std::string refusal(const Distribution& distribution) {
  const auto checked = check_distribution(distribution);
  return checked ? "none" : checked.error().id;
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

TEST(Distribution, ChoiceKeepsTheTypeOfItsOptions) {
  const Choice choice{{true, std::int64_t{64}, 0.5, std::string("relu")}};
  EXPECT_EQ(value_at(choice, 0.3), Value(std::int64_t{64}));
}

TEST(Distribution, RandintExcludesItsUpperBoundAndIntHasIt) {
  EXPECT_EQ(values(RandInt{3, 5}), (std::vector<Value>{std::int64_t{3}, std::int64_t{4}}));
  EXPECT_EQ(values(Int{3, 5}),
            (std::vector<Value>{std::int64_t{3}, std::int64_t{4}, std::int64_t{5}}));
}

TEST(Distribution, QrandnIsAMultipleOfItsStepInExactDecimals) {
  const QRandN distribution{.mean = 0.3, .sd = 1e-6, .q = 0.1};
  EXPECT_EQ(to_text(value_at(distribution, 0.5)), "0.3");
  EXPECT_FALSE(value_count(distribution).has_value());
}

TEST(Distribution, NormalDrawsAreFiniteAndSymmetric) {
  const RandN normal{.mean = 0, .sd = 1};
  EXPECT_EQ(median(normal), Value(0.0));
  EXPECT_NEAR(std::get<double>(value_at(normal, 0)), -8.29, 0.01);
  EXPECT_NEAR(std::get<double>(value_at(normal, 1 - 0x1p-53)), 8.21, 0.01);
  EXPECT_NEAR(std::get<double>(value_at(normal, 0.975)), 1.959964, 1e-6);
}

TEST(Distribution, ExtremesAreTheEndsOrAllOptions) {
  EXPECT_EQ(extremes(QRandInt{1, 10, 3}),
            (std::vector<Value>{std::int64_t{1}, std::int64_t{10}}));
  EXPECT_EQ(extremes(LogUniform{0.1, 1}), (std::vector<Value>{0.1, 1.0}));
  EXPECT_EQ(extremes(Ordinal{{0.1, 0.5, 0.3}}), (std::vector<Value>{0.1, 0.5, 0.3}));
}

TEST(Distribution, AMemberIsTheValueThatAnotherProgramMeant) {
  EXPECT_EQ(member(QUniform{0, 0.7, 0.1}, 0.30000000000000004), Value(0.3));
  EXPECT_EQ(member(QUniform{0, 0.7, 0.1}, 0.7000000000000001), Value(0.7));
  EXPECT_EQ(member(Uniform{0, 2}, std::int64_t{1}), Value(1.0));
  EXPECT_EQ(member(Choice{{std::int64_t{64}}}, 64.0), Value(std::int64_t{64}));
  EXPECT_EQ(member(Int{1, 3}, 2.0), Value(std::int64_t{2}));
  EXPECT_EQ(member(QRandN{0, 1, 0.1}, 0.1 * 3), Value(0.3));
  EXPECT_EQ(member(Int{1, 3}, 2.5), std::nullopt);
  EXPECT_EQ(member(QRandInt{1, 10, 3}, std::int64_t{2}), std::nullopt);
  EXPECT_EQ(member(QUniform{0, 0.7, 0.1}, 0.35), std::nullopt);
  EXPECT_EQ(member(QUniform{0, 0.7, 0.1}, 0.8), std::nullopt);
  EXPECT_EQ(member(RandN{0, 1}, std::nan("")), std::nullopt);
  EXPECT_EQ(member(Uniform{0, 2}, true), std::nullopt);
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
  EXPECT_EQ(refusal(Int{5, 5}), "H0701");
  EXPECT_EQ(refusal(Int{0, INT64_MAX}), "H0701");
  EXPECT_EQ(refusal(QRandInt{5, 1, 1}), "H0701");
  EXPECT_EQ(refusal(RandN{0, 0}), "H0701");
}

TEST(Distribution, RefusesLogRangesThatTouchZero) {
  EXPECT_EQ(refusal(LogUniform{0, 1}), "H0702");
  EXPECT_EQ(refusal(QLogUniform{-1, 1, 0.5}), "H0702");
  EXPECT_EQ(refusal(LogRandInt{0, 10}), "H0702");
  EXPECT_EQ(refusal(QLogRandInt{0, 10, 2}), "H0702");
}

TEST(Distribution, TakesWholeNegativeLogBoundsForExponents) {
  EXPECT_EQ(check_distribution(LogUniform{-4, 0}).error().remedy,
            "for powers of ten write [1e-04, 1]");
  EXPECT_EQ(check_distribution(LogUniform{-0.5, 1}).error().remedy,
            "start above 0, such as 1e-6");
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
  EXPECT_EQ(refusal(QRandInt{1, 9, 3}), "H0704");
  EXPECT_EQ(refusal(QRandInt{1, 9, 0}), "H0704");
  EXPECT_EQ(refusal(QRandN{0, 1, 0}), "H0704");
  EXPECT_EQ(refusal(QRandN{0, 1, 1e-16}), "H0704");
  EXPECT_EQ(refusal(QRandN{0, 1, 0.1}), "none");
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
