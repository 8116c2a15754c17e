// A trial that leaves a container and enters another goes on as if nothing had happened.
#include "hydro/train/trial_state.h"

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "hydro/base/result.h"
#include "hydro/base/testing.h"
#include "hydro/ops/torch.h"
#include "hydro/store/trial_state.h"
#include "hydro/train/container.h"
#include "hydro/train/testing.h"
#include "hydro/train/testing_independence.h"
#include "hydro/train/testing_states.h"
#include "hydro/train/train.h"
#include "hydro/worker/messages.h"

namespace hydro::train {
namespace {

using hydro::testing::outcome;
using testing::advance;
using testing::cnn;
using testing::distance;
using testing::leaving;
using testing::mlp;
using testing::Recipe;
using testing::recipes;
using testing::sgd;
using testing::slot_of;
using testing::spec_of;
using testing::study_of;
using testing::trained;
using worker::TrialId;

/// Relative to each tensor's largest weight, 50 steps after a cut, in double precision.
constexpr double kRounding = 1e-9;

Study study_named(const std::string& model) {
  return model == "Cnn" ? study_of(cnn(), {3, 8, 8}) : study_of(mlp());
}

class TrialStates : public ::testing::TestWithParam<std::tuple<std::string, Recipe>> {
 protected:
  [[nodiscard]] static const Recipe& recipe() { return std::get<1>(GetParam()); }

  /// The trial that nothing ever interrupted, alone.
  [[nodiscard]] Container alone(std::int64_t trial,
                                std::int64_t steps,
                                at::ScalarType dtype = at::kFloat) const {
    return trained(study_, spec_of(recipe(), 1, trial), steps, dtype);
  }

  [[nodiscard]] Container together(std::int64_t trials,
                                   std::int64_t steps,
                                   at::ScalarType dtype = at::kDouble) const {
    return trained(study_, spec_of(recipe(), trials), steps, dtype);
  }

  /// `trials` of `from` in a container of their own, in that order.
  [[nodiscard]] Container moved(const Container& from,
                                const std::vector<std::int64_t>& trials,
                                at::ScalarType dtype = at::kDouble) const {
    std::vector<Traveller> travellers;
    for (const std::int64_t trial : trials) {
      travellers.push_back(leaving(from, trial));
    }
    return Container::restore(study_, from.spec(), travellers, dtype).value();
  }

  /// Each trial of the container as if it had been alone all the time.
  void expect_undisturbed(const Container& container) const {
    for (const worker::TrialSpec& spec : container.spec().trials) {
      const auto trial = static_cast<std::int64_t>(spec.id);
      const Container solo = alone(trial, container.step(), at::kDouble);
      EXPECT_LE(distance(container.network(), slot_of(container, trial), solo.network(), 0),
                kRounding)
          << "trial " << trial << " of " << container.spec().trials.size();
    }
  }

  const Study study_ = study_named(std::get<0>(GetParam()));
};

TEST_P(TrialStates, AloneInANewContainerGoOnBitForBit) {
  Container container = alone(1, 20);
  for (int move = 0; move < 2; ++move) {
    container = moved(container, {1}, at::kFloat);
    advance(container, 20);
  }
  EXPECT_EQ(container.state_of(TrialId{1}), alone(1, 60).state_of(TrialId{1}));
}

TEST_P(TrialStates, AllTogetherInANewContainerGoOnBitForBit) {
  for (const std::int64_t count : {2, 5}) {
    Container container = together(count, 20, at::kFloat);
    container = container.regrouped(study_).value();
    advance(container, 20);
    const Container undisturbed = together(count, 40, at::kFloat);
    for (std::int64_t trial = 0; trial < count; ++trial) {
      EXPECT_EQ(container.state_of(TrialId{trial}), undisturbed.state_of(TrialId{trial}))
          << "trial " << trial << " of " << count;
    }
  }
}

TEST_P(TrialStates, OutOfAStackAndBackKeepEveryBit) {
  const Container stacked = together(5, 20, at::kFloat);
  const Container solo = moved(stacked, {3}, at::kFloat);
  EXPECT_EQ(solo.state_of(TrialId{3}), stacked.state_of(TrialId{3}));
  Container others = together(5, 20, at::kFloat);
  others.drop(TrialId{3});
  const Traveller back = leaving(solo, 3);
  others = others.regrouped(study_, {&back, 1}).value();
  EXPECT_EQ(slot_of(others, 3), 4);
  for (std::int64_t trial = 0; trial < 5; ++trial) {
    EXPECT_EQ(others.state_of(TrialId{trial}), stacked.state_of(TrialId{trial})) << trial;
  }
}

TEST_P(TrialStates, OutOfAStackGoOnAloneAsIfNeverStacked) {
  Container container = moved(together(5, 40), {3});
  advance(container, 50);
  expect_undisturbed(container);
}

TEST_P(TrialStates, OfAContainerThatShrinksGoOnAsIfAlone) {
  Container container = together(5, 40);
  for (const std::vector<std::int64_t>& leave : {std::vector<std::int64_t>{0, 2, 4}, {1}}) {
    for (const std::int64_t trial : leave) {
      container.drop(TrialId{trial});
    }
    container = container.regrouped(study_).value();
    EXPECT_FALSE(container.has_masked_trials());
    advance(container, 50);
    expect_undisturbed(container);
  }
  EXPECT_EQ(container.spec().trials.size(), 1U);
}

TEST_P(TrialStates, OfEightCutToThreeGoOnAsIfAlone) {
  Container container = together(8, 40);  // a decay of the step schedule lies behind
  for (const std::int64_t trial : {1, 2, 4, 6, 7}) {
    container.drop(TrialId{trial});
  }
  container = container.regrouped(study_).value();
  advance(container, 50);
  EXPECT_EQ(container.step(), 90);
  ASSERT_EQ(container.spec().trials.size(), 3U);
  for (const std::int64_t trial : {0, 3, 5}) {
    EXPECT_EQ(container.state_of(TrialId{trial}).step, 90) << trial;
  }
  expect_undisturbed(container);
}

TEST_P(TrialStates, EnterBesideOthersInAnySlot) {
  const Container first = together(3, 40);
  const Container second = trained(study_, spec_of(recipe(), 2, 3), 40, at::kDouble);
  const std::vector<Traveller> travellers = {
      leaving(second, 4), leaving(first, 2), leaving(first, 0)};
  Container mixed = Container::restore(study_, first.spec(), travellers, at::kDouble).value();
  EXPECT_EQ(mixed.step(), 40);
  advance(mixed, 50);
  expect_undisturbed(mixed);
}

std::string name_of(const ::testing::TestParamInfo<std::tuple<std::string, Recipe>>& row) {
  return std::get<0>(row.param) + std::get<1>(row.param).name;
}

INSTANTIATE_TEST_SUITE_P(Mlp,
                         TrialStates,
                         ::testing::Combine(::testing::Values("Mlp"),
                                            ::testing::ValuesIn(recipes())),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Cnn,
                         TrialStates,
                         ::testing::Combine(::testing::Values("Cnn"),
                                            ::testing::Values(recipes()[1], recipes()[6])),
                         name_of);

const Recipe kMomentum = recipes()[1];

TEST(TrialState, HoldsVelocitiesOnlyOfATrialThatHasMomentum) {
  const Study study = study_of(mlp());
  const auto spec = spec_of({testing::plain_sgd(.01), sgd(.01)}, 200);
  const Container container = trained(study, spec, 3);
  EXPECT_FALSE(container.state_of(TrialId{0}).tensors.contains("velocity/a.weight"));
  EXPECT_TRUE(container.state_of(TrialId{1}).tensors.contains("velocity/a.weight"));
}

TEST(TrialState, EntersAStackWhoseOthersNeedNoVelocity) {
  const Study study = study_of(mlp());
  const Container one = trained(study, spec_of({sgd(.01)}, 200), 20, at::kDouble);
  Container other = trained(study, spec_of({testing::plain_sgd(.01)}, 200, 1), 20, at::kDouble);
  const Traveller traveller = leaving(one, 0);
  other = other.regrouped(study, {&traveller, 1}).value();
  advance(other, 50);
  const Container undisturbed = trained(study, spec_of({sgd(.01)}, 200), 70, at::kDouble);
  EXPECT_LE(distance(other.network(), 1, undisturbed.network(), 0), kRounding);
}

TEST(TrialState, OfATrialBesideOneThatTurnedNanIsUntouched) {
  const Study study = study_of(mlp());
  const auto healthy = spec_of({sgd(.01), sgd(.02), sgd(.01)}, 200);
  const Container undisturbed = trained(study, healthy, 70, at::kDouble);
  Container sick =
      trained(study, spec_of({sgd(.01), sgd(1e300), sgd(.01)}, 200), 20, at::kDouble);
  ASSERT_TRUE(sick.has_masked_trials()) << "trial 1 was meant to diverge";
  sick = sick.regrouped(study).value();
  EXPECT_EQ(sick.spec().trials.size(), 2U);
  advance(sick, 50);
  for (const std::int64_t trial : {0, 2}) {
    EXPECT_LE(distance(sick.network(), slot_of(sick, trial), undisturbed.network(), trial),
              kRounding);
  }
}

TEST(TrialState, OfAnotherModelDoesNotFit) {
  const Traveller traveller = leaving(trained(study_of(mlp()), spec_of(kMomentum, 1), 1), 0);
  const Study other = study_of(cnn(), {3, 8, 8});
  EXPECT_EQ(outcome(Container::restore(other, spec_of(kMomentum, 1), {&traveller, 1})),
            "H0631");
}

TEST(TrialState, OfAnotherWidthOrOptimizerDoesNotFit) {
  const Study study = study_of(mlp());
  const Study wide =
      study_of(testing::surrogate_of(testing::mlp_text(testing::Mode::kTrain, 24),
                                     testing::mlp_text(testing::Mode::kEval, 24)));
  Traveller traveller = leaving(trained(study, spec_of(kMomentum, 1), 1), 0);
  const auto spec = spec_of(kMomentum, 1);
  EXPECT_EQ(outcome(Container::restore(wide, spec, {&traveller, 1})), "H0631");
  EXPECT_EQ(outcome(Container::restore(study, spec, {&traveller, 1}, at::kDouble)), "H0631");
  traveller.trial.settings.optimizer.momentum = 0;
  EXPECT_EQ(outcome(Container::restore(study, spec, {&traveller, 1})), "H0631");
}

TEST(TrialState, OfAnotherStepSharesNoContainer) {
  const Study study = study_of(mlp());
  const Traveller early = leaving(trained(study, spec_of(kMomentum, 1, 1), 10), 1);
  const Container late = trained(study, spec_of(kMomentum, 1), 11);
  EXPECT_THROW(static_cast<void>(late.regrouped(study, {&early, 1})), BugError);
}

TEST(TrialState, OfNoTrialMakesNoContainer) {
  const Study study = study_of(mlp());
  Container container = trained(study, spec_of(kMomentum, 1), 10);
  container.drop(TrialId{0});
  EXPECT_THROW(static_cast<void>(container.regrouped(study)), BugError);
}

}  // namespace
}  // namespace hydro::train
