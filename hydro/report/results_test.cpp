#include "hydro/report/results.h"

#include <limits>
#include <string>

#include <gtest/gtest.h>

#include "hydro/base/json.h"
#include "hydro/report/testing.h"
#include "hydro/tune/summary.h"

namespace hydro::report {
namespace {

using testing::finished_study;
using testing::interrupted_study;
using testing::kColumns;

std::string json_of(const tune::Journal& study) {
  return result_json(tune::summarize(study.state()), kColumns, "best/model.safetensors");
}

std::string text_of(const tune::Journal& study) {
  return summary_text(tune::summarize(study.state()), kColumns, "runs/fashion");
}

TEST(ResultJson, OfAFinishedStudy) {
  EXPECT_EQ(json_of(finished_study()), R"TEXT()TEXT");
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
  EXPECT_EQ(trials_csv(finished_study().state(), kColumns), R"TEXT()TEXT");
}

TEST(TrialsCsv, MissingValuesAreEmpty) {
  EXPECT_EQ(trials_csv(interrupted_study().state(), kColumns), R"TEXT()TEXT");
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
  EXPECT_EQ(text_of(finished_study()), R"TEXT()TEXT");
}

TEST(SummaryText, OfAnInterruptedStudyNamesNoWeights) {
  EXPECT_EQ(text_of(interrupted_study()), R"TEXT()TEXT");
}

TEST(SummaryText, ANameCannotSteerTheTerminal) {
  tune::Summary summary = tune::summarize(finished_study().state());
  summary.study = "a\x1b[2J";
  EXPECT_EQ(summary_text(summary, {}, "runs/a").find('\x1b'), std::string::npos);
}

TEST(ShowText, EndsWithATableOfAllTrials) {
  const std::string text = show_text(finished_study().state(), kColumns, "runs/fashion");
  EXPECT_TRUE(text.starts_with(text_of(finished_study())));
  EXPECT_EQ(text.substr(text_of(finished_study()).size()), R"TEXT()TEXT");
}

TEST(ShowText, OfARunningStudy) {
  const std::string text = show_text(testing::open_study(2).state(), kColumns, "runs/fashion");
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
}

}  // namespace
}  // namespace hydro::report
