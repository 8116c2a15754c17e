#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "hydro/base/result.h"
#include "hydro/kernels/optimizer_step.h"
#include "hydro/kernels/sum_of_squares.h"

namespace hydro::kernels {
namespace {

/// Irregular values without a random generator.
template <class Real>
std::vector<Real> wave(std::size_t size, double phase) {
  std::vector<Real> values(size);
  for (std::size_t i = 0; i < size; ++i) {
    values[i] = static_cast<Real>(std::sin((1.7 * static_cast<double>(i)) + phase) + 0.1);
  }
  return values;
}

template <class Real>
struct Buffers {
  std::vector<Real> weight = wave<Real>(1003, 0.3);
  std::vector<Real> gradient = wave<Real>(1003, 1.1);
  std::vector<Real> first = wave<Real>(1003, 2.0);
  std::vector<Real> second = std::vector<Real>(1003, Real(0.25));
  std::vector<Real> largest = std::vector<Real>(1003, Real(0.5));

  [[nodiscard]] SgdRange<Real> sgd(std::size_t from, std::size_t size) {
    return {.weight = std::span(weight).subspan(from, size),
            .gradient = std::span<const Real>(gradient).subspan(from, size),
            .velocity = std::span(first).subspan(from, size)};
  }

  [[nodiscard]] AdamRange<Real> adam(std::size_t from, std::size_t size) {
    return {.weight = std::span(weight).subspan(from, size),
            .gradient = std::span<const Real>(gradient).subspan(from, size),
            .mean = std::span(first).subspan(from, size),
            .square = std::span(second).subspan(from, size),
            .largest = std::span(largest).subspan(from, size)};
  }
};

constexpr SgdNumbers kSgd{
    .lr = .1, .momentum = .9, .dampening = .2, .weight_decay = .01, .gradient_scale = .5};
constexpr AdamNumbers kAdam{
    .lr = .1, .weight_decay = .01, .gradient_scale = .5, .step = 3, .decoupled = true};

TEST(SgdStep, FollowsItsFormula) {
  Buffers<double> buffers;
  const double w = buffers.weight[5];
  const double velocity =
      (.9 * buffers.first[5]) + (.8 * ((.5 * buffers.gradient[5]) + (.01 * w)));
  sgd_step(kSgd, buffers.sgd(0, 1003));
  EXPECT_NEAR(buffers.first[5], velocity, 1e-14);
  EXPECT_NEAR(buffers.weight[5], w - (.1 * velocity), 1e-14);
}

TEST(SgdStep, TakesTheGradientItselfAsFirstVelocityWhateverTheBufferHolds) {
  Buffers<float> buffers;
  buffers.first.assign(1003, std::numeric_limits<float>::quiet_NaN());
  sgd_step({.lr = .1, .momentum = .9, .dampening = .5, .first_step = true},
           buffers.sgd(0, 1003));
  EXPECT_EQ(buffers.first, buffers.gradient);
}

TEST(SgdStep, NeedsNoVelocityWithoutMomentumAndIgnoresDampening) {
  Buffers<double> buffers;
  const double w = buffers.weight[7];
  auto range = buffers.sgd(0, 1003);
  range.velocity = {};
  sgd_step({.lr = .1, .dampening = .5}, range);
  EXPECT_NEAR(buffers.weight[7], w - (.1 * buffers.gradient[7]), 1e-14);
}

TEST(SgdStep, GivesTheSameBitsInPieces) {
  Buffers<float> whole;
  Buffers<float> pieces;
  sgd_step(kSgd, whole.sgd(0, 1003));
  for (std::size_t i = 0; i < 1003; i += 17) {
    sgd_step(kSgd, pieces.sgd(i, 17));
  }
  EXPECT_EQ(whole.weight, pieces.weight);
}

TEST(AdamStep, FollowsItsFormulaWithDecoupledDecayAndRunningMaximum) {
  Buffers<double> buffers;
  const double g = .5 * buffers.gradient[9];
  const double mean = (.9 * buffers.first[9]) + (.1 * g);
  const double square = (.999 * .25) + (.001 * g * g);
  const double root = std::sqrt(std::max(.5, square)) / std::sqrt(1 - std::pow(.999, 3));
  const double shrunk = buffers.weight[9] * (1 - .001);
  adam_step(kAdam, buffers.adam(0, 1003));
  EXPECT_NEAR(
      buffers.weight[9], shrunk - (.1 / (1 - std::pow(.9, 3)) * mean / (root + 1e-8)), 1e-13);
  EXPECT_NEAR(buffers.second[9], square, 1e-14);
}

TEST(AdamStep, AddsL2ToTheGradientWhenNotDecoupled) {
  Buffers<double> buffers;
  const double g = (.5 * buffers.gradient[9]) + (.01 * buffers.weight[9]);
  const double mean = (.9 * buffers.first[9]) + (.1 * g);
  AdamNumbers numbers = kAdam;
  numbers.decoupled = false;
  adam_step(numbers, buffers.adam(0, 1003));
  EXPECT_NEAR(buffers.first[9], mean, 1e-14);
}

TEST(AdamStep, GivesTheSameBitsInPieces) {
  Buffers<float> whole;
  Buffers<float> pieces;
  adam_step(kAdam, whole.adam(0, 1003));
  for (std::size_t i = 0; i < 1003; i += 59) {
    adam_step(kAdam, pieces.adam(i, 59));
  }
  EXPECT_EQ(whole.weight, pieces.weight);
}

TEST(Steps, RefuseRangesOfUnequalLength) {
  Buffers<float> buffers;
  auto sgd = buffers.sgd(0, 10);
  sgd.gradient = sgd.gradient.first(9);
  EXPECT_THROW(sgd_step(kSgd, sgd), BugError);
  auto adam = buffers.adam(0, 10);
  adam.mean = adam.mean.first(9);
  EXPECT_THROW(adam_step(kAdam, adam), BugError);
}

TEST(SumOfSquares, AgreesWithAPlainSum) {
  const auto x = wave<float>(1003, 0.7);
  double expected = 0;
  for (const float value : x) {
    expected += static_cast<double>(value) * value;
  }
  EXPECT_NEAR(sum_of_squares(x), expected, 1e-10);
}

TEST(SumOfSquares, StaysFiniteForTheLargestFloatAndNotForInfinity) {
  std::vector<float> x(40, std::numeric_limits<float>::max());
  EXPECT_TRUE(std::isfinite(sum_of_squares(x)));
  x[37] = std::numeric_limits<float>::infinity();
  EXPECT_FALSE(std::isfinite(sum_of_squares(x)));
  x[37] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_FALSE(std::isfinite(sum_of_squares(x)));
}

}  // namespace
}  // namespace hydro::kernels
