#include "hydro/report/results.h"

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "hydro/base/json.h"
#include "hydro/report/testing.h"
#include "hydro/search/space.h"
#include "hydro/tune/state.h"
#include "hydro/tune/summary.h"
#include "hydro/tune/testing.h"
#include "hydro/worker/messages.h"

namespace hydro::report {
namespace {

using testing::finished_study;
using testing::interrupted_study;
using testing::kColumns;
using testing::stopped_study;

std::string json_of(const tune::Journal& study) {
  return result_json(tune::summarize(study.state()), kColumns, "best/model.safetensors");
}

std::string text_of(const tune::Journal& study) {
  return summary_text(tune::summarize(study.state()), kColumns, "runs/fashion");
}

constexpr const char* kFinished = R"TEXT({
 "format": 1,
 "study": "fashion",
 "state": "finished",
 "metric": "val_accuracy",
 "mode": "max",
 "best_trial": {
  "id": 2,
  "config": {
   "batch_size": 64,
   "lr": 0.5
  },
  "value": 0.75,
  "scaling": 8
 },
 "target": {
  "trial": 2,
  "value": 0.875,
  "epochs": 1,
  "weights": "best/model.safetensors",
  "test": null
 },
 "targets": [
  {
   "trial": 2,
   "value": 0.875,
   "state": "finished"
  }
 ],
 "makespan_s": 39.0,
 "phases_s": {
  "prepare": 2.0,
  "profile": 0.0,
  "surrogates": 9.0,
  "defuse": 3.0,
  "target": 4.0,
  "overlap": 0.0,
  "idle": 21.0
 },
 "trials": {
  "total": 3,
  "finished": 2,
  "stopped": 0,
  "failed": 1,
  "interrupted": 0
 }
}
)TEXT";

TEST(ResultJson, OfAFinishedStudy) {
  EXPECT_EQ(json_of(finished_study()), kFinished);
}

TEST(ResultJson, OfAnInterruptedStudyHasNoTarget) {
  const Json json = Json::parse(json_of(interrupted_study()));
  EXPECT_EQ(json["state"], "interrupted");
  EXPECT_EQ(json["best_trial"]["id"], 0);
  EXPECT_TRUE(json["target"].is_null());
  EXPECT_EQ(json["targets"], Json::array());
  EXPECT_EQ(json["trials"].dump(),
            R"({"failed":0,"finished":1,"interrupted":1,"stopped":0,"total":3})");
}

TEST(ResultJson, CountsStoppedTrials) {
  const Json json = Json::parse(json_of(stopped_study()));
  EXPECT_EQ(json["trials"]["stopped"], 1);
}

TEST(TrialsCsv, HasTheReasonOfAStop) {
  const std::string csv = trials_csv(tune::trial_rows(stopped_study().state()), kColumns);
  EXPECT_NE(csv.find("\n1,stopped,\"rung 1: 0.25 under the cut-off 0.5, 1 value\",0.5,64,0.25,"
                     "0.5,"),
            std::string::npos)
      << csv;
}

TEST(Summary, CountsStoppedTrialsByRung) {
  const std::string text =
      summary_text(tune::summarize(stopped_study().state()), kColumns, "runs/x");
  EXPECT_NE(text.find("0 of 3 finished, 1 stopped (1 at rung 1)"), std::string::npos) << text;
}

TEST(ResultJson, NumbersThatAreNotFiniteAreNull) {
  tune::Summary summary = tune::summarize(finished_study().state());
  summary.best->value = std::numeric_limits<double>::infinity();
  summary.target->value = tune::kNan;
  summary.target->test = -std::numeric_limits<double>::infinity();
  const Json json = Json::parse(result_json(summary, kColumns, "w"));
  EXPECT_TRUE(json["best_trial"]["value"].is_null());
  EXPECT_TRUE(json["target"]["value"].is_null());
  EXPECT_TRUE(json["target"]["test"].is_null());
}

TEST(ResultJson, AnUnknownColumnKeepsItsPath) {
  const Json json =
      Json::parse(result_json(tune::summarize(finished_study().state()), {}, "w"));
  EXPECT_EQ(json["best_trial"]["config"].dump(),
            R"({"train.batch_size":64,"train.optimizer.lr":0.5})");
}

TEST(TrialsCsv, HasOneRowATrial) {
  EXPECT_EQ(trials_csv(tune::trial_rows(finished_study().state()), kColumns),
            "id,state,reason,lr,batch_size,value,epochs,seconds\n"
            "0,finished,,0.5,64,0.5,1,5\n"
            "1,failed,the loss is not finite,0.5,64,,0,3\n"
            "2,finished,,0.5,64,0.75,1,5\n");
}

TEST(TrialsCsv, MissingValuesAreEmpty) {
  EXPECT_EQ(trials_csv(tune::trial_rows(interrupted_study().state()),
                       {{.path = "train.dropout", .name = "p"}}),
            "id,state,reason,p,value,epochs,seconds\n"
            "0,finished,,,0.5,1,5\n"
            "1,interrupted,the study stopped,,,0,5\n"
            "2,waiting,,,,0,0\n");
}

TEST(MetricsCsv, ListsSurrogatesThenTheTarget) {
  EXPECT_EQ(metrics_csv(finished_study().state()),
            "trial,kind,step,epoch,metric,value\n"
            "0,surrogate,100,1,train_loss,1.5\n"
            "0,surrogate,100,1,val_accuracy,0.5\n"
            "2,surrogate,100,1,train_loss,1.5\n"
            "2,surrogate,100,1,val_accuracy,0.75\n"
            "2,target,100,1,train_loss,1.5\n"
            "2,target,100,1,val_accuracy,0.875\n");
}

TEST(SummaryText, OfAFinishedStudy) {
  EXPECT_EQ(
      text_of(finished_study()),
      "study      fashion: finished\n"
      "trials     2 of 3 finished, 1 failed\n"
      "           1 failed: the loss is not finite (first: trial 1)\n"
      "best       trial 2: lr 0.5, batch_size 64\n"
      "target     val_accuracy 0.875 (surrogate 0.75)\n"
      "makespan   39.0 s: prepare 2.0, surrogates 9.0, target 4.0, defuse 3.0, idle 21.0\n"
      "weights    runs/fashion/best/model.safetensors\n");
}

TEST(SummaryText, ASecondTargetThatIsBetterIsNamedBesideTheFirst) {
  tune::Summary summary = tune::summarize(finished_study().state());
  tune::TargetRow second = *summary.target;
  summary.targets[0].value = 0.7;
  second.trial = worker::TrialId{0};
  second.surrogate = 0.5;
  summary.targets.push_back(second);
  summary.target = second;
  const std::string text = summary_text(summary, kColumns, "runs/fashion");
  EXPECT_NE(text.find("           target of trial 2: 0.7 (surrogate 0.75), not delivered\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("target     trial 0: val_accuracy 0.875 (surrogate 0.5)\n"),
            std::string::npos)
      << text;
}

TEST(SummaryText, OfAnInterruptedStudyNamesNoWeights) {
  EXPECT_EQ(
      text_of(interrupted_study()),
      "study      fashion: interrupted\n"
      "trials     1 of 3 finished, 1 interrupted\n"
      "best       trial 0 (val_accuracy 0.5): lr 0.5, batch_size 64\n"
      "makespan   20.0 s: prepare 2.0, surrogates 6.0, target 0.0, defuse 1.0, idle 11.0\n");
}

TEST(SummaryText, AtScalingOneThereIsNoSurrogate) {
  tune::Summary summary = tune::summarize(finished_study().state());
  summary.scaling = 1;
  summary.target->test = 0.8;
  EXPECT_NE(summary_text(summary, {}, "").find("\ntarget     val_accuracy 0.875, test 0.8\n"),
            std::string::npos);
}

TEST(SummaryText, AFailedTargetSaysWhy) {
  tune::Summary summary = tune::summarize(interrupted_study().state());
  summary.targets = {{.trial = worker::TrialId{0},
                      .status = tune::TargetStatus::kFailed,
                      .reason = "out of memory",
                      .value = {},
                      .test = {},
                      .surrogate = {}}};
  EXPECT_NE(summary_text(summary, {}, "").find("target of trial 0 failed: out of memory\n"),
            std::string::npos);
}

TEST(SummaryText, ANameCannotSteerTheTerminal) {
  tune::Summary summary = tune::summarize(finished_study().state());
  summary.study = "a\x1b[2J";
  EXPECT_EQ(summary_text(summary, {}, "runs/a").find('\x1b'), std::string::npos);
}

std::string shown(const tune::Journal& study, const std::vector<std::string>& lost = {}) {
  const tune::State& state = study.state();
  return show_text({.summary = tune::summarize(state),
                    .trials = tune::trial_rows(state),
                    .columns = kColumns,
                    .lost = lost},
                   "runs/fashion");
}

TEST(ShowText, EndsWithATableOfAllTrials) {
  const std::string text = shown(finished_study());
  EXPECT_TRUE(text.starts_with(text_of(finished_study())));
  EXPECT_EQ(
      text.substr(text_of(finished_study()).size()),
      "\n"
      "trial  state             value  epochs   seconds  hyperparameters\n"
      "    0  finished            0.5       1       5.0  lr 0.5, batch_size 64\n"
      "    1  failed             none       0       3.0  lr 0.5, batch_size 64 (the loss is "
      "not finite)\n"
      "    2  finished           0.75       1       5.0  lr 0.5, batch_size 64\n");
}

TEST(ShowText, WaitingTrialsAreOneLine) {
  const std::string stopped = shown(interrupted_study());
  EXPECT_TRUE(stopped.ends_with(
      "\n    0  finished            0.5       1       5.0  lr 0.5, batch_size 64\n"
      "    1  interrupted        none       0       5.0  lr 0.5, batch_size 64 (the study "
      "stopped)\n"
      "  ...  1 waiting\n"))
      << stopped;
  const std::string open = shown(testing::open_study(9));
  EXPECT_TRUE(open.ends_with(" waiting\n")) << open;
  EXPECT_EQ(open.find("waiting"), open.rfind("waiting")) << open;
}

TEST(ShowText, NamesWhatIsLostAndNoWeightsThatAre) {
  const std::string text = shown(finished_study(), {"job.yaml", "best/model.safetensors"});
  EXPECT_NE(
      text.find("\nlost       job.yaml, best/model.safetensors: missing or not readable\n"),
      std::string::npos)
      << text;
  EXPECT_EQ(text.find("\nweights "), std::string::npos) << text;
  EXPECT_NE(shown(finished_study(), {"job.yaml"}).find("\nweights "), std::string::npos);
  EXPECT_EQ(shown(finished_study()).find("\nlost "), std::string::npos);
}

TEST(ShowJson, NamesWhatIsLost) {
  const Json json = Json::parse(show_json({.summary = tune::summarize(finished_study().state()),
                                           .trials = {},
                                           .columns = {},
                                           .lost = {"job.yaml"}},
                                          "w"));
  EXPECT_EQ(json.at("lost").dump(), R"(["job.yaml"])");
}

TEST(ShowJson, HasTheTrialsBesideTheResult) {
  const tune::Journal study = finished_study();
  const tune::Summary summary = tune::summarize(study.state());
  Json json = Json::parse(show_json({.summary = summary,
                                     .trials = {tune::trial_rows(study.state()).at(1)},
                                     .columns = kColumns,
                                     .lost = {}},
                                    "w"));
  EXPECT_EQ(json.at("trial_table").dump(),
            R"([{"batch_size":64,"epochs":0,"id":1,"lr":0.5,"reason":"the loss is not finite",)"
            R"("seconds":3.0,"state":"failed","value":null}])");
  json.erase("trial_table");
  EXPECT_EQ(json, Json::parse(result_json(summary, kColumns, "w")));
}

TEST(SummaryText, SaysHowLongASearcherThought) {
  tune::Summary summary = tune::summarize(finished_study().state());
  EXPECT_EQ(summary_text(summary, kColumns, "r").find("searcher"), std::string::npos);
  summary.latency = {.answers = 2, .total_ns = 1'500'000'000, .longest_ns = 1'000'000'000};
  EXPECT_NE(summary_text(summary, kColumns, "r")
                .find("searcher   2 answers in 1.5 s, the longest 1 s\n"),
            std::string::npos);
  EXPECT_EQ(
      Json::parse(
          show_json({.summary = summary, .trials = {}, .columns = kColumns, .lost = {}}, "w"))
          .at("searcher")
          .dump(),
      R"({"answers":2,"longest_s":1.0,"total_s":1.5})");
}

TEST(ShowText, OfARunningStudy) {
  const std::string text = shown(testing::open_study(2));
  EXPECT_TRUE(text.starts_with("study      fashion: running\n")) << text;
}

TEST(Columns, AParameterOfTwoBranchesIsOneColumn) {
  const search::Parameter lr = {.path = "train.optimizer.lr",
                                .name = "lr",
                                .distribution = search::Uniform{},
                                .condition = {}};
  EXPECT_EQ(columns_of({.parameters = {lr, lr}}).size(), 1U);
}

TEST(ConfigText, HoldsOnlyWhatTheTrialHas) {
  EXPECT_EQ(config_text({{"train.optimizer.lr", 0.1}}, kColumns), "lr 0.1");
  EXPECT_EQ(config_text({}, kColumns), "");
  EXPECT_EQ(config_text({{"train.optimizer.lr", 0.023841858265427618}}, kColumns),
            "lr 0.02384");
  EXPECT_EQ(config_text({{"train.batch_size", std::int64_t{123456}}}, kColumns),
            "batch_size 123456");
}

}  // namespace
}  // namespace hydro::report
