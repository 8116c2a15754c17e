// The coordinate check in every family of networks.py, at widths that it judges: the right
// table passes for every optimizer, each wrong one fails and names the layers.
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hydro/shrink/coordinates.h"
#include "hydro/shrink/surrogate.h"

#include "tests/chain/coordinates.h"
#include "tests/chain/real_data.h"
#include "tests/chain/wrong_tables.h"

namespace hydro::chain {
namespace {

using shrink::Role;

constexpr double kMomentumRate = .005;
constexpr double kAdamRate = 2.5e-4;

struct JudgedFamily {
  std::string network;
  std::string feed_forward;  // a hidden weight of it
};

const std::vector<JudgedFamily>& families() {
  static const std::vector<JudgedFamily> kFamilies = {
      {.network = "gpt2", .feed_forward = "transformer.h.1.mlp.c_proj.weight"},
      {.network = "gpt2_eager", .feed_forward = "transformer.h.1.mlp.c_proj.weight"},
      {.network = "gpt_neo", .feed_forward = "transformer.h.1.mlp.c_proj.weight"},
      {.network = "bert_words", .feed_forward = "bert.encoder.layer.1.output.dense.weight"},
      {.network = "bert_classes", .feed_forward = "bert.encoder.layer.1.output.dense.weight"},
      {.network = "swin", .feed_forward = "swin.encoder.layers.1.blocks.1.mlp.fc2.weight"},
      {.network = "vit", .feed_forward = "encoder.layers.encoder_layer_1.mlp.3.weight"},
      {.network = "mobilenet_v3", .feed_forward = "classifier.0.weight"},
      {.network = "lstm", .feed_forward = "rnn.weight_ih_l1"},
      {.network = "lstm_tied", .feed_forward = "rnn.weight_ih_l1"},
      {.network = "encoder", .feed_forward = "encoder.layers.1.linear2.weight"}};
  return kFamilies;
}

Net net_of(const JudgedFamily& family) {
  return {.archive = "wide_" + family.network,
          .data = real_data(family.network, 96),
          .momentum_lr = kMomentumRate,
          .adam_lr = kAdamRate,
          .batch_size = 32};
}

class FamilyCoordinates : public ::testing::TestWithParam<JudgedFamily> {
 protected:
  static CoordinateCheck check(const std::string& optimizer) {
    return {net_of(GetParam()), optimizer};
  }
};

TEST_P(FamilyCoordinates, TheRightTablePassesForEveryOptimizer) {
  for (const char* optimizer : {"momentum", "adam", "adamw"}) {
    const shrink::CoordinateVerdict found = check(optimizer).verdict();
    EXPECT_TRUE(found.passed) << optimizer << "\n" << text_of(found);
    EXPECT_FALSE(layers_of(found, {Role::kHidden}).empty()) << text_of(found);
  }
}

TEST_P(FamilyCoordinates, ThePapersHiddenRateFailsUnderSgd) {
  const shrink::CoordinateVerdict found = check("momentum").verdict(take_papers_hidden_rate);
  expect_misses(found, layers_of(found, {Role::kHidden}));
}

/// The weights that scores come from: an embedding's second use too.
std::vector<std::string> heads_of(const shrink::Surrogate& surrogate) {
  std::vector<std::string> names;
  for (const shrink::ParameterPlan& plan : surrogate.parameters) {
    if ((plan.role == Role::kOutput && plan.readout) || plan.tied) {
      names.push_back(plan.name);
    }
  }
  return names;
}

TEST_P(FamilyCoordinates, WrongTablesFailUnderAdam) {
  CoordinateCheck adam = check("adam");
  const shrink::CoordinateVerdict unscaled = adam.verdict(leave_hidden_adam_unscaled);
  expect_misses(unscaled, layers_of(unscaled, {Role::kHidden}));
  const shrink::CoordinateVerdict plain = adam.verdict(take_multipliers_out);
  expect_misses(plain, heads_of(adam.narrow()));
  expect_misses(adam.verdict(forget_fan_in(GetParam().feed_forward)),
                {GetParam().feed_forward});
  const shrink::CoordinateVerdict loud = adam.verdict(scale_input_variance);
  EXPECT_THAT(missed(loud), ::testing::Contains(::testing::HasSubstr(" input layers ")))
      << text_of(loud);
}

INSTANTIATE_TEST_SUITE_P(Networks,
                         FamilyCoordinates,
                         ::testing::ValuesIn(families()),
                         [](const auto& row) { return row.param.network; });

}  // namespace
}  // namespace hydro::chain
