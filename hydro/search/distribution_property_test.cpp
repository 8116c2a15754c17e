// What holds of every distribution: a draw is inside, on the grid, and reads back as itself.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "hydro/base/json.h"
#include "hydro/base/text.h"
#include "hydro/search/space.h"

namespace hydro::search {
namespace {

/// a 10^e as it would be written.
double decimal(std::int64_t digits, int exponent) {
  return std::stod(std::to_string(digits) + "e" + std::to_string(exponent));
}

double uniform_draw() {
  return *rc::gen::map(rc::gen::inRange<std::int64_t>(0, std::int64_t{1} << 53),
                       [](std::int64_t k) { return static_cast<double>(k) * 0x1p-53; });
}

struct GridNumbers {
  std::int64_t low;
  std::int64_t q;
  std::int64_t steps;
  int exponent;
};

GridNumbers any_grid(std::int64_t lowest) {
  return {.low = *rc::gen::inRange<std::int64_t>(lowest, 10'000),
          .q = *rc::gen::inRange<std::int64_t>(1, 1000),
          .steps = *rc::gen::inRange<std::int64_t>(1, 10'000),
          .exponent = *rc::gen::inRange(-12, 6)};
}

Distribution any_real_grid(bool log) {
  const GridNumbers grid = any_grid(log ? 1 : -10'000);
  const double low = decimal(grid.low, grid.exponent);
  const double high = decimal(grid.low + grid.q * grid.steps, grid.exponent);
  const double q = decimal(grid.q, grid.exponent);
  return log ? Distribution(QLogUniform{low, high, q}) : Distribution(QUniform{low, high, q});
}

Distribution any_whole_grid(bool log) {
  const GridNumbers grid = any_grid(log ? 1 : -10'000);
  const std::int64_t high = grid.low + grid.q * grid.steps;
  switch (*rc::gen::inRange(0, 3)) {
    case 0:
      return log ? Distribution(QLogRandInt{grid.low, high, grid.q})
                 : Distribution(QRandInt{grid.low, high, grid.q});
    case 1:
      return log ? Distribution(LogRandInt{grid.low, high})
                 : Distribution(RandInt{grid.low, high});
    default:
      return Int{grid.low, high};
  }
}

Distribution any_continuous() {
  const GridNumbers grid = any_grid(1);
  const double low = decimal(grid.low, grid.exponent);
  const double high = decimal(grid.low + grid.q, grid.exponent);
  switch (*rc::gen::inRange(0, 4)) {
    case 0:
      return Uniform{low, high};
    case 1:
      return LogUniform{low, high};
    case 2:
      return RandN{low, high};
    default:
      return QRandN{low, high, decimal(grid.q, grid.exponent)};
  }
}

Distribution any_distribution() {
  switch (*rc::gen::inRange(0, 4)) {
    case 0:
      return any_real_grid(*rc::gen::arbitrary<bool>());
    case 1:
      return any_whole_grid(*rc::gen::arbitrary<bool>());
    case 2:
      return any_continuous();
    default:
      return Choice{{true, std::int64_t{64}, 0.1, std::string("40%"), -1e-300}};
  }
}

RC_GTEST_PROP(DistributionProperty, ADrawCanBeDrawn, ()) {
  const Distribution distribution = any_distribution();
  RC_ASSERT(check_distribution(distribution).has_value());
  RC_ASSERT(contains(distribution, value_at(distribution, uniform_draw())));
}

RC_GTEST_PROP(DistributionProperty, ADrawSurvivesJson, ()) {
  const Distribution distribution = any_distribution();
  const Value value = value_at(distribution, uniform_draw());
  const std::string text =
      std::visit([](const auto& held) { return Json(held).dump(); }, value);
  const Json back = Json::parse(text);
  const Value read = back.is_boolean()          ? Value(back.get<bool>())
                     : back.is_number_integer() ? Value(back.get<std::int64_t>())
                     : back.is_number()         ? Value(back.get<double>())
                                                : Value(back.get<std::string>());
  RC_ASSERT(read == value);
}

RC_GTEST_PROP(DistributionProperty, GridPointsAreShortDecimals, ()) {
  const Distribution distribution = any_real_grid(*rc::gen::arbitrary<bool>());
  const Value value = value_at(distribution, uniform_draw());
  // At most 8 digits and an exponent, where a product of doubles has up to 17.
  const std::string text = plain_number(std::get<double>(value));
  const std::size_t digits = static_cast<std::size_t>(std::ranges::count_if(
      text.substr(0, text.find('e')), [](char c) { return c >= '1' && c <= '9'; }));
  RC_ASSERT(digits <= 8U);
}

RC_GTEST_PROP(DistributionProperty, DrawsRiseWithU, ()) {
  const Distribution distribution = any_real_grid(*rc::gen::arbitrary<bool>());
  const double u = uniform_draw();
  const double v = uniform_draw();
  const double x = std::get<double>(value_at(distribution, std::min(u, v)));
  const double y = std::get<double>(value_at(distribution, std::max(u, v)));
  RC_ASSERT(x <= y);
}

RC_GTEST_PROP(DistributionProperty, BothEndsOfAGridAreReached, ()) {
  const Distribution distribution = any_real_grid(*rc::gen::arbitrary<bool>());
  const std::vector<Value> ends = extremes(distribution);
  RC_ASSERT(value_at(distribution, 0) == ends.front());
  RC_ASSERT(value_at(distribution, 1 - 0x1p-53) == ends.back());
}

}  // namespace
}  // namespace hydro::search
