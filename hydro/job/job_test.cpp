#include "hydro/job/job.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hydro/base/catalogue.h"
#include "hydro/job/testing.h"
#include "hydro/search/searcher.h"
#include "hydro/search/space.h"
#include "hydro/worker/settings.h"

// NOLINTBEGIN(bugprone-unchecked-optional-access): value() throws, which fails the test
namespace hydro::job {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using testing::good;
using ::testing::HasSubstr;
using testing::JobText;
using ::testing::Not;
using testing::with_data;
using testing::with_model;
using testing::with_optimizer;
using testing::with_tune;

const std::filesystem::path kSource = HYDRO_SOURCE_DIR;

Job example(const std::string& name) {
  auto job = load_job(kSource / "examples" / name);
  if (!job) {
    ADD_FAILURE() << render(job.error());
    return {};
  }
  return *std::move(job);
}

TEST(Job, TheQuickstartHasItsFixedSettings) {
  const Job job = example("quickstart.yaml");
  EXPECT_EQ(job.name, "fashion-resnet18");
  EXPECT_EQ(job.model.export_target, "torchvision.models:resnet18");
  EXPECT_EQ(job.model.inputs.at(0).text(), "float32[*,3,28,28]");
  EXPECT_EQ(job.data.train.limit, 10000);
  EXPECT_FALSE(job.data.val.value().limit.has_value());
  EXPECT_EQ(job.train.epochs, 2);
  EXPECT_EQ(job.tune.metric, "val_accuracy");
  EXPECT_EQ(job.tune.num_samples, 20);
  EXPECT_EQ(job.tune.scaling, 8);
  EXPECT_EQ(job.space.parameters.size(), 4U);
  EXPECT_TRUE(job.warnings.empty());
  EXPECT_EQ(largest_batch_size(job), 256);
}

TEST(Job, TheQuickstartsTrialsHaveTheirSettings) {
  const Job job = example("quickstart.yaml");
  const auto searcher = make_searcher(job);
  const search::Config config = searcher->ask(3).value().value();
  const ResolvedTrial trial = resolve(job, config).value();
  const worker::Optimizer& optimizer = trial.settings.optimizer;
  EXPECT_EQ(search::Value(optimizer.lr), config.at("train.optimizer.lr"));
  EXPECT_EQ(search::Value(optimizer.momentum), config.at("train.optimizer.momentum"));
  EXPECT_EQ(optimizer.weight_decay, 0.001);
  EXPECT_EQ(search::Value(trial.batch_size), config.at("train.batch_size"));
  EXPECT_EQ(trial.settings.schedule.step_size, (worker::Span{0.5, worker::Span::Unit::kShare}));
  EXPECT_EQ(trial.kwargs, R"({"num_classes":10})");
}

TEST(Job, TheOwnModelExampleNamesAFileBesideIt) {
  const Job job = example("own_model.yaml");
  EXPECT_EQ(job.name, "own_model");
  EXPECT_EQ(job.model.export_target, (kSource / "examples/own_model.py").string() + ":build");
  const ResolvedTrial trial = resolve(job, median_config(job)).value();
  EXPECT_EQ(trial.settings.optimizer.kind, worker::OptimizerKind::kAdamW);
}

TEST(Job, DefaultsAreThoseOfTheInterface) {
  JobText text;
  text.tune = "";
  const Job job = good(text.text());
  EXPECT_EQ(job.tune.scaling, 8);
  EXPECT_EQ(job.tune.seed, 1U);
  EXPECT_EQ(job.tune.min_width, 2);
  EXPECT_EQ(job.tune.coordinate_check, CoordinateCheck::kWarn);
  EXPECT_EQ(job.tune.fusion.kind, Fusion::Kind::kAuto);
  EXPECT_EQ(job.data.seed, 1U);
  EXPECT_TRUE(job.train.drop_last);
  EXPECT_EQ(job.train.evaluate_every, (worker::Span{1, worker::Span::Unit::kEpochs}));
}

TEST(Job, QueriesStartAtZeroOnlyWhenAsked) {
  JobText text;
  text.tune = "";
  EXPECT_FALSE(good(text.text()).tune.zero_query);
  const Job job =
      good(text.text() + "tune: {parametrization: {name: mup, zero_query: true}}\n");
  EXPECT_TRUE(job.tune.zero_query);
  EXPECT_EQ(job.tune.parametrization, Parametrization::kMup);
}

TEST(Job, ASpaceOfOnePointIsTriedOnceByDefault) {
  JobText text;
  text.tune = "";
  EXPECT_EQ(good(text.text()).tune.num_samples, 1);
  EXPECT_EQ(good(text.text() + "tune: {num_samples: 3, dedup: false}\n").tune.num_samples, 3);
}

std::vector<std::string> defaults_of(const std::string& text) {
  std::vector<std::string> lines;
  for (const DefaultValue& it : defaults_used(good(text))) {
    lines.push_back(it.path + " " + it.value);
  }
  return lines;
}

TEST(Job, DefaultsUsedAreWhatTheFileDoesNotSay) {
  JobText text;
  text.tune = "";
  EXPECT_THAT(defaults_of(text.text()),
              ElementsAre("model.initialization recorded",
                          "data.transform []",
                          "data.seed 1",
                          "train.optimizer.momentum 0",
                          "train.optimizer.dampening 0",
                          "train.optimizer.nesterov false",
                          "train.optimizer.weight_decay 0",
                          "train.drop_last true",
                          "train.schedule.name constant",
                          "train.schedule.warmup 0%",
                          "train.label_smoothing 0",
                          "train.amp off",
                          "train.evaluate.every 1 epoch",
                          "name job",
                          "tune.search random",
                          "tune.scheduler.name fifo",
                          "tune.scaling 8",
                          "tune.parametrization mup",
                          "tune.fusion auto",
                          "tune.eager_transfer off",
                          "tune.target.top_k 1",
                          "tune.target.keep last",
                          "tune.target.retry worse",
                          "tune.seed 1",
                          "tune.deterministic false",
                          "tune.min_width 2",
                          "tune.coordinate_check warn",
                          "tune.metric val_accuracy",
                          "tune.mode max",
                          "tune.num_samples 1",
                          "resources.devices auto"));
}

TEST(Job, ARateThatIsNotGivenIsADefaultUsed) {
  EXPECT_THAT(defaults_of(with_optimizer("adamw")), Contains("train.optimizer.lr 0.001"));
  EXPECT_THAT(defaults_of(with_optimizer("{choice: [{name: sgd, lr: 0.1}, {name: adam}]}")),
              AllOf(Contains("train.optimizer.choice.1.lr 0.001"),
                    Not(Contains("train.optimizer.choice.0.lr 0.1"))));
}

TEST(Job, WhatIsGivenIsNoDefault) {
  EXPECT_THAT(defaults_of("name: x\n" + with_tune("  metric: val_loss\n  mode: min\n")),
              Not(Contains(AnyOf(
                  "name x", "tune.num_samples 1", "tune.metric val_loss", "tune.mode min"))));
}

TEST(Job, OptimizerDefaultsArePytorchs) {
  const Job adamw = good(with_optimizer("adamw"));
  const worker::Optimizer optimizer = resolve(adamw, {}).value().settings.optimizer;
  EXPECT_EQ(optimizer.lr, 1e-3);
  EXPECT_EQ(optimizer.weight_decay, 1e-2);
  EXPECT_EQ(optimizer.beta2, 0.999);
  EXPECT_EQ(optimizer.eps, 1e-8);
}

TEST(Job, RelativePathsStartAtTheJobsFolder) {
  const Job job = good(with_model("  python: ../venv/bin/python\n"));
  EXPECT_EQ(job.model.python, "/venv/bin/python");
  EXPECT_EQ(std::get<IdxFiles>(job.data.train.files).images, "/jobs/a.gz");
}

TEST(Job, ReadsEveryTransform) {
  const Job job = good(with_data(
      "  transform: [rgb, {random_crop: {padding: 2}}, random_flip, {resize: {size: [8, 9]}},\n"
      "              {normalize: {mean: [0.1, 0.2, 0.3], std: 0.5}}]\n"));
  ASSERT_EQ(job.data.transform.size(), 5U);
  EXPECT_EQ(std::get<RandomCrop>(job.data.transform[1]).padding, 2);
  EXPECT_EQ(std::get<RandomFlip>(job.data.transform[2]).p, 0.5);
  EXPECT_EQ(std::get<Resize>(job.data.transform[3]).width, 9);
  EXPECT_EQ(std::get<Normalize>(job.data.transform[4]).mean.size(), 3U);
}

TEST(Job, ReadsArraysByInputName) {
  JobText text;
  text.data =
      "data:\n  train: {format: arrays, inputs: {ids: a.npy, mask: b.npy}, target: y.npy}\n"
      "  val: {format: arrays, inputs: c.npy, target: y.safetensors, limit: 5}\n";
  const Job job = good(text.text());
  EXPECT_EQ(std::get<ArrayFiles>(job.data.train.files).inputs.at("mask"), "/jobs/b.npy");
  EXPECT_EQ(std::get<ArrayFiles>(job.data.val.value().files).inputs.at(""), "/jobs/c.npy");
}

TEST(Job, SeveralInputsKeepTheirNames) {
  JobText text;
  text.model = "model: {export: 'm:f', input: {ids: 'int64[*, 128]', mask: 'int64[4, *]'}}\n";
  const Job job = good(text.text());
  EXPECT_EQ(job.model.inputs.at(0).text(), "ids=int64[*,128]");
  EXPECT_EQ(job.model.inputs.at(1).text(), "mask=int64[4,*]");
}

TEST(Job, KwargsBecomeJson) {
  JobText text;
  text.model =
      "model:\n  export: m:f\n  input: float32[*, 4]\n  args: [1, 2.5, \"3\"]\n"
      "  kwargs: {config: {call: \"t:C\", kwargs: {n: 4, cache: false, x: null, act: relu}}}\n";
  const Job job = good(text.text());
  EXPECT_EQ(job.model.args, R"([1,2.5,"3"])");
  EXPECT_EQ(
      resolve(job, {}).value().kwargs,
      R"({"config":{"call":"t:C","kwargs":{"n":4,"cache":false,"x":null,"act":"relu"}}})");
}

TEST(Job, AModelChoiceGivesOneVariantAValue) {
  JobText text;
  text.model =
      "model:\n  export: m:f\n  input: float32[*, 4]\n"
      "  kwargs: {depth: {choice: [2, 4]}, act: {choice: [relu, gelu]}, choice: 3}\n";
  const Job job = good(text.text());
  EXPECT_THAT(model_variants(job),
              ElementsAre(R"({"depth":2,"act":"relu","choice":3})",
                          R"({"depth":2,"act":"gelu","choice":3})",
                          R"({"depth":4,"act":"relu","choice":3})",
                          R"({"depth":4,"act":"gelu","choice":3})"));
}

TEST(Job, ABranchHasItsOwnParameters) {
  const Job job = good(
      with_optimizer("{choice: [{name: sgd, lr: {loguniform: [1e-3, 1]}, momentum: 0.9},\n"
                     "                      {name: adamw, lr: {loguniform: [1e-5, 1e-2]}}]}"));
  ASSERT_EQ(job.space.parameters.size(), 3U);
  EXPECT_EQ(job.space.parameters[1].name, "lr");
  EXPECT_EQ(job.space.parameters[2].condition.value().branch, 1);
  const auto searcher = search::make_random_searcher(job.space, 1, 20).value();
  for (std::int64_t k = 0; k < 20; ++k) {
    const search::Config config = searcher->ask(k).value().value();
    const bool sgd = config.at("train.optimizer") == search::Value(std::int64_t{0});
    const worker::Optimizer optimizer = resolve(job, config).value().settings.optimizer;
    EXPECT_EQ(optimizer.kind,
              sgd ? worker::OptimizerKind::kSgd : worker::OptimizerKind::kAdamW);
    EXPECT_LE(optimizer.lr, sgd ? 1 : 1e-2);
  }
}

TEST(Job, ResolveRefusesAConfigurationOutsideTheSpace) {
  const Job job = good(with_optimizer("{name: sgd, lr: {uniform: [0.1, 0.2]}}"));
  EXPECT_EQ(resolve(job, {}).error().id, "H0124");
  EXPECT_EQ(resolve(job, {{"train.optimizer.lr", 0.3}}).error().id, "H0124");
  EXPECT_EQ(resolve(job, {{"train.optimizer.lr", 0.15}}).value().settings.optimizer.lr, 0.15);
}

TEST(Job, OverridesObeyTheFilesRules) {
  const auto with = [](const std::string& assignment) {
    return parse_job(
        JobText().text(), "job.yaml", {.folder = "/jobs", .overrides = {assignment}});
  };
  EXPECT_EQ(with("tune.seed=50").value().tune.seed, 50U);
  EXPECT_EQ(with("resources.cores=1").value().resources.cores, 1);
  EXPECT_EQ(with("train.optimizer.lr={uniform: [0, 1]}").error().id, "H0105");
  EXPECT_EQ(with("train.batch_size={choice: [8, 16]}").value().space.parameters.size(), 1U);
  const auto misspelt = with("tune.num_smples=50");
  EXPECT_EQ(misspelt.error().id, "H0103");
  EXPECT_EQ(misspelt.error().where, "--set:1:6");
  EXPECT_THAT(misspelt.error().excerpt, HasSubstr("tune.num_smples=50"));
  EXPECT_EQ(with("tune").error().id, "H0112");
  EXPECT_EQ(with("model.input.x=3").error().id, "H0112");
}

TEST(Job, TheResolvedFileParsesToItself) {
  for (const char* name : {"quickstart.yaml", "own_model.yaml"}) {
    const Job job = example(name);
    const std::string yaml = resolved_yaml(job);
    const auto again =
        parse_job(yaml, "elsewhere.yaml", {.folder = "/nowhere", .overrides = {}});
    ASSERT_TRUE(again) << render(again.error());
    EXPECT_EQ(resolved_yaml(*again), yaml);
    EXPECT_EQ(again->name, job.name);
  }
}

TEST(Job, TheBestConfigurationParsesWithNothingLeftToChoose) {
  const Job job = example("quickstart.yaml");
  const search::Config config = make_searcher(job)->ask(0).value().value();
  JobText text;
  const Job best = good(best_config_yaml(job, config) + text.data);
  EXPECT_TRUE(best.space.parameters.empty());
  const ResolvedTrial trial = resolve(best, {}).value();
  EXPECT_EQ(trial.settings, resolve(job, config).value().settings);
  EXPECT_EQ(trial.batch_size, resolve(job, config).value().batch_size);
}

TEST(Budget, CountsStepsAndEvaluations) {
  TrainSection train = good(JobText().text()).train;
  EXPECT_EQ(budget(train, 10000, 64), (worker::Budget{312, 156, 156}));
  train.drop_last = false;
  EXPECT_EQ(budget(train, 10000, 64), (worker::Budget{314, 157, 157}));
}

TEST(Budget, OfStepsEvaluatesTenTimes) {
  JobText text;
  text.train = "train: {task: regression, steps: 2005, batch_size: 8, optimizer: sgd}\n";
  const Job job = good(text.text());
  EXPECT_EQ(budget(job.train, 80, 8), (worker::Budget{2005, 10, 201}));
  EXPECT_EQ(job.tune.metric, "val_loss");
  EXPECT_EQ(job.tune.mode, Mode::kMin);
}

}  // namespace
}  // namespace hydro::job

// NOLINTEND(bugprone-unchecked-optional-access)
