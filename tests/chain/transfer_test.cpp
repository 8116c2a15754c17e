// Surrogates in training, by value: a width changes neither how fast features move, nor where
// they start, nor the first loss; and both forms of the readout's multiplier are one
// parametrization.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "hydro/data/dataset.h"
#include "hydro/ir/graph.h"
#include "hydro/ir/model.h"
#include "hydro/shrink/surrogate.h"
#include "hydro/train/container.h"
#include "hydro/train/network.h"
#include "hydro/train/testing.h"
#include "hydro/train/train.h"
#include "hydro/worker/messages.h"
#include "hydro/worker/settings.h"

#include "tests/chain/chain.h"

namespace hydro::chain {
namespace {

using shrink::Parametrization;
using shrink::Role;
using train::testing::parameter;
using worker::OptimizerKind;

constexpr std::int64_t kSeeds = 4;
constexpr std::int64_t kSamples = 64;

shrink::Surrogate at_scaling(const std::string& name,
                             double scaling,
                             Parametrization parametrization = Parametrization::kMup) {
  shrink::Options options = {.scaling = scaling, .parametrization = parametrization};
  options.saving = shrink::Saving::kAny;
  return shrunk(archive_of(name).model, options);
}

worker::TrialSettings settings_of(OptimizerKind kind,
                                  double lr,
                                  double momentum = 0,
                                  double eps = 1e-8) {
  worker::TrialSettings settings;
  settings.optimizer = {.kind = kind, .lr = lr, .momentum = momentum, .eps = eps};
  return settings;
}

train::Study study_of(shrink::Surrogate surrogate, const std::vector<std::int64_t>& shape) {
  train::Study study = train::testing::study_of(std::move(surrogate), shape);
  study.training = train::testing::samples(kSamples, shape);
  return study;
}

/// Trials that differ only in their initial weights; every step sees the whole data set.
worker::ContainerSpec alike(const worker::TrialSettings& settings, std::int64_t trials) {
  worker::ContainerSpec spec =
      train::testing::spec_of(std::vector(static_cast<std::size_t>(trials), settings), 100);
  spec.batch_size = kSamples;
  spec.budget.steps_per_epoch = 1;
  return spec;
}

at::Tensor inputs_of(const train::Study& study) {
  data::BatchBuffer batch;
  study.training->fill(data::epoch_order(6, 0, kSamples), 0, batch);
  auto& slot = batch.inputs.front();
  return at::from_blob(slot.floats.data(), slot.shape).clone();
}

/// The tensor of one trial by its state name.
at::Tensor named(const train::Network& network, const std::string& name, std::int64_t trial) {
  const auto found = std::ranges::find(network.names(), name);
  return parameter(network, static_cast<std::size_t>(found - network.names().begin()), trial);
}

/// Inputs of the second and of the third layer of `mlp32` before their relu, by plain torch
/// calls: {h1, h2}.
std::pair<at::Tensor, at::Tensor> features(const train::Network& network,
                                           const at::Tensor& x,
                                           std::int64_t trial) {
  const at::Tensor h1 =
      at::linear(x, named(network, "1.weight", trial), named(network, "1.bias", trial));
  const at::Tensor h2 = at::linear(
      at::relu(h1), named(network, "3.weight", trial), named(network, "3.bias", trial));
  return {h1, h2};
}

double mean_size(const at::Tensor& tensor) {
  return tensor.abs().mean().item<double>();
}

/// Mean change of h2 over `steps` steps, over trials.
double feature_change(const shrink::Surrogate& surrogate,
                      const worker::TrialSettings& settings,
                      std::int64_t steps) {
  const train::Study study = study_of(surrogate, {32});
  const at::Tensor x = inputs_of(study);
  const train::Container before = train::testing::trained(study, alike(settings, kSeeds), 0);
  const train::Container after = train::testing::trained(study, alike(settings, kSeeds), steps);
  double sum = 0;
  for (std::int64_t k = 0; k < kSeeds; ++k) {
    sum += mean_size(features(after.network(), x, k).second -
                     features(before.network(), x, k).second);
  }
  return sum / kSeeds;
}

struct Speed {
  const char* name;
  worker::TrialSettings settings;
};

class FeatureSpeed : public ::testing::TestWithParam<Speed> {};

TEST_P(FeatureSpeed, IsTheSameAtEveryWidth) {
  const double whole = feature_change(at_scaling("mlp32", 1), GetParam().settings, 20);
  EXPECT_GT(whole, 1e-4);
  for (const double scaling : {2, 4, 8, 16}) {
    const double narrow = feature_change(at_scaling("mlp32", scaling), GetParam().settings, 20);
    EXPECT_NEAR(narrow / whole, 1, 0.15) << "S = " << scaling;
    RecordProperty("S" + std::to_string(static_cast<int>(scaling)),
                   std::to_string(narrow / whole));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Optimizers,
    FeatureSpeed,
    ::testing::Values(Speed{"Sgd", settings_of(OptimizerKind::kSgd, .005)},
                      Speed{"Momentum", settings_of(OptimizerKind::kSgd, .005, .9)},
                      Speed{"Adam", settings_of(OptimizerKind::kAdam, 1e-4)},
                      Speed{"AdamW", settings_of(OptimizerKind::kAdamW, 1e-4)},
                      Speed{"AdamLargeEps", settings_of(OptimizerKind::kAdam, 1e-4, 0, 1e-4)}),
    [](const auto& row) { return std::string(row.param.name); });

TEST(FeatureSpeedOfWrongTables, GrowsWithTheScalingUnderThePapersHiddenRate) {
  shrink::Surrogate narrow = at_scaling("mlp32", 8);
  const worker::TrialSettings settings = settings_of(OptimizerKind::kSgd, .005);
  const double right = feature_change(narrow, settings, 20);
  for (shrink::ParameterPlan& plan : narrow.parameters) {
    plan.sgd.lr *= plan.role == Role::kHidden ? 8 : 1;
  }
  const double wrong = feature_change(narrow, settings, 20);
  EXPECT_GT(wrong / right, 5);
}

TEST(FeatureSpeedOfWrongTables, ChangesWithoutTheFactorOfAdamsEps) {
  const worker::TrialSettings settings = settings_of(OptimizerKind::kAdam, 1e-4, 0, 1e-4);
  shrink::Surrogate narrow = at_scaling("mlp32", 16);
  const double right = feature_change(narrow, settings, 20);
  for (shrink::ParameterPlan& plan : narrow.parameters) {
    plan.adam.eps = 1;
  }
  const double wrong = feature_change(narrow, settings, 20);
  EXPECT_GT(wrong / right, 1.5);
}

/// Mean |h1| before any step, over eight trials.
double input_layer_size(Parametrization parametrization, double scaling) {
  const train::Study study = study_of(at_scaling("mlp32", scaling, parametrization), {32});
  const train::Container start =
      train::testing::trained(study, alike(settings_of(OptimizerKind::kSgd, 0), 8), 0);
  double sum = 0;
  for (std::int64_t k = 0; k < 8; ++k) {
    sum += mean_size(features(start.network(), inputs_of(study), k).first);
  }
  return sum / 8;
}

TEST(Start, TheInputLayersOutputIsThatOfTheTarget) {
  const double target = input_layer_size(Parametrization::kMup, 1);
  EXPECT_NEAR(input_layer_size(Parametrization::kMup, 16) / target, 1, 0.05);
  EXPECT_NEAR(input_layer_size(Parametrization::kPaper, 16) / target,
              4,
              0.3);  // the root of the paper's variance
}

struct FirstLossCase {
  const char* name;
  std::vector<std::int64_t> shape;
};

class FirstLoss : public ::testing::TestWithParam<FirstLossCase> {};

std::vector<double> first_losses(const std::string& name,
                                 double scaling,
                                 const data::Loader& data) {
  const train::CoordinateSetting setting = {
      .settings = settings_of(OptimizerKind::kSgd, .01), .seeds = 2, .batch_size = 16};
  return train::measure_coordinates(at_scaling(name, scaling), data, setting)
      .value()
      .first_losses;
}

TEST_P(FirstLoss, IsTheSameBitsAtEveryScaling) {
  const auto data = train::testing::samples(16, GetParam().shape);
  const std::vector<double> whole = first_losses(GetParam().name, 1, *data);
  ASSERT_EQ(whole.size(), 2U);
  EXPECT_NEAR(whole.front(), std::log(10.0), 1e-5);
  EXPECT_EQ(whole.front(), whole.back());
  for (const double scaling : {2.0, 3.0, 4.0, 8.0}) {
    EXPECT_EQ(first_losses(GetParam().name, scaling, *data), whole) << "S = " << scaling;
  }
}

INSTANTIATE_TEST_SUITE_P(Families,
                         FirstLoss,
                         ::testing::Values(FirstLossCase{"mlp32", {32}},
                                           FirstLossCase{"mlp784", {1, 28, 28}},
                                           FirstLossCase{"tv-resnet18", {3, 32, 32}},
                                           FirstLossCase{"wide_bottleneck-1", {3, 32, 32}},
                                           FirstLossCase{"resnext-1", {3, 32, 32}},
                                           FirstLossCase{"vgg-1", {3, 32, 32}},
                                           FirstLossCase{"vgg_bn-1", {3, 32, 32}},
                                           FirstLossCase{"depthwise-1", {3, 16, 16}}),
                         [](const auto& row) {
                           std::string name = row.param.name;
                           std::erase_if(name, [](char c) { return c == '-' || c == '_'; });
                           return name;
                         });

void without_multipliers(ir::Graph& graph) {
  std::vector<ir::Node> nodes(graph.nodes().begin(), graph.nodes().end());
  for (ir::Node& node : nodes) {
    if (node.op == "aten.mul.Tensor" && node.position < 0) {
      node.argument("other") = 1.0;
    }
  }
  graph.set_nodes(std::move(nodes));
}

/// The form without a multiplier, hydro-hfta-mup.md 0.1: SGD lr r_in, Adam lr r_in, eps 1.
shrink::Surrogate folded(shrink::Surrogate surrogate) {
  without_multipliers(surrogate.model.train);
  without_multipliers(surrogate.model.eval);
  for (shrink::ParameterPlan& plan : surrogate.parameters) {
    if (plan.role == Role::kOutput) {
      plan.sgd.lr = plan.r_in;
      plan.adam = {.lr = plan.r_in, .decay = 1, .eps = 1};
      plan.adamw = plan.adam;
    }
  }
  return surrogate;
}

/// Largest difference of the logits between two forms of one model over 20 steps, over their
/// largest logit.
double drift(const shrink::Surrogate& one,
             const shrink::Surrogate& other,
             const worker::TrialSettings& settings) {
  const train::Study study_a = study_of(one, {32});
  const train::Study study_b = study_of(other, {32});
  train::Container a = train::testing::trained(study_a, alike(settings, 1), 0, at::kDouble);
  train::Container b = train::testing::trained(study_b, alike(settings, 1), 0, at::kDouble);
  const train::NamedTensors inputs = {{"", inputs_of(study_a).to(at::kDouble)}};
  double worst = 0;
  double largest = 0;
  for (int step = 0; step < 20; ++step) {
    EXPECT_TRUE(a.advance().value().empty() && b.advance().value().empty());
    const at::Tensor logits = train::Network(a.network()).evaluate(inputs);
    worst = std::max(
        worst,
        (logits - train::Network(b.network()).evaluate(inputs)).abs().max().item<double>());
    largest = std::max(largest, logits.abs().max().item<double>());
  }
  return worst / largest;
}

TEST(Multiplier, FoldedIntoTheReadoutGivesTheSameLogits) {
  for (const worker::TrialSettings& settings : {settings_of(OptimizerKind::kSgd, .01),
                                                settings_of(OptimizerKind::kSgd, .01, .9),
                                                settings_of(OptimizerKind::kAdam, 1e-3),
                                                settings_of(OptimizerKind::kAdamW, 1e-3)}) {
    const shrink::Surrogate surrogate = at_scaling("mlp32", 8);
    EXPECT_LE(drift(surrogate, folded(surrogate), settings), 1e-5);
  }
}

TEST(Multiplier, CannotJustBeLeftOut) {
  const shrink::Surrogate surrogate = at_scaling("mlp32", 8);
  shrink::Surrogate wrong = surrogate;
  without_multipliers(wrong.model.train);
  without_multipliers(wrong.model.eval);
  EXPECT_GT(drift(surrogate, wrong, settings_of(OptimizerKind::kSgd, .01)), .5);
}

/// Weights after one step minus weights before it, of the last of `trials` trials.
at::Tensor step_of(const shrink::Surrogate& surrogate,
                   const std::string& name,
                   std::int64_t trials,
                   const worker::TrialSettings& settings) {
  const train::Study study = study_of(surrogate, {32});
  worker::ContainerSpec spec = alike(settings, trials);
  spec.trials.back().id = worker::TrialId{77};
  const train::Container before = train::testing::trained(study, spec, 0, at::kDouble);
  const train::Container after = train::testing::trained(study, spec, 1, at::kDouble);
  return named(after.network(), name, trials - 1) - named(before.network(), name, trials - 1);
}

class WidthFactors : public ::testing::TestWithParam<std::int64_t> {};

/// Both surrogates have the same graph and the same weights, the readout's not zero; `plain`
/// has no factors.
TEST_P(WidthFactors, ApplyAlsoToOneTrialAndToTrialsOfEqualRates) {
  shrink::Surrogate scaled = at_scaling("mlp32", 8);
  for (ir::StateEntry& entry : scaled.model.state) {
    entry.laws = archive_of("mlp32").model.find_state(entry.name)->laws;
  }
  shrink::Surrogate plain = scaled;
  for (shrink::ParameterPlan& plan : plain.parameters) {
    plan.sgd = plan.adam = plan.adamw = {};
  }
  for (const OptimizerKind kind : {OptimizerKind::kSgd, OptimizerKind::kAdam}) {
    for (const shrink::ParameterPlan& plan : scaled.parameters) {
      const worker::TrialSettings settings = settings_of(kind, .001, 0, 1e-30);
      const at::Tensor got = step_of(scaled, plan.name, GetParam(), settings);
      const at::Tensor without = step_of(plain, plan.name, GetParam(), settings);
      const double factor = kind == OptimizerKind::kSgd ? plan.sgd.lr : plan.adam.lr;
      EXPECT_GT(mean_size(without), 0) << plan.name;
      EXPECT_LE(mean_size(got - factor * without), 1e-9 * mean_size(got)) << plan.name;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Trials, WidthFactors, ::testing::Values(1, 3));

}  // namespace
}  // namespace hydro::chain
