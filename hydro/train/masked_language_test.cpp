// Masked language models: losses and metrics over hidden tokens, and training on a text.
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "hydro/base/testing.h"
#include "hydro/data/dataset.h"
#include "hydro/data/masking.h"
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

constexpr std::int64_t kNone = data::kNoLabel;

/// Three trials' scores of two blocks of four tokens in seven classes.
at::Tensor three_scores() {
  return at::sin(at::arange(168, at::kDouble) * 1.7).view({3, 2, 4, 7});
}

/// Three of eight places count.
Batch hidden_labels() {
  return {
      .inputs = {},
      .classes =
          at::tensor({kNone, 3L, kNone, 2L, kNone, kNone, kNone, 5L}, at::kLong).view({2, 4}),
      .values = {}};
}

/// libtorch's own form: classes on axis 1, and it leaves out what has no label.
double mean_hidden_loss(const at::Tensor& own,
                        const at::Tensor& classes,
                        double smoothing = 0) {
  return at::cross_entropy_loss(
             own.transpose(1, 2), classes, {}, at::Reduction::Mean, kNone, smoothing)
      .item<double>();
}

TEST(MaskedLanguageModel, TakesEachTrialsMeanOverItsHiddenTokens) {
  const std::array<double, 3> smoothing = {0, .1, .3};
  const at::Tensor losses =
      training_losses(Task::kMaskedLanguageModel, three_scores(), hidden_labels(), smoothing)
          .value();
  for (std::int64_t k = 0; k < 3; ++k) {
    const double own = smoothing.at(static_cast<std::size_t>(k));
    const double expected = mean_hidden_loss(three_scores()[k], hidden_labels().classes, own);
    EXPECT_NEAR(losses[k].item<double>(), expected, 1e-12);
    const at::Tensor solo =
        training_losses(
            Task::kMaskedLanguageModel, three_scores()[k], hidden_labels(), std::array{own})
            .value();
    EXPECT_NEAR(solo.item<double>(), expected, 1e-12);
  }
}

TEST(MaskedLanguageModel, NoGradientComesFromOtherTokens) {
  at::Tensor own = three_scores()[0].clone().requires_grad_(true);
  const std::array<double, 1> none = {0};
  training_losses(Task::kMaskedLanguageModel, own, hidden_labels(), none)
      .value()
      .sum()
      .backward();
  const at::Tensor moved = own.grad().abs().sum(-1).gt(0);
  EXPECT_TRUE(moved.equal(hidden_labels().classes.ne(kNone)));
}

TEST(MaskedLanguageModel, MetricsAreOverHiddenTokensOfValidBlocks) {
  Tally tally(Task::kMaskedLanguageModel);
  const Batch batch = hidden_labels();
  ASSERT_EQ(outcome(tally.add(three_scores()[0], batch, 2)), "ok");
  ASSERT_EQ(outcome(tally.add(three_scores()[1], batch, 1)), "ok");
  const double total =
      (3 * mean_hidden_loss(three_scores()[0], batch.classes)) +
      (2 * mean_hidden_loss(three_scores()[1].narrow(0, 0, 1), batch.classes.narrow(0, 0, 1)));
  const auto hits = [&](const at::Tensor& own, const at::Tensor& classes) {
    return own.argmax(-1).eq(classes).sum().item<std::int64_t>();
  };
  const auto right = hits(three_scores()[0], batch.classes) +
                     hits(three_scores()[1].narrow(0, 0, 1), batch.classes.narrow(0, 0, 1));
  const auto metrics = tally.metrics("val");
  EXPECT_EQ(metrics.size(), 3U);
  EXPECT_NEAR(metrics.at("val_loss"), total / 5, 1e-12);
  EXPECT_NEAR(metrics.at("val_perplexity"), std::exp(total / 5), 1e-12);
  EXPECT_NEAR(metrics.at("val_accuracy"), static_cast<double>(right) / 5, 1e-12);
}

TEST(MaskedLanguageModel, RefusesScoresThatAreNotOneATokenAndClass) {
  const std::array<double, 1> none = {0};
  EXPECT_EQ(outcome(training_losses(
                Task::kMaskedLanguageModel, three_scores()[0][0], hidden_labels(), none)),
            "H0505");
}

/// A table of 33 rows, mixed over the four places of a block: [B, 4] -> 16 units -> 32 scores.
shrink::Surrogate masked_encoder() {
  const std::string text =
      "graph {\n  input user ids %x: int64[~5, 4]\n"
      "  input parameter a.weight %a: float32[33, 16]\n"
      "  input parameter b.weight %b: float32[32, 16]\n"
      "  %e: float32[~5, 4, 16] = aten.embedding.default(weight=%a, indices=%x, "
      "padding_idx=-1, scale_grad_by_freq=False, sparse=False)\n"
      "  %m: float32[~5, 1, 16] = aten.mean.dim(self=%e, dim=[1], keepdim=True, dtype=None)\n"
      "  %h: float32[~5, 4, 16] = aten.add.Tensor(self=%e, other=%m)\n"
      "  %r: float32[~5, 4, 16] = aten.tanh.default(self=%h)\n"
      "  %y: float32[~5, 4, 32] = aten.linear.default(input=%r, weight=%b, bias=None)\n"
      "  output user y %y\n}\n";
  return testing::surrogate_of(text, text);
}

/// Irregular tokens under 32, each block of one token and its neighbours.
std::shared_ptr<const data::Loader> masked_text(std::int64_t blocks, data::Use use) {
  auto made = std::make_shared<data::Dataset>();
  made->size = blocks;
  made->inputs.push_back({.name = "",
                          .type = data::ElementType::kUInt8,
                          .shape = {4},
                          .bytes = {},
                          .is_text = true,
                          .labels = data::TextLabels::kSame});
  for (std::int64_t i = 0; i < 4 * blocks; ++i) {
    made->inputs.front().bytes.push_back(static_cast<std::byte>(((i / 4) * 7 % 31) + (i % 2)));
  }
  made->target.shape = {4};
  return std::make_shared<const data::Loader>(
      made,
      std::vector<data::Transform>{},
      use,
      1,
      data::Masking{.share = .25, .token = 32, .vocabulary = 32});
}

Study masked_study() {
  return {.task = Task::kMaskedLanguageModel,
          .models = {{"m", std::make_shared<const shrink::Surrogate>(masked_encoder())}},
          .training = masked_text(96, data::Use::kTraining),
          .validation = masked_text(19, data::Use::kEvaluation),
          .test = nullptr,
          .evaluation_batch = 8};
}

TEST(MaskedLanguageModel, LearnsFromWhatIsNotHidden) {
  const Study study = masked_study();
  Container container = trained(study, spec_of({adamw(.03)}, 200), 200);
  const auto reports = container.evaluate({}).value().value();
  const auto& metrics = reports.at(0).metrics;
  EXPECT_LT(metrics.at("val_loss"), std::log(32.0) / 2);
  EXPECT_GT(metrics.at("val_accuracy"), .3);
  EXPECT_NEAR(metrics.at("val_perplexity"), std::exp(metrics.at("val_loss")), 1e-9);
  EXPECT_FALSE(metrics.contains("val_bits_per_byte"));
}

TEST(MaskedLanguageModel, PaddingOfTheLastBatchCountsForNothing) {
  const auto value = [](std::int64_t evaluation_batch) {
    return testing::val_loss_in_batches(
        masked_study(), evaluation_batch, spec_of({sgd(.1), sgd(.2)}, 3), 3);
  };
  EXPECT_NEAR(value(8), value(19), 1e-6);
}

TEST(MaskedLanguageModel, EightStackedEqualEightSolo) {
  testing::expect_stacked_equals_solo(masked_study(), eight(sgd, .01));
}

TEST(MaskedLanguageModel, ThreeStackedEqualThreeSoloWithAdamW) {
  testing::expect_stacked_equals_solo(masked_study(),
                                      {adamw(.001), adamw(.0005), adamw(.0002)});
}

}  // namespace
}  // namespace hydro::train
