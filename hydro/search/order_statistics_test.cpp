#include "hydro/search/order_statistics.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace hydro::search {
namespace {

double sorted_quantile(std::vector<double> values,
                       std::int64_t numerator,
                       std::int64_t denominator) {
  std::ranges::sort(values);
  const auto place = (static_cast<std::int64_t>(values.size()) - 1) * numerator;
  const auto low = static_cast<std::size_t>(place / denominator);
  const auto high = std::min(low + 1, values.size() - 1);
  const double share =
      static_cast<double>(place % denominator) / static_cast<double>(denominator);
  return values[low] * (1 - share) + values[high] * share;
}

TEST(Quantile, IsThatOfTheSortedValues) {
  for (const auto& [numerator, denominator] : {std::pair(1, 2), {2, 3}, {3, 4}, {9, 10}}) {
    std::mt19937_64 random(static_cast<std::uint64_t>(denominator));
    Quantile quantile(numerator, denominator);
    std::vector<double> values;
    for (int i = 0; i < 300; ++i) {
      values.push_back(static_cast<double>(random() % 50) / 50);  // with ties
      quantile.add(values.back());
      EXPECT_NEAR(*quantile.value(), sorted_quantile(values, numerator, denominator), 1e-12);
    }
  }
}

TEST(Quantile, IsNothingBeforeTheFirstValue) {
  EXPECT_EQ(Quantile(1, 2).value(), std::nullopt);
}

/// The rule by sorting everything again.
std::optional<std::int64_t> best_by_sorting(std::vector<std::pair<double, std::int64_t>> all,
                                            const std::set<std::int64_t>& taken,
                                            std::int64_t eta) {
  std::ranges::sort(all);
  all.resize(all.size() / static_cast<std::size_t>(eta));
  for (const auto& [value, id] : all) {
    if (!taken.contains(id)) {
      return id;
    }
  }
  return std::nullopt;
}

TEST(BestShare, AnswersAsSortingWould) {
  for (const std::int64_t eta : {2, 3, 5}) {
    std::mt19937_64 random(static_cast<std::uint64_t>(eta));
    BestShare share(eta);
    std::vector<std::pair<double, std::int64_t>> all;
    std::set<std::int64_t> taken;
    for (std::int64_t id = 0; id < 300; ++id) {
      const double value = static_cast<double>(random() % 40) / 40;  // with ties
      share.add(id, value);
      all.emplace_back(-value, id);
      EXPECT_EQ(share.best(), best_by_sorting(all, taken, eta))
          << "eta " << eta << " id " << id;
      if (share.best() && random() % 2 == 0) {
        const std::int64_t best = *share.best();
        share.take(best, -all[static_cast<std::size_t>(best)].first);
        taken.insert(best);
      }
    }
    EXPECT_FALSE(taken.empty());
  }
}

}  // namespace
}  // namespace hydro::search
