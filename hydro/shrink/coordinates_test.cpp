#include "hydro/shrink/coordinates.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "hydro/shrink/surrogate.h"
#include "hydro/shrink/testing.h"

namespace hydro::shrink {

namespace {

LayerPair layer(const std::string& name,
                Role role,
                double update_ratio,
                std::int64_t width = 16) {
  return {.layer = name,
          .role = role,
          .narrow_width = width,
          .wide_update = 2,
          .narrow_update = 2 * update_ratio,
          .wide_activation = 1,
          .narrow_activation = 1};
}

CoordinateVerdict judge(const std::vector<LayerPair>& layers, const Band& band = {}) {
  return judge_coordinates(layers, {2.3}, {2.3}, band);
}

TEST(JudgeCoordinates, PassesLayersThatLearnAtOneSpeed) {
  const CoordinateVerdict verdict = judge({layer("a", Role::kInput, 1.1),
                                           layer("b", Role::kHidden, 1.25),
                                           layer("c", Role::kHidden, 0.8)});
  EXPECT_TRUE(verdict.passed);
  EXPECT_NEAR(verdict.hidden_mean, 1, 1e-12);
}

TEST(JudgeCoordinates, NamesTheLayersThatLearnAtAnother) {
  const CoordinateVerdict verdict = judge({layer("a", Role::kInput, 4.1),
                                           layer("b", Role::kHidden, 1),
                                           layer("c", Role::kOutput, 0.4)});
  EXPECT_FALSE(verdict.passed);
  EXPECT_EQ(verdict.failed, (std::vector<std::string>{"a", "c"}));
}

TEST(JudgeCoordinates, JudgesTheGeometricMeanOfHiddenLayers) {
  const CoordinateVerdict verdict =
      judge({layer("a", Role::kHidden, 1.5), layer("b", Role::kHidden, 1.5)});
  EXPECT_NEAR(verdict.hidden_mean, 1.5, 1e-12);
  EXPECT_EQ(verdict.failed, std::vector<std::string>{"geometric mean over hidden layers"});
}

TEST(JudgeCoordinates, PrintsNarrowLayersWithoutJudgingThem) {
  const CoordinateVerdict verdict = judge({layer("a", Role::kHidden, 9, 15)});
  EXPECT_TRUE(verdict.passed);
  ASSERT_EQ(verdict.layers.size(), 1U);
  EXPECT_FALSE(verdict.layers[0].judged);
  EXPECT_EQ(verdict.layers[0].update_ratio, 9);
}

TEST(JudgeCoordinates, NotANumberFails) {
  EXPECT_FALSE(judge({layer("a", Role::kInput, std::nan(""))}).passed);
}

TEST(JudgeCoordinates, LossesMustBeTheSameBits) {
  const CoordinateVerdict verdict =
      judge_coordinates({}, {2.3}, {std::nextafter(2.3, 3)}, Band{});
  EXPECT_FALSE(verdict.losses_equal);
  EXPECT_EQ(verdict.failed, std::vector<std::string>{"step-1 loss"});
}

TEST(JudgeCoordinates, LossesAreNotComparedWhereTheHeadIsTied) {
  Surrogate surrogate;
  surrogate.parameters.resize(1);
  surrogate.parameters[0].tied = true;
  EXPECT_FALSE(starts_at_zero(surrogate));
  surrogate.parameters[0].readout = true;
  EXPECT_TRUE(starts_at_zero(surrogate));
  const CoordinateVerdict verdict = judge_coordinates({}, {}, {}, Band{});
  EXPECT_FALSE(verdict.losses_compared);
  EXPECT_TRUE(verdict.passed);
}

TEST(JudgeCoordinates, JudgesActivationsAveragedOverARole) {
  LayerPair high = layer("a", Role::kHidden, 1);
  high.narrow_activation = 1.4;
  LayerPair low = layer("b", Role::kHidden, 1);
  low.narrow_activation = 1 / 1.4;
  EXPECT_TRUE(judge({high, low}).passed);
  EXPECT_EQ(judge({high}).failed, std::vector<std::string>{"mean activation of hidden layers"});
  EXPECT_TRUE(judge({high}, {.activation = std::numeric_limits<double>::infinity()}).passed);
}

Case mlp(std::int64_t width) {
  const std::string size = std::to_string(width);
  return case_of("graph {\n  input parameter a %a: float32[" + size +
                 ", 8]\n  input parameter b %b: float32[10, " + size +
                 "]\n  input user x %x: float32[~5, 8]\n  %h: float32[~5, " + size +
                 "] = aten.linear.default(input=%x, weight=%a, bias=None)\n"
                 "  %y: float32[~5, 10] = aten.linear.default(input=%h, weight=%b, bias=None)\n"
                 "  output user y %y\n}\n");
}

CoordinateWidths widths(std::int64_t width, double scaling) {
  Case made = mlp(width);
  made.options.scaling = scaling;
  return coordinate_widths(made.model, made.options, 16).value();
}

TEST(CoordinateWidths, CompareTheStudysWidthWithOneFourTimesWider) {
  EXPECT_EQ(widths(512, 8).narrow, 8);
  EXPECT_EQ(widths(512, 8).wide, 2);
}

TEST(CoordinateWidths, NeverCompareLessThanAFactorOfFour) {
  EXPECT_EQ(widths(512, 2).narrow, 4);
  EXPECT_EQ(widths(512, 2).wide, 1);
}

TEST(CoordinateWidths, GetLessNarrowUntilNoClassIsTooNarrow) {
  EXPECT_EQ(widths(96, 16).narrow, 6);
  EXPECT_EQ(widths(64, 8).narrow, 4);
  EXPECT_EQ(widths(32, 8).narrow, 4);
}

TEST(CoordinateWidths, CanBeShrunkTo) {
  Case made = mlp(96);
  made.options.scaling = widths(96, 16).wide;
  EXPECT_FALSE(shrink(made.model, made.options).has_value());
  made.options.saving = Saving::kAny;
  EXPECT_TRUE(shrink(made.model, made.options).has_value());
}

}  // namespace

}  // namespace hydro::shrink
