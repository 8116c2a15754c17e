// hydro/search/testing.h — spaces in one line, and how often values come.
#pragma once

#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hydro/base/philox.h"
#include "hydro/search/space.h"

namespace hydro::search::testing {

inline Parameter parameter(const std::string& path, Distribution distribution) {
  return {.path = path,
          .name = path,
          .distribution = std::move(distribution),
          .condition = std::nullopt};
}

inline Parameter in_branch(std::string choice, std::int64_t branch, Parameter inner) {
  inner.condition = Condition{.parameter = std::move(choice), .branch = branch};
  return inner;
}

/// The u of draw i, from a fixed stream.
inline double test_uniform(std::uint32_t i) {
  const PhiloxBlock words = philox(20261129, {i, 0, 0, 0});
  return unit_double(words[0], words[1]);
}

inline std::map<std::string, std::int64_t> count_draws(const Distribution& distribution,
                                                       std::uint32_t draws) {
  std::map<std::string, std::int64_t> counts;
  for (std::uint32_t i = 0; i < draws; ++i) {
    ++counts[to_text(value_at(distribution, test_uniform(i)))];
  }
  return counts;
}

/// Pearson's statistic over the cells of `masses`; a value outside them makes it infinite.
inline double chi_square(const std::map<std::string, std::int64_t>& counts,
                         const std::map<std::string, double>& masses,
                         std::uint32_t draws) {
  double sum = 0;
  for (const auto& [text, count] : counts) {
    sum += masses.contains(text) ? 0 : HUGE_VAL;
  }
  for (const auto& [text, mass] : masses) {
    const double expected = mass * draws;
    const auto found = counts.find(text);
    const double seen = found == counts.end() ? 0 : static_cast<double>(found->second);
    sum += (seen - expected) * (seen - expected) / expected;
  }
  return sum;
}

}  // namespace hydro::search::testing
