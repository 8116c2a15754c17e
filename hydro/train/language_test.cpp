// Language models: losses and metrics over tokens, and training on a text.
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "hydro/base/testing.h"
#include "hydro/data/dataset.h"
#include "hydro/ops/torch.h"
#include "hydro/shrink/surrogate.h"
#include "hydro/train/container.h"
#include "hydro/train/feeder.h"
#include "hydro/train/objective.h"
#include "hydro/train/testing.h"
#include "hydro/train/testing_independence.h"
#include "hydro/train/train.h"
#include "hydro/worker/settings.h"

namespace hydro::train {
namespace {

using hydro::testing::outcome;
using testing::adamw;
using testing::eight;
using testing::sgd;
using testing::spec_of;
using testing::trained;
using worker::Task;

/// Three trials' scores of two blocks of four tokens in seven classes.
at::Tensor scores() {
  return at::sin(at::arange(168, at::kDouble) * 1.7).view({3, 2, 4, 7});
}

Batch labels() {
  return {.inputs = {},
          .classes = at::tensor({0, 3, 6, 2, 2, 5, 1, 0}, at::kLong).view({2, 4}),
          .values = {}};
}

/// libtorch's own form for several labels a sample: classes on axis 1.
double mean_loss(const at::Tensor& own, const at::Tensor& classes, double smoothing = 0) {
  return at::cross_entropy_loss(
             own.transpose(1, 2), classes, {}, at::Reduction::Mean, -100, smoothing)
      .item<double>();
}

TEST(LanguageModel, TakesEachTrialsMeanOverAllTokensWithItsOwnSmoothing) {
  const std::array<double, 3> smoothing = {0, .1, .3};
  const at::Tensor losses =
      training_losses(Task::kLanguageModel, scores(), labels(), smoothing).value();
  ASSERT_EQ(losses.numel(), 3);
  for (std::int64_t k = 0; k < 3; ++k) {
    const double own = smoothing.at(static_cast<std::size_t>(k));
    const double expected = mean_loss(scores()[k], labels().classes, own);
    EXPECT_NEAR(losses[k].item<double>(), expected, 1e-12);
    const at::Tensor solo =
        training_losses(Task::kLanguageModel, scores()[k], labels(), std::array{own}).value();
    EXPECT_NEAR(solo.item<double>(), expected, 1e-12);
  }
}

TEST(LanguageModel, PerplexityAndBitsAreOfTheTotalOverTokens) {
  Tally tally(Task::kLanguageModel, 30);  // 12 tokens of a text of 30 bytes
  const Batch first = labels();
  const Batch last{.inputs = {}, .classes = first.classes.narrow(0, 0, 1), .values = {}};
  ASSERT_EQ(outcome(tally.add(scores()[0], first, 2)), "ok");
  ASSERT_EQ(outcome(tally.add(scores()[1].narrow(0, 0, 1), last, 1)), "ok");
  const double total = (8 * mean_loss(scores()[0], first.classes)) +
                       (4 * mean_loss(scores()[1].narrow(0, 0, 1), last.classes));
  const auto metrics = tally.metrics("val");
  EXPECT_EQ(metrics.size(), 3U);
  EXPECT_NEAR(metrics.at("val_loss"), total / 12, 1e-12);
  EXPECT_NEAR(metrics.at("val_perplexity"), std::exp(total / 12), 1e-12);
  EXPECT_NEAR(metrics.at("val_bits_per_byte"), total / 30 / std::log(2.0), 1e-12);
}

TEST(LanguageModel, TalliesOnlyTheTokensOfValidBlocks) {
  Tally tally(Task::kLanguageModel);
  ASSERT_EQ(outcome(tally.add(scores()[0], labels(), 1)), "ok");
  EXPECT_NEAR(tally.metrics("test").at("test_loss"),
              mean_loss(scores()[0].narrow(0, 0, 1), labels().classes.narrow(0, 0, 1)),
              1e-12);
}

TEST(LanguageModel, HasNoBitsPerByteWhereTokensAreNoText) {
  Tally tally(Task::kLanguageModel);
  ASSERT_EQ(outcome(tally.add(scores()[0], labels(), 2)), "ok");
  EXPECT_FALSE(tally.metrics("val").contains("val_bits_per_byte"));
  EXPECT_TRUE(tally.metrics("val").contains("val_perplexity"));
}

TEST(LanguageModel, RefusesScoresThatAreNotOneATokenAndClass) {
  const std::array<double, 1> none = {0};
  for (const at::Tensor& output :
       {scores()[0][0], scores()[0].narrow(1, 0, 3), scores()[0].unsqueeze(-1)}) {
    EXPECT_EQ(outcome(training_losses(Task::kLanguageModel, output, labels(), none)), "H0505");
    EXPECT_EQ(outcome(Tally(Task::kLanguageModel).add(output, labels(), 1)), "H0505");
  }
}

/// Each byte by itself: [B, 4] -> 16 units -> 32 scores a token.
shrink::Surrogate bytewise() {
  const std::string text =
      "graph {\n  input user ids %x: int64[~5, 4]\n"
      "  input parameter a.weight %a: float32[16]\n"
      "  input parameter b.weight %b: float32[32, 16]\n"
      "  %u: int64[~5, 4, 1] = aten.unsqueeze.default(self=%x, dim=-1)\n"
      "  %f: float32[~5, 4, 1] = aten.div.Scalar(self=%u, other=16)\n"
      "  %h: float32[~5, 4, 16] = aten.mul.Tensor(self=%f, other=%a)\n"
      "  %r: float32[~5, 4, 16] = aten.tanh.default(self=%h)\n"
      "  %y: float32[~5, 4, 32] = aten.linear.default(input=%r, weight=%b, bias=None)\n"
      "  output user y %y\n}\n";
  return testing::surrogate_of(text, text);
}

/// Irregular tokens under 32.
std::shared_ptr<const data::Loader> text(std::int64_t blocks) {
  auto made = std::make_shared<data::Dataset>();
  made->size = blocks;
  made->inputs.push_back({.name = "",
                          .type = data::ElementType::kUInt8,
                          .shape = {4},
                          .bytes = {},
                          .is_text = true});
  for (std::int64_t i = 0; i <= 4 * blocks; ++i) {
    made->inputs.front().bytes.push_back(static_cast<std::byte>(i * i % 29));
  }
  made->target.shape = {4};
  return std::make_shared<const data::Loader>(
      made, std::vector<data::Transform>{}, data::Use::kTraining, 1);
}

Study text_study() {
  return {.task = Task::kLanguageModel,
          .models = {{"m", std::make_shared<const shrink::Surrogate>(bytewise())}},
          .training = text(96),
          .validation = text(19),
          .test = nullptr,
          .evaluation_batch = 8};
}

TEST(LanguageModel, LearnsATextAndReportsItsMetrics) {
  const Study study = text_study();
  Container container = trained(study, spec_of({adamw(.03)}, 60), 60);
  const auto reports = container.evaluate({}).value().value();
  const auto& metrics = reports.at(0).metrics;
  EXPECT_LT(metrics.at("val_loss"), std::log(32.0));
  EXPECT_NEAR(metrics.at("val_perplexity"), std::exp(metrics.at("val_loss")), 1e-9);
  EXPECT_NEAR(metrics.at("val_bits_per_byte"), metrics.at("val_loss") / std::log(2.0), 1e-12);
  EXPECT_TRUE(metrics.contains("train_loss"));
}

TEST(LanguageModel, PaddingOfTheLastBatchCountsForNothing) {
  const auto value = [](std::int64_t evaluation_batch) {
    return testing::val_loss_in_batches(
        text_study(), evaluation_batch, spec_of({sgd(.1), sgd(.2)}, 3), 3);
  };
  EXPECT_NEAR(value(8), value(19), 1e-6);
}

TEST(LanguageModel, SmoothingActsInTrainingOnly) {
  // Rates so small that both trials keep the weights they were drawn with.
  const auto metrics = [](double smoothing) {
    worker::TrialSettings settings = sgd(1e-12);
    settings.label_smoothing = smoothing;
    Container container = trained(text_study(), spec_of({settings}, 1), 1);
    return container.evaluate({}).value().value().at(0).metrics;
  };
  EXPECT_NEAR(metrics(.4).at("val_loss"), metrics(0).at("val_loss"), 1e-6);
  EXPECT_GT(std::abs(metrics(.4).at("train_loss") - metrics(0).at("train_loss")), 1e-3);
}

TEST(LanguageModel, EightStackedEqualEightSolo) {
  testing::expect_stacked_equals_solo(text_study(), eight(sgd, .01));
}

}  // namespace
}  // namespace hydro::train
