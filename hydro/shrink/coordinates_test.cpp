#include "hydro/shrink/coordinates.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "hydro/shrink/surrogate.h"
#include "hydro/shrink/testing.h"

namespace hydro::shrink {

namespace {

LayerPair layer(const std::string& name, Role role, double update_ratio) {
  return {.layer = name,
          .role = role,
          .wide_update = 2,
          .narrow_update = 2 * update_ratio,
          .wide_activation = 1,
          .narrow_activation = 1};
}

std::vector<std::string> failed(const CoordinateVerdict& verdict) {
  std::vector<std::string> names;
  for (const Miss& miss : verdict.misses) {
    names.push_back(miss.what);
  }
  return names;
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
  EXPECT_EQ(failed(verdict), (std::vector<std::string>{"a", "c"}));
}

TEST(JudgeCoordinates, JudgesTheGeometricMeanOfHiddenLayers) {
  const CoordinateVerdict verdict =
      judge({layer("a", Role::kHidden, 1.5), layer("b", Role::kHidden, 1.5)});
  EXPECT_NEAR(verdict.hidden_mean, 1.5, 1e-12);
  EXPECT_EQ(failed(verdict), std::vector<std::string>{"geometric mean over hidden layers"});
}

TEST(JudgeCoordinates, AMissHasItsValueAndItsLimits) {
  const CoordinateVerdict verdict = judge({layer("a", Role::kInput, 4)});
  EXPECT_EQ(verdict.misses,
            (std::vector<Miss>{{.what = "a", .value = 4, .low = 0.5, .high = 2}}));
}

TEST(JudgeCoordinates, PrintsSomeLayersWithoutJudgingThem) {
  LayerPair narrow = layer("a", Role::kHidden, 9);
  narrow.not_judged_because = "narrower than 16";
  const CoordinateVerdict verdict = judge({narrow});
  EXPECT_TRUE(verdict.passed);
  ASSERT_EQ(verdict.layers.size(), 1U);
  EXPECT_FALSE(verdict.layers[0].judged());
  EXPECT_EQ(verdict.layers[0].update_ratio, 9);
}

TEST(JudgeCoordinates, NotANumberFails) {
  EXPECT_FALSE(judge({layer("a", Role::kInput, std::nan(""))}).passed);
}

TEST(JudgeCoordinates, LossesMustBeTheSameBits) {
  const CoordinateVerdict verdict =
      judge_coordinates({}, {2.3}, {std::nextafter(2.3, 3)}, Band{});
  EXPECT_FALSE(verdict.losses_equal);
  EXPECT_EQ(failed(verdict), std::vector<std::string>{"step-1 loss"});
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

LayerPair with_activation(const std::string& name, double activation_ratio) {
  LayerPair made = layer(name, Role::kHidden, 1);
  made.narrow_activation = activation_ratio;
  return made;
}

TEST(JudgeCoordinates, JudgesActivationsAveragedOverAKindOfLayer) {
  const LayerPair high = with_activation("h.0.fc", 1.4);
  EXPECT_TRUE(judge({high, with_activation("h.1.fc", 1 / 1.4)}).passed);
  const CoordinateVerdict verdict = judge({high, with_activation("h.1.proj", 1 / 1.4)});
  EXPECT_EQ(failed(verdict),
            (std::vector<std::string>{"mean activation of hidden layers `h.*.fc`",
                                      "mean activation of hidden layers `h.*.proj`"}));
  EXPECT_NEAR(verdict.misses[0].value, 1.4, 1e-12);
  EXPECT_TRUE(judge({high}, {.activation = std::numeric_limits<double>::infinity()}).passed);
}

TEST(JudgeCoordinates, LeavesOutActivationsThatChangeWithTheWidth) {
  LayerPair tied = with_activation("wte", 2);
  tied.has_steady_activation = false;
  EXPECT_TRUE(judge({tied}).passed);
}

TEST(KindOfLayer, HasAStarForEveryNumber) {
  EXPECT_EQ(kind_of_layer("layer12.0.conv1.weight"), "layer*.*.conv*.weight");
  EXPECT_EQ(kind_of_layer("head"), "head");
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

CoordinatePlan plan_of(std::int64_t width, double scaling) {
  Case made = mlp(width);
  made.options.scaling = scaling;
  return plan_coordinates(made.model, made.options).value();
}

TEST(CoordinatePlan, ComparesTheStudysWidthWithOneFourTimesWider) {
  EXPECT_EQ(plan_of(512, 8).narrow, 8);
  EXPECT_EQ(plan_of(512, 8).wide, 2);
}

TEST(CoordinatePlan, NeverComparesLessThanAFactorOfFour) {
  EXPECT_EQ(plan_of(512, 2).narrow, 4);
  EXPECT_EQ(plan_of(512, 2).wide, 1);
}

TEST(CoordinatePlan, GetsLessNarrowUntilNoClassIsTooNarrow) {
  EXPECT_EQ(plan_of(96, 16).narrow, 6);
  EXPECT_EQ(plan_of(64, 8).narrow, 4);
  EXPECT_EQ(plan_of(32, 8).narrow, 4);
}

TEST(CoordinatePlan, CanBeShrunkTo) {
  Case made = mlp(96);
  made.options.scaling = plan_of(96, 16).wide;
  EXPECT_FALSE(shrink(made.model, made.options).has_value());
  made.options.saving = Saving::kAny;
  EXPECT_TRUE(shrink(made.model, made.options).has_value());
}

/// One head over [B, T, 8]: queries, keys, values, a head of ten.
Case attention(const std::string& logits) {
  const std::string linear = " = aten.linear.default(input=%x, weight=";
  return case_of(
      "scaling 4\ngraph {\n  input parameter q %wq: float32[256, 8]\n"
      "  input parameter k %wk: float32[256, 8]\n  input parameter v %wv: float32[256, 8]\n"
      "  input parameter o %wo: float32[10, 256]\n  input user x %x: float32[~5, 7, 8]\n"
      "  %q: float32[~5, 7, 256]" +
      linear +
      "%wq, bias=None)\n"
      "  %k: float32[~5, 7, 256]" +
      linear +
      "%wk, bias=None)\n"
      "  %v: float32[~5, 7, 256]" +
      linear + "%wv, bias=None)\n" + logits +
      "  %y: float32[~5, 7, 10] = aten.linear.default(input=%h, weight=%wo, bias=None)\n"
      "  output user y %y\n}\n");
}

constexpr const char* kFused =
    "  %h: float32[~5, 7, 256] = aten.scaled_dot_product_attention.default(query=%q, key=%k, "
    "value=%v, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, "
    "enable_gqa=False)\n";

constexpr const char* kWrittenOut =
    "  %t: float32[~5, 256, 7] = aten.transpose.int(self=%k, dim0=1, dim1=2)\n"
    "  %l: float32[~5, 7, 7] = aten.matmul.default(self=%q, other=%t)\n"
    "  %s: float32[~5, 7, 7] = aten.softmax.int(self=%l, dim=-1, dtype=None)\n"
    "  %h: float32[~5, 7, 256] = aten.matmul.default(self=%s, other=%v)\n";

TEST(CoordinatePlan, KnowsTheWeightsOfQueriesAndKeys) {
  for (const char* logits : {kFused, kWrittenOut}) {
    const Case made = attention(logits);
    const CoordinatePlan plan = plan_coordinates(made.model, made.options).value();
    EXPECT_EQ(plan.logit_weights, (std::set<std::string>{"q", "k"}));
    EXPECT_EQ(plan.narrowest, 32);
  }
}

CoordinateMeasure measured(std::vector<LayerMeasure> layers) {
  return {.layers = std::move(layers), .first_losses = {}};
}

std::vector<std::string> reasons(QueriesAndKeys queries_and_keys, double scaling) {
  Case made = attention(kFused);
  made.options.scaling = scaling;
  made.options.saving = Saving::kAny;
  const CoordinateMeasure all = measured({{.layer = "q"}, {.layer = "v"}});
  std::vector<std::string> found;
  for (const LayerPair& pair : pair_layers(shrink(made.model, made.options).value(),
                                           all,
                                           all,
                                           plan_coordinates(made.model, made.options).value(),
                                           queries_and_keys)) {
    found.push_back(pair.not_judged_because);
  }
  return found;
}

TEST(PairLayers, QueriesAndKeysAreNotJudgedWhereTheyShallNot) {
  using Reasons = std::vector<std::string>;
  EXPECT_EQ(reasons(QueriesAndKeys::kJudged, 4), (Reasons{"", ""}));
  EXPECT_EQ(reasons(QueriesAndKeys::kPrinted, 4), (Reasons{"query or key under SGD", ""}));
  EXPECT_EQ(reasons(QueriesAndKeys::kJudged, 16),
            (Reasons{"narrower than 32", "narrower than 32"}));
}

TEST(PairLayers, AnEmbeddingsUpdateIsNotJudgedButItsActivationIs) {
  Case made = mlp(256);
  const CoordinateMeasure all = measured({{.layer = "a", .usage = WeightUsage::kLookup}});
  const LayerPair pair = pair_layers(shrink(made.model, made.options).value(),
                                     all,
                                     all,
                                     {.narrowest = 16},
                                     QueriesAndKeys::kJudged)
                             .front();
  EXPECT_EQ(pair.not_judged_because, "an embedding");
  EXPECT_TRUE(pair.has_steady_activation);
}

}  // namespace

}  // namespace hydro::shrink
