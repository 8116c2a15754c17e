#include "hydro/shrink/parametrization.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <vector>

#include <gtest/gtest.h>

#include "hydro/ir/model.h"
#include "hydro/shrink/surrogate.h"

namespace hydro::shrink {

namespace {

constexpr std::array kRoles = {
    Role::kInput, Role::kHidden, Role::kOutput, Role::kVector, Role::kOutputBias, Role::kNone};
constexpr std::array kAll = {
    Parametrization::kMup, Parametrization::kPaper, Parametrization::kStandard};

ParameterPlan plan_of(Parametrization parametrization, Role role, double r_in, double r_out) {
  ParameterPlan plan;
  plan.role = role;
  plan.r_in = r_in;
  plan.r_out = r_out;
  apply_factors(parametrization, plan);
  return plan;
}

double variance_of(Parametrization parametrization, Role role, double r_in, double r_out) {
  return factor_row(parametrization, role).variance.of(r_in, r_out);
}

TEST(Parametrization, ARectangularHiddenWeightTakesEachRatioWhereItBelongs) {
  const ParameterPlan plan = plan_of(Parametrization::kMup, Role::kHidden, 8, 4);
  EXPECT_EQ(plan.sgd.lr, 2);
  EXPECT_EQ(plan.sgd.decay, 0.5);
  EXPECT_EQ(plan.adam.lr, 8);
  EXPECT_EQ(plan.adam.eps, 4);
  EXPECT_EQ(plan.adamw.decay, 0.125);
  EXPECT_EQ(variance_of(Parametrization::kMup, Role::kHidden, 8, 4), 8);
  EXPECT_EQ(plan.multiplier, 1);
}

TEST(Parametrization, EqualRatiosLeaveTheHiddenSgdRateExactlyAlone) {
  const double ratio = 101.0 / 13.0;
  EXPECT_EQ(plan_of(Parametrization::kMup, Role::kHidden, ratio, ratio).sgd.lr, 1);
  EXPECT_EQ(plan_of(Parametrization::kMup, Role::kHidden, ratio, ratio).sgd.decay, 1);
}

TEST(Parametrization, InputAndVectorRowsFollowTheFanOut) {
  for (const Role role : {Role::kInput, Role::kVector}) {
    const ParameterPlan plan = plan_of(Parametrization::kMup, role, 1, 8);
    EXPECT_EQ(plan.sgd.lr, 0.125);
    EXPECT_EQ(plan.sgd.decay, 8);
    EXPECT_EQ(plan.adam.lr, 1);
    EXPECT_EQ(plan.adam.eps, 8);
    EXPECT_EQ(plan.adamw.decay, 1);
    EXPECT_EQ(variance_of(Parametrization::kMup, role, 1, 8), 1);
  }
}

TEST(Parametrization, AnOutputWeightFollowsTheFanInAndHasTheMultiplier) {
  const ParameterPlan plan = plan_of(Parametrization::kMup, Role::kOutput, 8, 1);
  EXPECT_EQ(plan.sgd.lr, 0.125);
  EXPECT_EQ(plan.sgd.decay, 8);
  EXPECT_EQ(plan.adam.lr, 1);
  EXPECT_EQ(plan.adam.eps, 8);
  EXPECT_EQ(plan.multiplier, 8);
}

TEST(Parametrization, AnOutputBiasIsUntouchedByEveryTable) {
  for (const Parametrization each : kAll) {
    const ParameterPlan plan = plan_of(each, Role::kOutputBias, 8, 4);
    for (const Factors& factors : {plan.sgd, plan.adam, plan.adamw}) {
      EXPECT_EQ(factors.lr, 1);
      EXPECT_EQ(factors.decay, 1);
      EXPECT_EQ(factors.eps, 1);
    }
    EXPECT_EQ(plan.multiplier, 1);
  }
}

TEST(Parametrization, AdamwKeepsLearningRateTimesDecayInEveryRow) {
  for (const Parametrization each : kAll) {
    for (const Role role : kRoles) {
      const ParameterPlan plan = plan_of(each, role, 8, 2);
      EXPECT_EQ(plan.adamw.lr * plan.adamw.decay, 1) << role_name(role);
    }
  }
}

TEST(Parametrization, SgdKeepsLearningRateTimesDecayUnderMup) {
  for (const Role role : kRoles) {
    const ParameterPlan plan = plan_of(Parametrization::kMup, role, 8, 2);
    EXPECT_EQ(plan.sgd.lr * plan.sgd.decay, 1) << role_name(role);
  }
}

TEST(Parametrization, EveryFactorIsOneWhereNothingShrinks) {
  for (const Parametrization each : kAll) {
    for (const Role role : kRoles) {
      const ParameterPlan plan = plan_of(each, role, 1, 1);
      for (const Factors& factors : {plan.sgd, plan.adam, plan.adamw}) {
        EXPECT_EQ(factors.lr * factors.decay * factors.eps, 1);
      }
      EXPECT_EQ(variance_of(each, role, 1, 1), 1);
    }
  }
}

TEST(Parametrization, ThePaperDiffersInInputVarianceAndTheHiddenSgdRate) {
  EXPECT_EQ(variance_of(Parametrization::kPaper, Role::kInput, 1, 8), 8);
  EXPECT_EQ(plan_of(Parametrization::kPaper, Role::kHidden, 8, 8).sgd.lr, 8);
  EXPECT_EQ(plan_of(Parametrization::kPaper, Role::kHidden, 8, 8).adam.lr, 8);
  EXPECT_EQ(plan_of(Parametrization::kPaper, Role::kOutput, 8, 1).multiplier, 8);
}

TEST(Parametrization, StandardScalesOnlyTheVarianceOfWeightsWithAWidthInside) {
  EXPECT_EQ(variance_of(Parametrization::kStandard, Role::kHidden, 8, 4), 8);
  EXPECT_EQ(variance_of(Parametrization::kStandard, Role::kOutput, 8, 1), 8);
  EXPECT_EQ(variance_of(Parametrization::kStandard, Role::kInput, 1, 8), 1);
  EXPECT_EQ(plan_of(Parametrization::kStandard, Role::kHidden, 8, 8).adam.lr, 1);
  EXPECT_EQ(plan_of(Parametrization::kStandard, Role::kOutput, 8, 1).multiplier, 1);
}

std::function<std::int64_t(std::int64_t)> shrunk_rows(std::int64_t rows,
                                                      std::int64_t surrogate) {
  return [=](std::int64_t row) { return row * surrogate / rows; };
}

TEST(Laws, SpreadGrowsByTheRootOfTheVariance) {
  const std::vector<ir::Law> laws = {
      {.row_begin = 0, .row_end = 8, .kind = ir::LawKind::kUniform, .low = -0.5, .high = 0.5}};
  const std::vector<ir::Law> scaled = surrogate_laws(laws, 4, shrunk_rows(8, 2));
  ASSERT_EQ(scaled.size(), 1U);
  EXPECT_EQ(scaled[0].low, -1);
  EXPECT_EQ(scaled[0].high, 1);
  EXPECT_EQ(scaled[0].row_end, 2);
}

TEST(Laws, ACutNormalKeepsItsShape) {
  const std::vector<ir::Law> laws = {{.row_begin = 0,
                                      .row_end = 8,
                                      .kind = ir::LawKind::kTruncatedNormal,
                                      .mean = 1,
                                      .std = 0.5,
                                      .low = 0,
                                      .high = 2}};
  const ir::Law scaled = surrogate_laws(laws, 4, shrunk_rows(8, 8)).at(0);
  EXPECT_EQ(scaled.mean, 1);
  EXPECT_EQ(scaled.std, 1);
  EXPECT_EQ(scaled.low, -1);
  EXPECT_EQ(scaled.high, 3);
}

TEST(Laws, ConstantsStay) {
  const std::vector<ir::Law> laws = {
      {.row_begin = 0, .row_end = 8, .kind = ir::LawKind::kConstant, .value = 1}};
  EXPECT_EQ(surrogate_laws(laws, 8, shrunk_rows(8, 1)).at(0).value, 1);
}

TEST(Laws, RowsOfRegionsShrinkWithTheTensor) {
  const std::vector<ir::Law> laws = {
      {.row_begin = 0, .row_end = 32, .kind = ir::LawKind::kConstant, .value = 0},
      {.row_begin = 32, .row_end = 64, .kind = ir::LawKind::kConstant, .value = 1},
      {.row_begin = 64, .row_end = 128, .kind = ir::LawKind::kConstant, .value = 2}};
  const std::vector<ir::Law> scaled = surrogate_laws(laws, 1, shrunk_rows(128, 16));
  ASSERT_EQ(scaled.size(), 3U);
  EXPECT_EQ(scaled[1].row_begin, 4);
  EXPECT_EQ(scaled[1].row_end, 8);
  EXPECT_EQ(scaled[2].row_end, 16);
}

TEST(Laws, NothingIsTouchedAtAFactorOfOne) {
  const std::vector<ir::Law> laws = {
      {.row_begin = 0, .row_end = 3, .kind = ir::LawKind::kUniform, .low = -0.1, .high = 0.3}};
  EXPECT_EQ(surrogate_laws(laws, 1, shrunk_rows(3, 3)), laws);
}

}  // namespace

}  // namespace hydro::shrink
