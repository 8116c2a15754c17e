#include "hydro/optim/gradient_norm.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "hydro/optim/flat_layout.h"
#include "hydro/optim/testing.h"

namespace hydro::optim {
namespace {

using testing::distance;
using testing::wave;

const std::vector<std::vector<std::int64_t>> kNormShapes = {{200, 300}, {5}, {4, 3, 2, 2}};

std::vector<at::Tensor> gradients(const FlatLayout& layout) {
  std::vector<at::Tensor> made;
  for (std::size_t i = 0; i < kNormShapes.size(); ++i) {
    std::vector<std::int64_t> shape = kNormShapes[i];
    if (layout.trials() > 1) {
      shape.insert(shape.begin(), layout.trials());
    }
    made.push_back(layout.match(wave(shape, .3), i));
  }
  return made;
}

TEST(NormMeter, MeasuresTheNormOfEachTrialOverItsDecayFactors) {
  const FlatLayout layout(kNormShapes, 2, at::kFloat);
  const auto g = gradients(layout);
  const auto norms = NormMeter(layout, {2, 1, .5}).measure(g);
  for (std::int64_t k = 0; k < 2; ++k) {
    const auto square = [&](std::size_t i) {
      return g[i][k].to(at::kDouble).pow(2).sum().item<double>();
    };
    const double expected = std::sqrt((square(0) / 2) + square(1) + (square(2) / .5));
    EXPECT_NEAR(norms[static_cast<std::size_t>(k)].norm, expected, 1e-9 * expected);
  }
}

TEST(NormMeter, GivesTheSameBitsOnAnyNumberOfThreads) {
  const FlatLayout layout(kNormShapes, 1, at::kFloat);
  const NormMeter meter(layout, {1, 1, 1});
  const auto g = gradients(layout);
  const int before = at::get_num_threads();
  at::set_num_threads(1);
  const double one = meter.measure(g)[0].norm;
  at::set_num_threads(2);
  const double two = meter.measure(g)[0].norm;
  at::set_num_threads(before);
  EXPECT_EQ(one, two);
}

TEST(NormMeter, FindsTheOneTrialThatIsNotFinite) {
  const FlatLayout layout(kNormShapes, 3, at::kFloat);
  auto g = gradients(layout);
  g[1][1][4] = std::numeric_limits<float>::infinity();
  const auto norms = NormMeter(layout, {1, 1, 1}).measure(g);
  EXPECT_TRUE(norms[0].is_finite());
  EXPECT_FALSE(norms[1].is_finite());
  EXPECT_TRUE(norms[2].is_finite());
}

TEST(ClipScale, IsOneUnderTheLimitAndScalesDownToItAbove) {
  EXPECT_EQ(clip_scale(.5, 1), 1);
  EXPECT_NEAR(clip_scale(4, 1) * 4, 1, 1e-6);
}

TEST(FlatLayout, AlignsEveryTensorAndKeepsEachTrialsPartTogether) {
  const FlatLayout layout(kNormShapes, 3, at::kFloat);
  const at::Tensor flat = layout.make_buffer();
  for (std::size_t i = 0; i < kNormShapes.size(); ++i) {
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(layout.view(flat, i).data_ptr()) % 64, 0U);
    layout.view(flat, i, 1).fill_(1 + static_cast<double>(i));
    EXPECT_EQ(layout.view(flat, i)[1].min().item<float>(), 1 + static_cast<float>(i));
    EXPECT_EQ(layout.view(flat, i)[0].max().item<float>(), 0);
    EXPECT_EQ(layout.view(flat, i)[2].max().item<float>(), 0);
  }
}

TEST(FlatLayout, LaysConvolutionWeightsChannelsLastForOneTrialOnly) {
  const FlatLayout one(kNormShapes, 1, at::kFloat);
  const FlatLayout two(kNormShapes, 2, at::kFloat);
  EXPECT_TRUE(one.view(one.make_buffer(), 2).is_contiguous(at::MemoryFormat::ChannelsLast));
  EXPECT_TRUE(two.view(two.make_buffer(), 2).is_contiguous());
}

TEST(FlatLayout, MatchesAGradientWithoutACopyWhereItAlreadyLiesRight) {
  const FlatLayout layout(kNormShapes, 1, at::kFloat);
  const at::Tensor right = wave({4, 3, 2, 2}, .1).contiguous(at::MemoryFormat::ChannelsLast);
  EXPECT_EQ(layout.match(right, 2).data_ptr(), right.data_ptr());
  EXPECT_EQ(distance(layout.match(wave({4, 3, 2, 2}, .1), 2), right), 0);
}

}  // namespace
}  // namespace hydro::optim
