#include "hydro/worker/worker.h"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "hydro/base/philox.h"
#include "hydro/base/result.h"
#include "hydro/base/safetensors.h"
#include "hydro/base/testing.h"
#include "hydro/data/dataset.h"
#include "hydro/ir/model.h"
#include "hydro/ops/torch.h"
#include "hydro/shrink/surrogate.h"
#include "hydro/train/container.h"
#include "hydro/train/guard.h"
#include "hydro/train/initialise.h"
#include "hydro/train/testing.h"
#include "hydro/train/train.h"
#include "hydro/worker/messages.h"
#include "hydro/worker/settings.h"

namespace hydro::train {
namespace {

using hydro::testing::outcome;
using hydro::testing::TemporaryFolder;
using testing::answers;
using testing::bodies;
using testing::mlp;
using testing::sgd;
using testing::spec_of;
using testing::study_of;
using worker::ContainerId;
using worker::TrialId;

std::unique_ptr<worker::Worker> worker_of(Study study) {
  return make_worker(std::make_shared<const Study>(std::move(study)));
}

/// The id of the failure that closes a launch.
std::string launch_failure(Study study) {
  const auto worker = worker_of(std::move(study));
  const auto failed =
      bodies<worker::Failed>(answers(*worker, worker::Launch{spec_of({sgd(.1)}, 6)}));
  return failed.empty() ? "ok" : failed.front().error.id;
}

/// The id of the failure that closes a first step.
std::string run_failure(Study study) {
  const auto worker = worker_of(std::move(study));
  static_cast<void>(answers(*worker, worker::Launch{spec_of({sgd(.1)}, 6)}));
  const auto failed = bodies<worker::Failed>(answers(*worker, worker::Run{ContainerId{1}, 1}));
  return failed.empty() ? "ok" : failed.front().error.id;
}

TEST(Worker, ReportsEveryLiveTrialAtEveryEvaluationAndClosesWithDone) {
  const auto worker = worker_of(study_of(mlp()));
  auto spec = spec_of({sgd(.01), sgd(.02)}, 10);
  spec.budget.evaluate_every = 4;
  EXPECT_EQ(bodies<worker::Done>(answers(*worker, worker::Launch{spec})).size(), 1U);
  const auto got = answers(*worker, worker::Run{ContainerId{1}, 10});
  std::vector<std::int64_t> steps;
  for (const worker::Report& report : bodies<worker::Report>(got)) {
    steps.push_back(report.step);
  }
  EXPECT_EQ(steps, (std::vector<std::int64_t>{4, 4, 8, 8, 10, 10}));
  EXPECT_EQ(std::get<worker::Done>(got.back().body).step, 10);
}

TEST(Worker, ReportsTheMetricsOfAClassification) {
  auto spec = spec_of({sgd(.01)}, 6);
  spec.evaluate_test = true;
  const auto worker = worker_of(study_of(mlp()));
  static_cast<void>(answers(*worker, worker::Launch{spec}));
  const auto reports = bodies<worker::Report>(answers(*worker, worker::Run{ContainerId{1}, 6}));
  ASSERT_EQ(reports.size(), 1U);
  std::vector<std::string> names;
  for (const auto& [name, value] : reports.front().metrics) {
    names.push_back(name);
    EXPECT_TRUE(std::isfinite(value)) << name;
  }
  EXPECT_EQ(names,
            (std::vector<std::string>{"test_accuracy",
                                      "test_loss",
                                      "test_top5",
                                      "train_loss",
                                      "val_accuracy",
                                      "val_loss",
                                      "val_top5"}));
  EXPECT_EQ(reports.front().epoch, 1);
}

TEST(Worker, WeighsAPaddedLastEvaluationBatchByItsSamples) {
  std::vector<double> losses;
  for (const std::int64_t batch : {8, 20}) {
    Study study = study_of(mlp());
    study.evaluation_batch = batch;
    const auto worker = worker_of(std::move(study));
    static_cast<void>(answers(*worker, worker::Launch{spec_of({sgd(.01)}, 6)}));
    losses.push_back(bodies<worker::Report>(answers(*worker, worker::Run{ContainerId{1}, 6}))
                         .front()
                         .metrics.at("val_loss"));
  }
  EXPECT_NEAR(losses[0], losses[1], 1e-6);
}

TEST(Worker, AnswersADivergedTrialOnceAndReportsItNoMore) {
  const auto worker = worker_of(study_of(mlp()));
  auto spec = spec_of({sgd(.01), sgd(1e38)}, 12);
  spec.budget.evaluate_every = 6;
  static_cast<void>(answers(*worker, worker::Launch{spec}));
  const auto got = answers(*worker, worker::Run{ContainerId{1}, 12});
  ASSERT_EQ(bodies<worker::Diverged>(got).size(), 1U);
  EXPECT_EQ(bodies<worker::Diverged>(got).front().trial, TrialId{1});
  EXPECT_FALSE(bodies<worker::Diverged>(got).front().reason.empty());
  const auto reports = bodies<worker::Report>(got);
  EXPECT_EQ(reports.size(), 2U);
  for (const worker::Report& report : reports) {
    EXPECT_EQ(report.trial, TrialId{0});
  }
}

TEST(Worker, EndsARunWhoseTrialsAllDiverged) {
  const auto worker = worker_of(study_of(mlp()));
  static_cast<void>(answers(*worker, worker::Launch{spec_of({sgd(1e38)}, 12)}));
  const auto got = answers(*worker, worker::Run{ContainerId{1}, 12});
  EXPECT_EQ(bodies<worker::Report>(got).size(), 0U);
  EXPECT_LT(std::get<worker::Done>(got.back().body).step, 12);
}

TEST(Worker, DropsATrialFromItsReports) {
  const auto worker = worker_of(study_of(mlp()));
  static_cast<void>(answers(*worker, worker::Launch{spec_of({sgd(.01), sgd(.02)}, 6)}));
  EXPECT_EQ(
      bodies<worker::Done>(answers(*worker, worker::Drop{ContainerId{1}, TrialId{0}})).size(),
      1U);
  const auto reports = bodies<worker::Report>(answers(*worker, worker::Run{ContainerId{1}, 6}));
  ASSERT_EQ(reports.size(), 1U);
  EXPECT_EQ(reports.front().trial, TrialId{1});
}

TEST(Worker, StopsWithinAStepAndContinuesWithNothingLost) {
  const auto worker = worker_of(study_of(mlp()));
  auto spec = spec_of({sgd(.01)}, 12);
  spec.budget.evaluate_every = 4;
  static_cast<void>(answers(*worker, worker::Launch{spec}));
  std::stop_source source;
  std::vector<worker::Answer> got;
  worker->carry_out({worker::CommandId{2}, worker::Run{ContainerId{1}, 12}},
                    source.get_token(),
                    [&](worker::Answer answer) {
                      got.push_back(std::move(answer));
                      source.request_stop();
                    });
  ASSERT_EQ(got.size(), 2U);
  EXPECT_LE(std::get<worker::Stopped>(got.back().body).step, 5);
  EXPECT_EQ(bodies<worker::Report>(answers(*worker, worker::Run{ContainerId{1}, 12})).size(),
            2U);
}

TEST(Worker, ExportsTheWholeStateDictInOrderAsItStands) {
  const TemporaryFolder folder;
  const std::string path = (folder / "trial.safetensors").string();
  shrink::Surrogate model = testing::cnn();
  model.model.state.push_back(testing::parameter_entry("aux.weight", {2, 3}));
  model.model.state.push_back(testing::entry_of("tied", {10}));
  model.model.state.back().tie = "fc.bias";
  const Study study = study_of(std::move(model), {3, 8, 8});
  const Container container = testing::trained(study, spec_of({sgd(.01), sgd(.02)}, 6), 6);
  ASSERT_EQ(outcome(container.write(TrialId{1}, path)), "ok");
  const SafeTensorFile file = read_safetensors(path).value();
  EXPECT_EQ(file.tensors.size(), container.network().state().size());
  for (const ir::StateEntry& entry : container.network().state()) {
    const at::Tensor expected = container.network().state_of(entry, 1);
    const SafeTensor& stored = file.tensors.at(entry.name);
    ASSERT_EQ(stored.bytes.size(), expected.nbytes()) << entry.name;
    EXPECT_EQ(std::memcmp(stored.bytes.data(), expected.const_data_ptr(), expected.nbytes()), 0)
        << entry.name;
  }
  EXPECT_EQ(
      hydro::testing::numbers_of<std::int64_t>(file.tensors.at("bn1.num_batches_tracked").bytes)
          .front(),
      6);
}

TEST(Worker, ExportsRowMajorWeightsWhateverTheirLayout) {
  const TemporaryFolder folder;
  const std::string path = (folder / "trial.safetensors").string();
  const auto worker = worker_of(study_of(testing::cnn(), {3, 8, 8}));
  static_cast<void>(answers(*worker, worker::Launch{spec_of({sgd(.01)}, 6)}));
  const auto got = answers(*worker, worker::Export{ContainerId{1}, TrialId{0}, path});
  ASSERT_EQ(bodies<worker::Done>(got).size(), 1U);
  const SafeTensorFile file = read_safetensors(path).value();
  std::vector<double> drawn(162);
  const auto entry = testing::parameter_entry("c1.weight", {6, 3, 3, 3});
  draw_initial(entry, stream_key(5, "0", "init"), 0, drawn);
  const std::vector<float> expected(drawn.begin(), drawn.end());
  EXPECT_EQ(hydro::testing::numbers_of<float>(file.tensors.at("c1.weight").bytes), expected);
}

TEST(Worker, AnswersH0506ForAContainerThatIsGone) {
  const auto worker = worker_of(study_of(mlp()));
  static_cast<void>(answers(*worker, worker::Launch{spec_of({sgd(.01)}, 6)}));
  EXPECT_EQ(bodies<worker::Done>(answers(*worker, worker::Dissolve{ContainerId{1}})).size(),
            1U);
  const auto failed = bodies<worker::Failed>(answers(*worker, worker::Run{ContainerId{1}, 6}));
  ASSERT_EQ(failed.size(), 1U);
  EXPECT_EQ(failed.front().error.id, "H0506");
}

TEST(Worker, AnswersH0503ForAModelWithoutOneOutputOrWithoutItsData) {
  shrink::Surrogate doubled = mlp();
  doubled.model.train.outputs.push_back(doubled.model.train.outputs.front());
  EXPECT_EQ(launch_failure(study_of(std::move(doubled))), "H0503");
  shrink::Surrogate hollow = mlp();
  hollow.model.tensors.erase("bn.running_mean");
  EXPECT_EQ(launch_failure(study_of(std::move(hollow))), "H0503");
}

TEST(Worker, AnswersH0504ForAModelInputThatTheDataLack) {
  Study study = study_of(mlp());
  data::Dataset dataset = study.training->dataset();
  dataset.inputs.front().name = "pixels";
  study.training = std::make_shared<const data::Loader>(
      std::make_shared<const data::Dataset>(std::move(dataset)),
      std::vector<data::Transform>{},
      data::Use::kTraining,
      1);
  EXPECT_EQ(launch_failure(std::move(study)), "H0504");
}

TEST(Worker, AnswersH0505ForAnOutputThatDoesNotFitTheTask) {
  Study study = study_of(mlp());
  study.task = worker::Task::kRegression;
  data::Dataset dataset = study.training->dataset();
  dataset.target = {.classes = {}, .values = std::vector<float>(96 * 3), .shape = {3}};
  study.training = std::make_shared<const data::Loader>(
      std::make_shared<const data::Dataset>(std::move(dataset)),
      std::vector<data::Transform>{},
      data::Use::kTraining,
      1);
  EXPECT_EQ(run_failure(std::move(study)), "H0505");
}

TEST(Guard, TurnsLibtorchsRefusalIntoH0501WithItsReason) {
  const auto refused = guard("testing", []() -> Result<void> {
    static_cast<void>(at::mm(at::zeros({2, 3}), at::zeros({2, 3})));
    return {};
  });
  EXPECT_EQ(outcome(refused), "H0501");
  EXPECT_NE(refused.error().why.find("2x3"), std::string::npos);
}

TEST(Guard, TurnsOutOfMemoryIntoH0502) {
  const auto refused = guard("testing", []() -> Result<void> {
    static_cast<void>(at::empty({std::int64_t{1} << 50}));
    return {};
  });
  EXPECT_EQ(outcome(refused), "H0502");
}

}  // namespace
}  // namespace hydro::train
