// Draws against the law that docs/search-space.md states: chi-square over the cells, or the
// Kolmogorov-Smirnov distance, at 1e-4 over 100,000 draws of a fixed stream.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "hydro/search/space.h"
#include "hydro/search/testing.h"

namespace hydro::search {
namespace {

using testing::chi_square;
using testing::count_draws;
using Masses = std::map<std::string, double>;

constexpr std::uint32_t kDraws = 100'000;

/// 1 - 1e-4 quantile of chi-square with `n` degrees of freedom (Wilson and Hilferty).
double chi_square_limit(double n) {
  constexpr double kZ = 3.719;
  return n * std::pow(1 - 2 / (9 * n) + kZ * std::sqrt(2 / (9 * n)), 3);
}

void expect_law(const Distribution& distribution, const Masses& masses) {
  double sum = 0;
  for (const auto& [text, mass] : masses) {
    sum += mass;
  }
  ASSERT_NEAR(sum, 1, 1e-12) << distribution_name(distribution);
  EXPECT_LT(chi_square(count_draws(distribution, kDraws), masses, kDraws),
            chi_square_limit(static_cast<double>(masses.size()) - 1))
      << distribution_name(distribution);
}

/// Each value has the same mass.
Masses equal_masses(const Distribution& distribution) {
  const std::vector<Value> all = values(distribution).value();
  Masses masses;
  for (const Value& value : all) {
    masses[to_text(value)] = 1.0 / static_cast<double>(all.size());
  }
  return masses;
}

/// A point has the logarithmic length of the part of [low, high] that is nearest to it.
Masses log_masses(const Distribution& distribution, double low, double high, double q) {
  const std::vector<Value> all = values(distribution).value();
  Masses masses;
  for (const Value& value : all) {
    const double x = std::stod(to_text(value));
    const double from = std::max(low, x - q / 2);
    const double to = std::min(high, x + q / 2);
    masses[to_text(value)] = std::log(to / from) / std::log(high / low);
  }
  return masses;
}

/// Of a continuous law with distribution function `share`.
void expect_continuous_law(const Distribution& distribution,
                           const std::function<double(double)>& share) {
  std::vector<double> shares;
  for (std::uint32_t i = 0; i < kDraws; ++i) {
    const Value value = value_at(distribution, testing::test_uniform(i));
    shares.push_back(share(std::get<double>(value)));
  }
  std::ranges::sort(shares);
  double distance = 0;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    const double below = static_cast<double>(i) / kDraws;
    const double above = static_cast<double>(i + 1) / kDraws;
    distance = std::max({distance, std::abs(shares[i] - below), std::abs(shares[i] - above)});
  }
  constexpr double kLimit = 2.2253;  // 2 exp(-2 x^2) = 1e-4
  EXPECT_LT(distance * std::sqrt(kDraws), kLimit) << distribution_name(distribution);
}

double normal_share(double z) {
  return std::erfc(-z / std::sqrt(2.0)) / 2;
}

TEST(Draws, UniformLoguniformAndRandnFollowTheirLaws) {
  expect_continuous_law(Uniform{.low = -2, .high = 3}, [](double x) { return (x + 2) / 5; });
  expect_continuous_law(LogUniform{.low = 1e-5, .high = 1},
                        [](double x) { return 1 + std::log10(x) / 5; });
  expect_continuous_law(RandN{.mean = 3, .sd = 0.5},
                        [](double x) { return normal_share((x - 3) / 0.5); });
}

TEST(Draws, EveryPointOfAnEvenGridHasTheSameMass) {
  const QUniform momentum{.low = 0.5, .high = 0.999, .q = 0.001};
  EXPECT_EQ(value_count(momentum), 500);
  expect_law(momentum, equal_masses(momentum));
  expect_law(QUniform{0, 0.7, 0.1}, equal_masses(QUniform{0, 0.7, 0.1}));
  expect_law(RandInt{3, 7}, {{"3", 0.25}, {"4", 0.25}, {"5", 0.25}, {"6", 0.25}});
  expect_law(QRandInt{1, 10, 3}, {{"1", 0.25}, {"4", 0.25}, {"7", 0.25}, {"10", 0.25}});
  expect_law(Int{-1, 1}, equal_masses(Int{-1, 1}));
}

TEST(Draws, APointOfALogarithmicGridHasTheMassOfItsInterval) {
  const QLogUniform real{.low = 0.1, .high = 2, .q = 0.1};
  expect_law(real, log_masses(real, 0.1, 2, 0.1));
  const QLogRandInt whole{.low = 10, .high = 50, .q = 10};
  expect_law(whole, log_masses(whole, 10, 50, 10));
}

TEST(Draws, LograndintGivesKTheMassBetweenKAndTheNext) {
  Masses masses;
  for (int k = 1; k < 9; ++k) {
    masses[std::to_string(k)] = std::log((k + 1.0) / k) / std::log(9.0);
  }
  expect_law(LogRandInt{1, 9}, masses);
}

TEST(Draws, QrandnGivesAMultipleTheMassOfItsInterval) {
  Masses masses;
  for (int k = -20; k <= 20; ++k) {
    const double q = 0.5;
    const double mass = normal_share((k + 0.5) * q) - normal_share((k - 0.5) * q);
    // The far ones come too rarely for a cell of their own.
    masses[to_text(q * std::clamp(k, -6, 6))] += mass;
  }
  auto counts = count_draws(QRandN{0, 1, 0.5}, kDraws);
  for (auto it = counts.begin(); it != counts.end();) {
    const double x = std::stod(it->first);
    if (std::abs(x) > 3) {
      counts[x < 0 ? "-3.0" : "3.0"] += it->second;
      it = counts.erase(it);
    } else {
      ++it;
    }
  }
  EXPECT_LT(chi_square(counts, masses, kDraws), chi_square_limit(12));
}

TEST(Draws, OptionsHaveTheSameMass) {
  const std::vector<Value> options{true, std::int64_t{64}, 0.5, std::string("relu")};
  expect_law(Choice{options}, equal_masses(Choice{options}));
  expect_law(Ordinal{options}, equal_masses(Ordinal{options}));
  expect_law(Grid{options}, equal_masses(Grid{options}));
}

}  // namespace
}  // namespace hydro::search
