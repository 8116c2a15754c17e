// Initial values, losses, clipping, shapes and coordinates.
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <span>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "hydro/base/result.h"
#include "hydro/base/testing.h"
#include "hydro/data/dataset.h"
#include "hydro/ir/model.h"
#include "hydro/ops/torch.h"
#include "hydro/shrink/coordinates.h"
#include "hydro/shrink/surrogate.h"
#include "hydro/train/container.h"
#include "hydro/train/feeder.h"
#include "hydro/train/guard.h"
#include "hydro/train/initialise.h"
#include "hydro/train/network.h"
#include "hydro/train/objective.h"
#include "hydro/train/testing.h"
#include "hydro/train/train.h"
#include "hydro/worker/settings.h"

namespace hydro::train {
namespace {

using hydro::testing::outcome;
using testing::cnn;
using testing::mlp;
using testing::parameter;
using testing::sgd;
using testing::spec_of;
using testing::study_of;
using testing::trained;

std::vector<double> drawn(const ir::Law& law, std::int64_t size) {
  const ir::StateEntry entry = testing::entry_of("w", {size}, {law});
  std::vector<double> values(static_cast<std::size_t>(size));
  draw_initial(entry, 3, 0, values);
  return values;
}

/// Mean and standard deviation.
std::array<double, 2> moments(const std::vector<double>& values) {
  const at::Tensor all = at::tensor(values, at::kDouble);
  return {all.mean().item<double>(), all.std().item<double>()};
}

TEST(Initialise, InvertsTheNormalDistribution) {
  for (const double p : {1e-9, 1e-4, .02, .3, .5, .77, .999, 1 - 1e-9}) {
    EXPECT_NEAR(.5 * std::erfc(-normal_quantile(p) / std::sqrt(2.0)) / p, 1, 1e-12) << p;
  }
}

TEST(Initialise, DrawsEveryLawWithItsMoments) {
  const std::int64_t n = 40000;
  const auto normal =
      moments(drawn({.row_end = n, .kind = ir::LawKind::kNormal, .mean = 1, .std = 2}, n));
  EXPECT_NEAR(normal[0], 1, .04);
  EXPECT_NEAR(normal[1], 2, .04);
  const auto uniform =
      moments(drawn({.row_end = n, .kind = ir::LawKind::kUniform, .low = -1, .high = 3}, n));
  EXPECT_NEAR(uniform[0], 1, .025);
  EXPECT_NEAR(uniform[1], 4 / std::sqrt(12.0), .025);
  const auto constant = moments(drawn({.row_end = n, .value = 7}, n));
  EXPECT_EQ(constant[0], 7);
}

TEST(Initialise, CutsATruncatedNormalAtItsBounds) {
  const ir::Law law{
      .row_end = 40000, .kind = ir::LawKind::kTruncatedNormal, .std = 1, .low = -1, .high = 2};
  const auto values = drawn(law, 40000);
  EXPECT_GE(std::ranges::min(values), -1);
  EXPECT_LE(std::ranges::max(values), 2);
  EXPECT_NEAR(moments(values)[0], .2296, .02);  // (phi(-1) - phi(2)) / (Phi(2) - Phi(-1))
}

TEST(Initialise, DrawsAnElementAlikeInWholeAndInPieces) {
  const ir::Law normal{.row_begin = 1, .row_end = 4, .kind = ir::LawKind::kNormal, .std = 1};
  const ir::StateEntry entry =
      testing::entry_of("w", {4, 25}, {{.row_end = 1, .value = 2}, normal});
  std::vector<double> whole(100);
  std::vector<double> pieces(100);
  draw_initial(entry, 3, 0, whole);
  for (std::int64_t i = 0; i < 100; i += 10) {
    draw_initial(entry, 3, i, std::span(pieces).subspan(static_cast<std::size_t>(i), 10));
  }
  EXPECT_EQ(whole, pieces);
  EXPECT_EQ(whole[24], 2);
  EXPECT_NE(whole[25], 2);
}

TEST(Initialise, ZeroesBlocksOfRowsAndOfColumnsAlsoInPieces) {
  ir::StateEntry entry =
      testing::entry_of("w", {4, 6}, {{.row_end = 4, .kind = ir::LawKind::kNormal, .std = 1}});
  std::vector<double> values(24);
  draw_initial(entry, 3, 0, values);
  entry.zeros = {{.dim = 1, .begin = 2, .end = 4}, {.dim = 0, .begin = 3, .end = 4}};
  std::vector<double> cleared(24);
  for (std::int64_t i = 0; i < 24; i += 5) {
    const auto size = static_cast<std::size_t>(std::min<std::int64_t>(5, 24 - i));
    draw_initial(entry, 3, i, std::span(cleared).subspan(static_cast<std::size_t>(i), size));
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    const bool zero = i / 6 == 3 || i % 6 == 2 || i % 6 == 3;
    EXPECT_EQ(cleared[i], zero ? 0 : values[i]) << i;
  }
}

TEST(Initialise, RefusesRowsWithoutALaw) {
  std::vector<double> values(10);
  const ir::StateEntry entry = testing::entry_of("w", {10}, {{.row_end = 9}});
  EXPECT_THROW(draw_initial(entry, 1, 0, values), BugError);
}

/// Three trials' scores of five samples in seven classes.
at::Tensor logits() {
  return at::sin(at::arange(105, at::kDouble) * 1.7).view({3, 5, 7});
}

TEST(Objective, TakesEachTrialsOwnLabelSmoothing) {
  const Batch batch{
      .inputs = {}, .classes = at::tensor({0, 3, 6, 2, 2}, at::kLong), .values = {}};
  const std::array<double, 3> smoothing = {0, .1, .3};
  const at::Tensor losses =
      training_losses(worker::Task::kClassification, logits(), batch, smoothing).value();
  for (std::int64_t k = 0; k < 3; ++k) {
    const at::Tensor expected = at::cross_entropy_loss(logits()[k],
                                                       batch.classes,
                                                       {},
                                                       at::Reduction::Mean,
                                                       -100,
                                                       smoothing[static_cast<std::size_t>(k)]);
    EXPECT_NEAR(losses[k].item<double>(), expected.item<double>(), 1e-12);
  }
}

TEST(Objective, TakesEachTrialsMeanSquare) {
  const Batch batch{.inputs = {}, .classes = {}, .values = at::ones({5, 7}, at::kDouble)};
  const at::Tensor losses =
      training_losses(worker::Task::kRegression, logits(), batch, std::array<double, 3>{})
          .value();
  EXPECT_NEAR(
      losses[2].item<double>(), (logits()[2] - 1).square().mean().item<double>(), 1e-12);
}

TEST(Objective, TalliesOnlyTheValidSamples) {
  const Batch batch{
      .inputs = {}, .classes = at::tensor({0, 3, 6, 2, 2}, at::kLong), .values = {}};
  Tally tally(worker::Task::kClassification);
  ASSERT_EQ(outcome(tally.add(logits()[0], batch, 3)), "ok");
  const at::Tensor best = logits()[0].argmax(1);
  double hits = 0;
  for (std::int64_t i = 0; i < 3; ++i) {
    hits += best[i].item<std::int64_t>() == batch.classes[i].item<std::int64_t>() ? 1 : 0;
  }
  EXPECT_NEAR(tally.metrics("val").at("val_accuracy"), hits / 3, 1e-12);
  EXPECT_TRUE(tally.metrics("val").contains("val_top5"));
}

TEST(Objective, HasNoTop5UpToFiveClasses) {
  const Batch batch{
      .inputs = {}, .classes = at::tensor({0, 3, 4, 2, 2}, at::kLong), .values = {}};
  Tally tally(worker::Task::kClassification);
  ASSERT_EQ(outcome(tally.add(logits()[0].narrow(1, 0, 5), batch, 5)), "ok");
  EXPECT_FALSE(tally.metrics("val").contains("val_top5"));
}

/// sqrt of the sum over tensors of |change|^2 / f after one SGD step at lr .5.
double step_length(const Network& before,
                   const Network& after,
                   std::int64_t trial,
                   double factor) {
  double square = 0;
  for (std::size_t i = 0; i < before.names().size(); ++i) {
    const at::Tensor change = parameter(after, i, trial) - parameter(before, i, trial);
    square += change.to(at::kDouble).square().sum().item<double>() /
              (before.names()[i] == "a.weight" ? factor : 1);
  }
  return std::sqrt(square);
}

TEST(Clipping, LimitsEachTrialByItsOwnNormOverTheDecayFactors) {
  shrink::Surrogate model = mlp();
  model.parameters.front().sgd.decay = 4;  // a.weight
  const Study study = study_of(std::move(model));
  worker::TrialSettings tight = sgd(.5);
  tight.clip_norm = .01;
  worker::TrialSettings loose = sgd(.5);
  loose.clip_norm = 1e9;
  const auto spec = spec_of({tight, loose}, 6);
  const Container start = trained(study, spec, 0);
  const Container end = trained(study, spec, 1);
  EXPECT_NEAR(step_length(start.network(), end.network(), 0, 4), .5 * .01, 1e-6);
  EXPECT_GT(step_length(start.network(), end.network(), 1, 4), .05);
}

TEST(Schedule, ScalesTheLearningRateOfEveryStep) {
  const Study study = study_of(mlp());
  worker::TrialSettings halted = sgd(.5);
  halted.optimizer.momentum = 0;
  halted.schedule.kind = worker::ScheduleKind::kStep;
  halted.schedule.step_size.amount = 2;
  halted.schedule.gamma = 0;
  const auto spec = spec_of({halted}, 6);
  EXPECT_TRUE(parameter(trained(study, spec, 2).network(), 0, 0)
                  .equal(parameter(trained(study, spec, 5).network(), 0, 0)));
  EXPECT_FALSE(parameter(trained(study, spec, 1).network(), 0, 0)
                   .equal(parameter(trained(study, spec, 2).network(), 0, 0)));
}

TEST(CheckShapes, PassesWhereEveryNodeIsAsPredicted) {
  EXPECT_EQ(outcome(check_shapes(cnn())), "ok");
  EXPECT_EQ(outcome(check_shapes(mlp())), "ok");
}

std::int64_t threads_of_this_process() {
  const std::filesystem::directory_iterator tasks("/proc/self/task");
  return std::distance(begin(tasks), end(tasks));
}

TEST(CheckShapes, LeavesNoHelperThreadToTheTarget) {
  at::set_num_threads(2);
  const std::int64_t before = threads_of_this_process();
  const auto checked = guard_in_passing_thread("adding", []() -> Result<void> {
    const at::Tensor sum = at::ones({1 << 20}) + 1;
    EXPECT_GT(threads_of_this_process(), 2) << "adding took no helper";
    return {};
  });
  EXPECT_EQ(outcome(checked), "ok");
  // The helper is told to end by then, and takes its time.
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (threads_of_this_process() > before && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::yield();
  }
  EXPECT_EQ(threads_of_this_process(), before);
}

TEST(CheckShapes, NamesANodeThatIsNot) {
  std::string wrong = testing::cnn_text(testing::Mode::kEval);
  const std::string predicted = "%p: float32[~5, 6, 1, 1]";
  wrong.replace(wrong.find(predicted), predicted.size(), "%p: float32[~5, 6, 2, 1]");
  const auto checked =
      check_shapes(testing::surrogate_of(testing::cnn_text(testing::Mode::kTrain), wrong));
  EXPECT_EQ(outcome(checked), "H0331");
}

const char* const kOneLayer =
    "graph {\n  input user x %x: float32[~5, 12]\n  input parameter w %w: float32[10, 12]\n"
    "  %y: float32[~5, 10] = aten.linear.default(input=%x, weight=%w, bias=None)\n  output "
    "user y %y\n}\n";

/// mean |(W_2 - W_0) x| of kOneLayer by hand, from W_0 = 0.
double update_by_hand(const data::Loader& loader, double lr) {
  data::BatchBuffer buffer;
  auto indices = data::epoch_order(0, 0, loader.dataset().size);
  indices.resize(32);
  loader.fill(indices, 0, buffer);
  const at::Tensor x = at::from_blob(buffer.inputs[0].floats.data(), {32, 12});
  const at::Tensor hot =
      at::one_hot(at::from_blob(buffer.classes.data(), {32}, at::kLong), 10).to(at::kFloat);
  at::Tensor w = at::zeros({10, 12});
  for (int step = 0; step < 2; ++step) {
    w = w - (lr * at::mm((at::softmax(at::mm(x, w.t()), 1) - hot).t(), x) / 32);
  }
  return at::mm(x, w.t()).abs().mean().item<double>();
}

TEST(Coordinates, MeasureTheUpdatesContributionAtTheThirdPass) {
  shrink::Surrogate model = testing::surrogate_of(kOneLayer, kOneLayer);
  model.model.state.front().laws = {{.row_end = 10, .value = 0}};
  const auto loader = testing::samples(96, {12});
  CoordinateSetting setting{.settings = sgd(.1), .seeds = 2, .batch_size = 32};
  setting.settings.optimizer.momentum = 0;
  const shrink::CoordinateMeasure run = measure_coordinates(model, *loader, setting).value();
  ASSERT_EQ(run.layers.size(), 1U);
  EXPECT_EQ(run.layers.front().layer, "w");
  const double expected = update_by_hand(*loader, .1);
  EXPECT_NEAR(run.layers.front().update, expected, 1e-5 * expected);
  EXPECT_NEAR(run.layers.front().activation, expected, 1e-5 * expected);
  EXPECT_NEAR(run.first_losses.at(1), std::log(10.0), 1e-5);
}

/// One step moves a weight of .5 by far less than its rounding; the ratio of two rates is still
/// theirs.
TEST(Coordinates, SeeChangesThatAreUnderTheWeightsRounding) {
  shrink::Surrogate model = testing::surrogate_of(kOneLayer, kOneLayer);
  model.model.state.front().laws = {{.row_end = 10, .value = .5}};
  const auto loader = testing::samples(96, {12});
  const auto update = [&](double lr) {
    CoordinateSetting setting{.settings = sgd(lr), .seeds = 1, .batch_size = 32};
    return measure_coordinates(model, *loader, setting).value().layers.front().update;
  };
  EXPECT_NEAR(update(1e-9) / update(1e-8), .1, 1e-4);
}

TEST(Coordinates, StopWhenAsked) {
  std::stop_source stop;
  stop.request_stop();
  const auto run = measure_coordinates(cnn(),
                                       *testing::samples(96, {3, 8, 8}),
                                       {.settings = sgd(.01), .stop = stop.get_token()});
  ASSERT_FALSE(run);
  EXPECT_EQ(run.error().id, "H0650");
}

TEST(Coordinates, ListEveryConvolutionAndLinearWeightInOrder) {
  const auto run = measure_coordinates(
      cnn(), *testing::samples(96, {3, 8, 8}), {.settings = sgd(.01), .seeds = 1});
  std::vector<std::string> layers;
  for (const shrink::LayerMeasure& layer : run.value().layers) {
    layers.push_back(layer.layer);
    EXPECT_GT(layer.update, 0) << layer.layer;
  }
  EXPECT_EQ(layers, (std::vector<std::string>{"c1.weight", "c2.weight", "fc.weight"}));
}

TEST(TorchInfo, NamesVersionAndLibrary) {
  const TorchInfo info = torch_info();
  EXPECT_TRUE(info.version.starts_with("2."));
  EXPECT_NE(info.path.find("libtorch_cpu"), std::string::npos);
  EXPECT_FALSE(info.capability.empty());
}

TEST(Process, FlushesDenormals) {
  prepare_process();
  const at::Tensor tiny = at::full({4}, 1e-38F);
  EXPECT_EQ((tiny * 1e-3F).max().item<float>(), 0);
  static_cast<void>(at::globalContext().setFlushDenormal(false));
}

}  // namespace
}  // namespace hydro::train
