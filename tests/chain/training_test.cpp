// Every network of networks.py and torchvision's convolution nets learn: three trials along one
// trial axis, forty steps on real data, in batches that were not exported.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "hydro/train/container.h"
#include "hydro/train/testing.h"
#include "hydro/train/train.h"
#include "hydro/worker/messages.h"

#include "tests/chain/chain.h"
#include "tests/chain/study_on_real_data.h"

namespace hydro::chain {
namespace {

constexpr std::int64_t kSteps = 40;
constexpr std::int64_t kReportEvery = 5;
constexpr std::int64_t kTrainedBatch = 16;

/// By report, which covers the steps since the one before it: each trial's mean training loss.
std::vector<std::vector<worker::Report>> reports_of(const train::Study& study) {
  worker::ContainerSpec spec = train::testing::spec_of(
      {train::testing::adamw(.0003), train::testing::adamw(.0006), train::testing::adamw(.001)},
      kSteps);
  spec.batch_size = kTrainedBatch;
  spec.budget.steps_per_epoch = study.training->dataset().size / kTrainedBatch;
  spec.budget.evaluate_every = kReportEvery;
  train::Container container = train::Container::make(study, spec).value();
  std::vector<std::vector<worker::Report>> reports;
  for (std::int64_t step = 0; step < kSteps; ++step) {
    EXPECT_TRUE(container.advance().value().empty()) << "a trial diverged";
    if (container.owes_evaluation()) {
      reports.push_back(container.evaluate({}).value().value());
    }
  }
  return reports;
}

class TrainsOnRealData : public ::testing::TestWithParam<std::string> {};

TEST_P(TrainsOnRealData, ThreeTrialsLowerTheirLossInFortySteps) {
  for (const double scaling : {4.0, 8.0}) {
    const auto reports = reports_of(study_on_real_data(GetParam(), scaling));
    ASSERT_EQ(reports.size(), static_cast<std::size_t>(kSteps / kReportEvery));
    for (std::size_t trial = 0; trial < 3; ++trial) {
      const double first = reports.front().at(trial).metrics.at("train_loss");
      const double last = reports.back().at(trial).metrics.at("train_loss");
      EXPECT_LT(last, first) << "S = " << scaling << ", trial " << trial;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Networks,
                         TrainsOnRealData,
                         ::testing::ValuesIn(networks()),
                         [](const auto& row) { return row.param; });

INSTANTIATE_TEST_SUITE_P(Torchvision,
                         TrainsOnRealData,
                         ::testing::Values("tv-resnet18",
                                           "tv-wide_resnet50_2",
                                           "tv-vgg11",
                                           "tv-vgg11_bn",
                                           "tv-mobilenet_v2",
                                           "tv-squeezenet1_1",
                                           "tv-swin_t",
                                           "tv-vit_b_16"),
                         [](const auto& row) { return row.param.substr(3); });

}  // namespace
}  // namespace hydro::chain
