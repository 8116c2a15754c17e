// Trials of exported models that leave a stack of trials or their container go on as if nothing
// had happened.
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "hydro/base/result.h"
#include "hydro/ops/torch.h"
#include "hydro/optim/optimizer.h"
#include "hydro/train/container.h"
#include "hydro/train/network.h"
#include "hydro/train/testing.h"
#include "hydro/train/testing_independence.h"
#include "hydro/train/testing_states.h"
#include "hydro/train/train.h"
#include "hydro/train/trial_state.h"
#include "hydro/worker/messages.h"
#include "hydro/worker/settings.h"

#include "tests/chain/chain.h"
#include "tests/chain/made_up.h"
#include "tests/chain/narrow.h"

namespace hydro::chain {
namespace {

using train::Container;
using train::Network;
using train::Traveller;
using train::testing::advance;
using train::testing::distance;
using train::testing::leaving;
using train::testing::Recipe;
using train::testing::recipes;
using train::testing::slot_of;
using train::testing::spec_of;
using train::testing::trained;
using worker::TrialId;

/// A net in training on the edge of its stability multiplies rounding: momentum weighs a step
/// ten times its rate.
Recipe calm(Recipe recipe) {
  if (recipe.kind == worker::OptimizerKind::kSgd && recipe.momentum > 0) {
    recipe.lr = .001;
  }
  return recipe;
}

class ResnetStates : public ::testing::TestWithParam<Recipe> {};

TEST_P(ResnetStates, SurvivorsOfACutGoOnAsIfAlone) {
  const train::Study study = narrow(kResnet);
  const Recipe recipe = calm(GetParam());
  Container stacked = trained(study, spec_of(recipe, 5), 35, at::kDouble);
  for (const std::int64_t gone : {0, 2, 4}) {
    stacked.drop(TrialId{gone});
  }
  stacked = stacked.regrouped(study).value();
  advance(stacked, 50);
  for (const std::int64_t trial : {1, 3}) {
    const Container solo = trained(study, spec_of(recipe, 1, trial), 85, at::kDouble);
    EXPECT_LE(distance(stacked.network(), slot_of(stacked, trial), solo.network(), 0), 1e-9)
        << "trial " << trial;
  }
}

TEST_P(ResnetStates, AloneInANewContainerGoOnBitForBit) {
  const train::Study study = narrow(kResnet);
  const auto spec = spec_of(GetParam(), 1);
  const Traveller traveller = leaving(trained(study, spec, 10), 0);
  Container moved = Container::restore(study, spec, {&traveller, 1}).value();
  advance(moved, 10);
  EXPECT_EQ(moved.state_of(TrialId{0}), trained(study, spec, 20).state_of(TrialId{0}));
}

INSTANTIATE_TEST_SUITE_P(Optimizers,
                         ResnetStates,
                         ::testing::Values(recipes()[1], recipes()[5], recipes()[6]),
                         [](const auto& row) { return std::string(row.param.name); });

/// A network and its optimizer, as a container has them, without data.
struct Trained {
  Network network;
  optim::Optimizer optimizer;
};

Trained made(const shrink::Surrogate& surrogate,
             std::vector<std::string> owners,
             worker::TrialSettings settings) {
  const std::vector<worker::Optimizer> optimizers(owners.size(), settings.optimizer);
  Network network =
      Network::make(surrogate,
                    {.study_seed = 7, .owners = std::move(owners), .dtype = at::kDouble})
          .value();
  optim::Optimizer optimizer(
      network.layout(),
      optimizers,
      train::factors_of(surrogate, network, settings.optimizer.kind).optimizer);
  return {.network = std::move(network), .optimizer = std::move(optimizer)};
}

void take_step(Trained& all, const train::NamedTensors& inputs, std::int64_t step) {
  const auto trials = static_cast<std::size_t>(all.network.trials());
  Network::Pass pass = all.network.train(inputs, step);
  const auto gradients = train::gradients_of(pass.output.square().sum(), all.network);
  const std::vector<optim::TrialStep> steps(trials);
  all.optimizer.step(all.network.weights(), gradients, steps);
  all.network.keep(std::move(pass.buffers), std::vector<bool>(trials, true));
}

/// Convolution with bias, layer norm, embedding, attention, recurrence: any parameter and any
/// buffer follows its trial.
class NetworkStates : public ::testing::TestWithParam<std::string> {};

TEST_P(NetworkStates, CutOutOfAStackGoOnAsIfNeverInIt) {
  const shrink::Surrogate surrogate =
      without_constants(shrunk(archive_of(GetParam() + "-1").model, {.scaling = 4}));
  const auto inputs = inputs_of(surrogate.model.train, at::kDouble);
  const worker::TrialSettings settings = train::testing::sgd(1e-4);
  Trained stacked = made(surrogate, {"0", "1", "2"}, settings);
  Trained alone = made(surrogate, {"1"}, settings);
  Trained cut = made(surrogate, {"1"}, settings);
  for (std::int64_t step = 0; step < 2; ++step) {
    take_step(stacked, inputs, step);
    take_step(alone, inputs, step);
  }
  const auto state = train::copy_out(stacked.network, stacked.optimizer, 1);
  ASSERT_TRUE(train::copy_in(state, cut.network, cut.optimizer, 0).has_value());
  EXPECT_EQ(train::copy_out(cut.network, cut.optimizer, 0), state);
  for (std::int64_t step = 2; step < 4; ++step) {
    take_step(alone, inputs, step);
    take_step(cut, inputs, step);
  }
  EXPECT_LE(distance(cut.network, 0, alone.network, 0), 1e-9);
}

INSTANTIATE_TEST_SUITE_P(Networks,
                         NetworkStates,
                         ::testing::ValuesIn(networks()),
                         [](const auto& row) { return row.param; });

}  // namespace
}  // namespace hydro::chain
