// `task: model_loss`: the model's output is the loss, its labels are one of its inputs.
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
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
using testing::sgd;
using testing::spec_of;
using testing::trained;
using worker::Task;

/// 12 -> 16 -> 3, and the mean square of the difference to the second input.
shrink::Surrogate with_loss(bool averages = true) {
  const std::string text =
      "graph {\n  input user x %x: float32[~5, 12]\n  input user y %y: float32[~5, 3]\n"
      "  input parameter a.weight %a: float32[16, 12]\n"
      "  input parameter b.weight %b: float32[3, 16]\n"
      "  %h: float32[~5, 16] = aten.linear.default(input=%x, weight=%a, bias=None)\n"
      "  %r: float32[~5, 16] = aten.relu.default(self=%h)\n"
      "  %o: float32[~5, 3] = aten.linear.default(input=%r, weight=%b, bias=None)\n"
      "  %d: float32[~5, 3] = aten.sub.Tensor(self=%o, other=%y, alpha=1)\n"
      "  %q: float32[~5, 3] = aten.mul.Tensor(self=%d, other=%d)\n" +
      std::string(averages ? "  %l: float32[] = aten.mean.default(self=%q, dtype=None)\n"
                           : "  %l: float32[~5, 3] = aten.neg.default(self=%q)\n") +
      "  output user loss %l\n}\n";
  return testing::surrogate_of(text, text);
}

data::Field numbers(const std::string& name, std::int64_t count, std::int64_t width) {
  std::vector<float> values;
  for (std::int64_t i = 0; i < count * width; ++i) {
    values.push_back(static_cast<float>(std::sin(static_cast<double>(i) * 1.7)));
  }
  return {.name = name,
          .type = data::ElementType::kFloat32,
          .shape = {width},
          .bytes = hydro::testing::bytes_of(values)};
}

std::shared_ptr<const data::Loader> pairs(std::int64_t count) {
  auto made = std::make_shared<data::Dataset>();
  made->size = count;
  made->inputs = {numbers("x", count, 12), numbers("y", count, 3)};
  return std::make_shared<const data::Loader>(
      made, std::vector<data::Transform>{}, data::Use::kTraining, 1);
}

Study own_loss(shrink::Surrogate surrogate = with_loss()) {
  return {.task = Task::kModelLoss,
          .models = {{"m", std::make_shared<const shrink::Surrogate>(std::move(surrogate))}},
          .training = pairs(96),
          .validation = pairs(19),
          .test = nullptr,
          .evaluation_batch = 8};
}

TEST(ModelLoss, IsTheOutputOfEachTrial) {
  const at::Tensor three = at::tensor({.5, 2.0, -1.0}, at::kDouble);
  const std::array<double, 3> none = {};
  const Batch batch;
  EXPECT_TRUE(training_losses(Task::kModelLoss, three, batch, none).value().equal(three));
  const at::Tensor one =
      training_losses(Task::kModelLoss, three[1], batch, std::array<double, 1>{}).value();
  EXPECT_EQ(one.numel(), 1);
  EXPECT_EQ(one.item<double>(), 2.0);
}

TEST(ModelLoss, IsWeightedBySamples) {
  Tally tally(Task::kModelLoss);
  const Batch batch;
  ASSERT_EQ(outcome(tally.add(at::scalar_tensor(2.0), batch, 3)), "ok");
  ASSERT_EQ(outcome(tally.add(at::scalar_tensor(6.0), batch, 1)), "ok");
  EXPECT_EQ(tally.metrics("val"), (std::map<std::string, double>{{"val_loss", 3.0}}));
}

TEST(ModelLoss, RefusesAnOutputOfSeveralNumbers) {
  Container container =
      Container::make(own_loss(with_loss(false)), spec_of({sgd(.1)}, 3)).value();
  EXPECT_EQ(outcome(container.advance()), "H0505");
  EXPECT_EQ(outcome(container.evaluate({})), "H0505");
}

TEST(ModelLoss, TheLastBatchOfAnEvaluationHasNoPadding) {
  const auto value = [](std::int64_t evaluation_batch) {
    return testing::val_loss_in_batches(
        own_loss(), evaluation_batch, spec_of({sgd(.1), sgd(.05)}, 6), 6);
  };
  EXPECT_NEAR(value(8), value(19), 1e-6);
}

TEST(ModelLoss, TrainsDown) {
  const auto loss_after = [](std::int64_t steps) {
    Container container = trained(own_loss(), spec_of({sgd(.05)}, steps), steps);
    return container.evaluate({}).value().value().at(0).metrics.at("val_loss");
  };
  EXPECT_LT(loss_after(60), loss_after(1));
}

TEST(ModelLoss, EightStackedEqualEightSolo) {
  testing::expect_stacked_equals_solo(own_loss(), testing::eight(sgd, .01));
}

}  // namespace
}  // namespace hydro::train
