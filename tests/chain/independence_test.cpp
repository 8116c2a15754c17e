// Trials of exported models, shrunk 8 times: what shares a container with a trial, and in which
// slot, changes nothing of it. Batch norm and dropout are on.
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "hydro/train/testing.h"
#include "hydro/train/testing_independence.h"
#include "hydro/train/train.h"
#include "hydro/worker/settings.h"

#include "tests/chain/chain.h"
#include "tests/chain/narrow.h"

namespace hydro::chain {
namespace {

using train::testing::spec_of;

struct Row {
  const char* name;
  Family family;
  worker::TrialSettings (*optimizer)(double);
  double largest_lr;
};

// With momentum .9 a step weighs ten times its rate, so the rate is a tenth: what is compared
// is rounding, and a net in training on the edge of its stability multiplies that.
class ChainIndependence : public ::testing::TestWithParam<Row> {};

TEST_P(ChainIndependence, EightStackedEqualEightSoloAfter100Steps) {
  const Row& row = GetParam();
  train::testing::expect_stacked_equals_solo(
      narrow(row.family), train::testing::eight(row.optimizer, row.largest_lr));
}

INSTANTIATE_TEST_SUITE_P(
    Models,
    ChainIndependence,
    ::testing::Values(Row{"MlpSgd", kMlp, train::testing::sgd, .01},
                      Row{"MlpAdamW", kMlp, train::testing::adamw, .001},
                      Row{"ResNet18Sgd", kResnet, train::testing::plain_sgd, .01},
                      Row{"ResNet18Momentum", kResnet, train::testing::sgd, .001},
                      Row{"ResNet18AdamW", kResnet, train::testing::adamw, .001}),
    [](const auto& row) { return std::string(row.param.name); });

/// In double precision a step stacked and one alone agree to rounding only when both drew the
/// same masks: another mask moves the weights by a share of the step.
TEST(ChainSlots, OfEightAndOfNineGiveTheSameTrial) {
  for (const Family& family : {kMlp, kResnet}) {
    const train::Study study = narrow(family);
    const std::vector<worker::TrialSettings> nine(9, train::testing::sgd(.01));
    const std::vector<worker::TrialSettings> eight(8, train::testing::sgd(.01));
    for (const std::int64_t steps : {0, 3}) {
      const auto of_eight =
          train::testing::trained(study, spec_of(eight, 9, 1), steps, at::kDouble);
      const auto of_nine =
          train::testing::trained(study, spec_of(nine, 9, 0), steps, at::kDouble);
      for (std::int64_t slot = 0; slot < 8; ++slot) {
        const double apart =
            train::testing::distance(of_eight.network(), slot, of_nine.network(), slot + 1);
        EXPECT_LE(apart, steps == 0 ? 0 : 1e-9) << family.name << " slot " << slot;
      }
      EXPECT_GT(train::testing::distance(of_eight.network(), 0, of_nine.network(), 0), 1e-3)
          << "two trials are one";
    }
  }
}

}  // namespace
}  // namespace hydro::chain
