// Networks that read tokens or attend, shrunk 4 times: three trials along one trial axis give
// the outputs and gradients of three runs alone, and every node has its predicted shape.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "hydro/train/network.h"
#include "hydro/train/train.h"

#include "tests/chain/chain.h"
#include "tests/chain/made_up.h"

namespace hydro::chain {
namespace {

constexpr std::int64_t kTrials = 3;

struct Ran {
  at::Tensor trained;
  at::Tensor evaluated;
  std::vector<at::Tensor> gradients;
};

/// One pass of the trials `owners`; the loss weighs every output differently.
Ran run_of(const shrink::Surrogate& surrogate,
           std::vector<std::string> owners,
           at::ScalarType real,
           bool bf16 = false) {
  const bool stacked = owners.size() > 1;
  train::Network network =
      train::Network::make(
          surrogate,
          {.study_seed = 7, .owners = std::move(owners), .dtype = real, .bf16 = bf16})
          .value();
  const at::Tensor output =
      network.train(inputs_of(surrogate.model.train, real), /*step=*/3).output;
  const auto sizes = output.sizes().slice(stacked ? 1 : 0);
  const at::Tensor weights =
      at::sin(at::arange(c10::multiply_integers(sizes), at::kDouble) * .9).view(sizes).to(real);
  return {.trained = output.detach(),
          .evaluated = network.evaluate(inputs_of(surrogate.model.eval, real)),
          .gradients = train::gradients_of((output * weights).sum(), network)};
}

double largest(const at::Tensor& tensor) {
  return tensor.defined() ? tensor.abs().max().item<double>() : 0;
}

/// `least`: of a tensor that is all rounding, as a key's bias has no gradient.
void expect_near(const at::Tensor& got,
                 const at::Tensor& wanted,
                 double tolerance,
                 const std::string& what,
                 double least = 0) {
  ASSERT_EQ(got.sizes(), wanted.sizes()) << what;
  EXPECT_LE(largest(got - wanted), tolerance * std::max(largest(wanted), least)) << what;
}

double largest_of(const std::vector<at::Tensor>& tensors) {
  double found = 0;
  for (const at::Tensor& tensor : tensors) {
    found = std::max(found, largest(tensor));
  }
  return found;
}

class Stacked : public ::testing::TestWithParam<std::string> {
 protected:
  static void expect_equal_to_solo(at::ScalarType real, double tolerance) {
    const shrink::Surrogate surrogate =
        without_constants(shrunk(archive_of(GetParam() + "-1").model, {.scaling = 4}));
    const Ran all = run_of(surrogate, {"0", "1", "2"}, real);
    for (std::int64_t trial = 0; trial < kTrials; ++trial) {
      const Ran solo = run_of(surrogate, {std::to_string(trial)}, real);
      expect_near(all.trained[trial], solo.trained, tolerance, "trained");
      expect_near(all.evaluated[trial], solo.evaluated, tolerance, "evaluated");
      ASSERT_EQ(all.gradients.size(), solo.gradients.size());
      for (std::size_t i = 0; i < solo.gradients.size(); ++i) {
        ASSERT_EQ(all.gradients[i].defined(), solo.gradients[i].defined());
        if (solo.gradients[i].defined()) {
          expect_near(all.gradients[i][trial],
                      solo.gradients[i],
                      tolerance,
                      "gradient " + std::to_string(i),
                      1e-3 * largest_of(solo.gradients));
        }
      }
    }
    EXPECT_FALSE(at::equal(all.trained[0], all.trained[1])) << "two trials are one";
  }
};

TEST_P(Stacked, ThreeTrialsEqualThreeAloneInDouble) {
  expect_equal_to_solo(at::kDouble, 1e-9);
}

TEST_P(Stacked, ThreeTrialsEqualThreeAloneInSingle) {
  expect_equal_to_solo(at::kFloat, 1e-3);
}

/// Largest error of a gradient, each over its own largest element.
double farthest(const std::vector<at::Tensor>& got, const std::vector<at::Tensor>& wanted) {
  const double least = 1e-3 * largest_of(wanted);
  double found = 0;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i].defined()) {
      found =
          std::max(found, largest(got[i] - wanted[i]) / std::max(largest(wanted[i]), least));
    }
  }
  return found;
}

std::vector<at::Tensor> of_trial(const std::vector<at::Tensor>& stacked, std::int64_t trial) {
  std::vector<at::Tensor> own;
  for (const at::Tensor& tensor : stacked) {
    own.push_back(tensor.defined() ? tensor[trial] : tensor);
  }
  return own;
}

/// A gradient in bf16 is itself off by up to a quarter of its largest element (MobileNet's by
/// .25, ViT's by .06), so stacked ones are held to the distance from single precision that a
/// trial alone has.
TEST_P(Stacked, InBf16StackingCostsNoPrecision) {
  const shrink::Surrogate surrogate =
      without_constants(shrunk(archive_of(GetParam() + "-1").model, {.scaling = 4}));
  const Ran all = run_of(surrogate, {"0", "1", "2"}, at::kFloat, /*bf16=*/true);
  constexpr double kOutputs = .02;  // 2^-6, and ViT's .018
  double alone = 0;
  double together = 0;
  for (std::int64_t trial = 0; trial < kTrials; ++trial) {
    const std::string owner = std::to_string(trial);
    const Ran solo = run_of(surrogate, {owner}, at::kFloat, /*bf16=*/true);
    const Ran exact = run_of(surrogate, {owner}, at::kFloat, /*bf16=*/false);
    expect_near(all.trained[trial], solo.trained, kOutputs, "trained");
    expect_near(all.evaluated[trial], solo.evaluated, kOutputs, "evaluated");
    alone = std::max(alone, farthest(solo.gradients, exact.gradients));
    together = std::max(together, farthest(of_trial(all.gradients, trial), exact.gradients));
  }
  EXPECT_GT(alone, 0) << "nothing ran in bf16";
  EXPECT_LE(together, 1.5 * alone + 0x1p-6);
}

TEST_P(Stacked, EveryNodeHasThePredictedShape) {
  for (const double scaling : {4.0, 8.0}) {
    const shrink::Surrogate surrogate =
        shrunk(archive_of(GetParam() + "-1").model, {.scaling = scaling});
    const Result<void> checked = train::check_shapes(surrogate);
    EXPECT_TRUE(checked.has_value()) << scaling << ": " << checked.error().what;
  }
}

INSTANTIATE_TEST_SUITE_P(Networks,
                         Stacked,
                         ::testing::ValuesIn(networks()),
                         [](const auto& row) { return row.param; });

}  // namespace
}  // namespace hydro::chain
