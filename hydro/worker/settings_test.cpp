#include "hydro/worker/settings.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace hydro::worker {
namespace {

constexpr Span share(double amount) {
  return {.amount = amount, .unit = Span::Unit::kShare};
}

constexpr Span epochs(double amount) {
  return {.amount = amount, .unit = Span::Unit::kEpochs};
}

constexpr Span steps(double amount) {
  return {.amount = amount, .unit = Span::Unit::kSteps};
}

constexpr Budget kTen{.steps = 10, .steps_per_epoch = 5, .evaluate_every = 5};

struct Case {
  std::string name;
  Schedule schedule;
  std::vector<double> factors;  // of steps 0 .. 9 of kTen
};

/// Written out by hand from DESIGN's formulas.
std::vector<Case> cases() {
  using enum ScheduleKind;
  const double c = std::numbers::pi / 8;
  const auto half = [c](int k) { return (1 + std::cos(c * k)) / 2; };
  return {
      {.name = "constant", .schedule = {}, .factors = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1}},
      {.name = "constant with warm-up",
       .schedule = {.kind = kConstant, .warmup = share(0.4), .step_size = {}},
       .factors = {.25, .5, .75, 1, 1, 1, 1, 1, 1, 1}},
      {.name = "step at half",
       .schedule = {.kind = kStep, .warmup = {}, .step_size = share(0.5), .gamma = 0.1},
       .factors = {1, 1, 1, 1, 1, .1, .1, .1, .1, .1}},
      {.name = "step every 3 steps after a warm-up of 2; steps count from the start",
       .schedule = {.kind = kStep, .warmup = steps(2), .step_size = steps(3), .gamma = 0.5},
       .factors = {.5, 1, 1, .5, .5, .5, .25, .25, .25, .125}},
      {.name = "step every epoch",
       .schedule = {.kind = kStep, .warmup = {}, .step_size = epochs(1), .gamma = 0.5},
       .factors = {1, 1, 1, 1, 1, .5, .5, .5, .5, .5}},
      {.name = "linear",
       .schedule = {.kind = kLinear, .warmup = {}, .step_size = {}},
       .factors = {1, .9, .8, .7, .6, .5, .4, .3, .2, .1}},
      {.name = "linear with a warm-up of half an epoch",
       .schedule = {.kind = kLinear, .warmup = epochs(0.4), .step_size = {}},
       .factors = {.5, 1, 1, 7. / 8, 6. / 8, 5. / 8, 4. / 8, 3. / 8, 2. / 8, 1. / 8}},
      {.name = "cosine with warm-up",
       .schedule = {.kind = kCosine, .warmup = share(0.2), .step_size = {}},
       .factors =
           {.5, 1, half(0), half(1), half(2), half(3), half(4), half(5), half(6), half(7)}},
  };
}

TEST(LearningRate, FollowsTheTable) {
  for (const Case& row : cases()) {
    for (std::size_t t = 0; t < row.factors.size(); ++t) {
      EXPECT_NEAR(
          lr_factor(row.schedule, kTen, static_cast<std::int64_t>(t)), row.factors[t], 1e-12)
          << row.name << ", step " << t;
    }
  }
}

TEST(LearningRate, AFractionalWarmupNeverPassesOne) {
  const Schedule schedule{
      .kind = ScheduleKind::kConstant, .warmup = steps(2.5), .step_size = {}};
  EXPECT_DOUBLE_EQ(lr_factor(schedule, kTen, 0), 0.4);
  EXPECT_DOUBLE_EQ(lr_factor(schedule, kTen, 1), 0.8);
  EXPECT_DOUBLE_EQ(lr_factor(schedule, kTen, 2), 1.0);
}

TEST(LearningRate, ABoundaryThatFallsOnAStepFiresThere) {
  // 0.07 x 100 is 7.000000000000001 in binary.
  const Budget budget{.steps = 100, .steps_per_epoch = 100, .evaluate_every = 10};
  const Schedule schedule{
      .kind = ScheduleKind::kStep, .warmup = {}, .step_size = share(0.07), .gamma = 0.5};
  EXPECT_DOUBLE_EQ(lr_factor(schedule, budget, 6), 1.0);
  EXPECT_DOUBLE_EQ(lr_factor(schedule, budget, 7), 0.5);
}

TEST(LearningRate, AWarmupAsLongAsTheBudgetIsNoDivisionByZero) {
  const Schedule schedule{.kind = ScheduleKind::kCosine, .warmup = share(1), .step_size = {}};
  EXPECT_DOUBLE_EQ(lr_factor(schedule, kTen, 9), 1.0);
  EXPECT_DOUBLE_EQ(lr_factor(schedule, kTen, 10), 1.0);
}

TEST(Spans, AreSharesEpochsOrSteps) {
  EXPECT_DOUBLE_EQ(steps_of(share(0.4), kTen), 4);
  EXPECT_DOUBLE_EQ(steps_of(epochs(1.5), kTen), 7.5);
  EXPECT_DOUBLE_EQ(steps_of(steps(3), kTen), 3);
}

TEST(Names, ReadBackAsTheirKind) {
  for (const auto task : {Task::kClassification,
                          Task::kRegression,
                          Task::kLanguageModel,
                          Task::kMaskedLanguageModel,
                          Task::kModelLoss}) {
    EXPECT_EQ(find_task(task_name(task)), task);
  }
  for (const auto kind : {OptimizerKind::kSgd, OptimizerKind::kAdam, OptimizerKind::kAdamW}) {
    EXPECT_EQ(find_optimizer(optimizer_name(kind)), kind);
  }
  for (const auto kind : {ScheduleKind::kConstant,
                          ScheduleKind::kStep,
                          ScheduleKind::kCosine,
                          ScheduleKind::kLinear}) {
    EXPECT_EQ(find_schedule(schedule_name(kind)), kind);
  }
  EXPECT_FALSE(find_task("diffusion").has_value());
  EXPECT_FALSE(find_optimizer("lamb").has_value());
  EXPECT_FALSE(find_schedule("").has_value());
}

}  // namespace
}  // namespace hydro::worker
