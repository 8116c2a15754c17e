// The width factors against the `mup` package, the recorded laws against torchvision's
// constructors, and roles of unusual modules. Where each case of the parametrization is tested:
//
//  1  hidden features move alike, SGD              chain/transfer_test   FeatureSpeed/Sgd
//  2  momentum, Adam, AdamW, eps                   chain/transfer_test   FeatureSpeed/*,
//                                                  ChangesWithoutTheFactorOf..
//  3  input layer's output at S=16                 chain/transfer_test   Start
//  4  first loss log C, the same bits at every S   chain/transfer_test   FirstLoss
//  5  multiplier against its folded form           chain/transfer_test   Multiplier
//  6  rectangular hidden weight                    shrink/parametrization_test
//                                                  ARectangularHiddenWeight..,
//                                                  golden/shrink/mlp_rectangular
//  7  factors use the true ratio                   golden/shrink/mlp_true_ratio, Mup below (100
//                                                  and 60 by 8)
//  8  depthwise is a vector, fixed groups hidden   golden/shrink/depthwise, grouped; Mup below
//  9  nothing changes at S=1                       shrink/parametrization_test
//                                                  EveryFactorIsOne..,
//                                                  shrink/surrogate_test
//                                                  AtScalingOneOnlyTheReadoutChanges
// 10  output bias                                  shrink/parametrization_test
//                                                  AnOutputBiasIsUntouched..; Mup below
// 11  attention scale, head size or heads shrink    golden/shrink/attention_* (factor, divisor,
//                                                  scaled_query, without_scale, fewer_heads)
// 12  tied embedding                               golden/shrink/tied_transposed, lstm_tied;
//                                                  chain/tied_test
// 13  embedding rows drawn alike alone and stacked train/independence_test
//                                                  InitialWeightsAreTheSameBits..;
//                                                  chain/torchvision_test Networks/Spread
// 14  a norm's gain stays 1, its shift 0           golden/shrink/conv_batch_norm, group_norm
// 15  L2 inside Adam; lr x decay of AdamW          golden/job/decay_inside_adam,
//                                                  searched_adam_decay_in_a_branch;
//                                                  shrink/parametrization_test
//                                                  AdamwKeepsLearningRateTimesDecay..
// 16  equal rates, one trial                       chain/transfer_test   WidthFactors
// 17  eight stacked against eight solo             train/independence_test
//                                                  EightStackedEqualEightSolo..
// 18  same trial in any slot and container         train/independence_test
//                                                  InitialWeightsAreTheSameBits..,
//                                                  DropoutMasksAreTheSameBits..
// 20  batch norm, all forms, ten steps             ops/image_cases_test (add_norms), run by
//                                                  ops/parity_test
// 21  padding_idx, also at and above K             ops/token_cases_test (EmbeddingArgs), run by
//                                                  ops/parity_test
// 22  padding modes, momentum None, 3-D layer norm ops/image_cases_test, channel_cases_test,
// run
//                                                  by ops/parity_test
// 23  unknown modules, subclasses                  shrink/surrogate_test RefusesAnUnknownOp..,
//                                                  ops/executor_test
//                                                  AnOpWithoutARowIsRefused..; UnusualModules
//                                                  below
// 24  flattens, view, mean, functional calls       golden/shrink/flattens_view_mean,
//                                                  chain/exactness_test depthwise;
//                                                  UnusualModules below
// 25  log_softmax at the end, two inputs,          run/output_check_test TakesScores..;
//     one channel                                  command_line/test_kinds_of_jobs;
//                                                  chain/transfer_test (mlp784)
// 26  12 + 20 channels                             golden/shrink/cat_unequal
// 43  a wrong rule fails, the right one passes     chain/coordinates_test,
//                                                  family_coordinates_test
// 45  a schedule's rate keeps the factors          optim/optimizer_test AScheduledRateKeeps..
// 46  decay, dropout, smoothing searched;          golden/job/searched_*;
//     loaded weights                               command_line/test_refused_models
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "hydro/base/file.h"
#include "hydro/base/json.h"
#include "hydro/ir/model.h"
#include "hydro/shrink/surrogate.h"
#include "hydro/train/container.h"
#include "hydro/train/testing.h"
#include "hydro/train/train.h"
#include "hydro/worker/settings.h"

#include "tests/chain/chain.h"

namespace hydro::chain {
namespace {

using shrink::ParameterPlan;
using shrink::Role;

Json mup_factors() {
  return Json::parse(
      read_text(std::filesystem::path(HYDRO_SOURCE_DIR) / "tests/chain/mup_factors.json")
          .value());
}

struct Narrowed {
  std::string family;
  int scaling = 1;
};

class Mup : public ::testing::TestWithParam<Narrowed> {};

TEST_P(Mup, GivesEveryTensorTheSameFactors) {
  const auto& [family, scaling] = GetParam();
  const Json wanted = mup_factors().at(family + "-" + std::to_string(scaling));
  const shrink::Surrogate surrogate =
      shrunk(archive_of(family + "-1").model,
             {.scaling = static_cast<double>(scaling), .min_width = 1});
  EXPECT_EQ(surrogate.parameters.size(), wanted.at("sgd").size());
  for (const ParameterPlan& plan : surrogate.parameters) {
    EXPECT_DOUBLE_EQ(plan.sgd.lr, wanted.at("sgd").at(plan.name)) << plan.name;
    EXPECT_DOUBLE_EQ(plan.adam.lr, wanted.at("adam").at(plan.name)) << plan.name;
    EXPECT_DOUBLE_EQ(plan.adamw.lr, wanted.at("adamw").at(plan.name)) << plan.name;
    EXPECT_DOUBLE_EQ(plan.adamw.decay, wanted.at("adamw_decay").at(plan.name)) << plan.name;
    if (plan.readout && plan.role == Role::kOutput) {
      EXPECT_DOUBLE_EQ(plan.multiplier, wanted.at("multiplier"));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Package,
                         Mup,
                         ::testing::Values(Narrowed{"mlp", 4},
                                           Narrowed{"mlp", 8},
                                           Narrowed{"vgg_bn", 4},
                                           Narrowed{"vgg_bn", 8},
                                           Narrowed{"depthwise", 8}),
                         [](const auto& row) {
                           return row.param.family + std::to_string(row.param.scaling);
                         });

double fan_out(const ir::StateEntry& weight) {
  return static_cast<double>(weight.shape[0] * weight.shape[2] * weight.shape[3]);
}

/// torchvision's constructors: kaiming_normal_(fan_out, relu) for convolutions, ones for gains,
/// zeros for the biases of everything but torch's own nn.Linear; vgg draws its linear weights
/// from normal(0, .01).
ir::Law constructors_law(const ir::Model& model, const ir::StateEntry& entry) {
  ir::Law law{.row_begin = 0, .row_end = entry.shape.at(0)};
  const bool is_vgg = model.find_state("features.0.weight") != nullptr;
  const bool is_linear = entry.name.starts_with("fc.") || entry.name.starts_with("classifier.");
  const bool is_bias = entry.name.ends_with("bias");
  if (entry.shape.size() == 4) {
    law.kind = ir::LawKind::kNormal;
    law.std = std::sqrt(2.0) / std::sqrt(fan_out(entry));
  } else if (is_linear && is_vgg && !is_bias) {
    law.kind = ir::LawKind::kNormal;
    law.std = .01;
  } else if (is_linear && !is_vgg) {
    const auto fan_in = static_cast<double>(model.find_state("fc.weight")->shape[1]);
    law.kind = ir::LawKind::kUniform;
    law.high = is_bias ? 1 / std::sqrt(fan_in)
                       : std::sqrt(3.0) * (std::sqrt(2.0 / (1 + 5)) / std::sqrt(fan_in));
    law.low = -law.high;
  } else {
    law.value = is_bias ? 0 : 1;
  }
  return law;
}

class RecordedLaws : public ::testing::TestWithParam<std::string> {};

TEST_P(RecordedLaws, AreTheConstructorsExactly) {
  const ir::Model model = archive_of("tv-" + GetParam()).model;
  int parameters = 0;
  for (const ir::StateEntry& entry : model.state) {
    if (entry.kind != ir::StateKind::kParameter) {
      continue;
    }
    ++parameters;
    ASSERT_EQ(entry.laws.size(), 1U) << entry.name;
    const ir::Law wanted = constructors_law(model, entry);
    const ir::Law& got = entry.laws.front();
    EXPECT_EQ(got.kind, wanted.kind) << entry.name;
    EXPECT_EQ(got.row_end, wanted.row_end) << entry.name;
    EXPECT_EQ(got.mean, wanted.mean) << entry.name;
    EXPECT_EQ(got.std, wanted.std) << entry.name;
    EXPECT_EQ(got.value, wanted.value) << entry.name;
    EXPECT_DOUBLE_EQ(got.low, wanted.low) << entry.name;
    EXPECT_DOUBLE_EQ(got.high, wanted.high) << entry.name;
  }
  EXPECT_GE(parameters, 22);
}

INSTANTIATE_TEST_SUITE_P(
    Torchvision,
    RecordedLaws,
    ::testing::Values(
        "resnet18", "resnet34", "resnet50", "wide_resnet50_2", "vgg11", "vgg11_bn", "vgg13_bn"),
    [](const auto& row) { return row.param; });

shrink::Surrogate functional() {
  return shrunk(archive_of("functional").model, {.scaling = 4});
}

TEST(UnusualModules, BareParametersAndSubclassesGetTheirRoles) {
  std::map<std::string, Role> roles;
  std::map<std::string, std::vector<std::int64_t>> shapes;
  for (const ParameterPlan& plan : functional().parameters) {
    roles[plan.name] = plan.role;
    shapes[plan.name] = plan.surrogate_shape;
  }
  const std::map<std::string, Role> wanted = {{"kernel", Role::kInput},
                                              {"gain", Role::kVector},
                                              {"mix", Role::kHidden},
                                              {"shift", Role::kVector},
                                              {"head.weight", Role::kOutput},
                                              {"head.bias", Role::kOutputBias}};
  EXPECT_EQ(roles, wanted);
  EXPECT_EQ(shapes.at("mix"), (std::vector<std::int64_t>{16, 768}));
  EXPECT_EQ(shapes.at("gain"), (std::vector<std::int64_t>{12, 1, 1}));
}

/// Weights shared by mistake would move by the sum of both trials' gradients.
TEST(UnusualModules, StackedTrialsShareNoParameter) {
  const train::Study study = train::testing::study_of(functional(), {3, 8, 8});
  const std::vector<worker::TrialSettings> trials = {train::testing::sgd(.05),
                                                     train::testing::sgd(.01)};
  const train::Container stacked =
      train::testing::trained(study, train::testing::spec_of(trials, 12), 12, at::kDouble);
  for (std::int64_t k = 0; k < 2; ++k) {
    const auto own = train::testing::spec_of({trials[static_cast<std::size_t>(k)]}, 12, k);
    const train::Container solo = train::testing::trained(study, own, 12, at::kDouble);
    for (std::size_t i = 0; i < solo.network().names().size(); ++i) {
      const at::Tensor wanted = train::testing::parameter(solo.network(), i, 0);
      const at::Tensor got = train::testing::parameter(stacked.network(), i, k);
      EXPECT_LE((got - wanted).abs().max().item<double>(), 1e-9) << solo.network().names()[i];
    }
  }
}

}  // namespace
}  // namespace hydro::chain
