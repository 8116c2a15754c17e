#include "hydro/run/check_report.h"

#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "hydro/base/json.h"
#include "hydro/base/result.h"
#include "hydro/ir/model.h"
#include "hydro/job/transfer.h"
#include "hydro/search/scheduler.h"
#include "hydro/search/space.h"
#include "hydro/shrink/coordinates.h"
#include "hydro/shrink/surrogate.h"

namespace hydro::run {
namespace {

shrink::ParameterPlan head_weight() {
  return {.name = "head.weight",
          .role = shrink::Role::kOutput,
          .readout = true,
          .shape = {10, 64},
          .surrogate_shape = {10, 8},
          .r_in = 8,
          .r_out = 1,
          .multiplier = 8,
          .laws = {{.row_begin = 0, .row_end = 10, .kind = ir::LawKind::kConstant, .value = 0}},
          .sgd = {.lr = 0.125, .decay = 8, .eps = 8},
          .adam = {.lr = 1, .decay = 1, .eps = 8},
          .adamw = {.lr = 1, .decay = 1, .eps = 8}};
}

/// One of everything.
CheckReport make_report() {
  CheckReport report;
  report.study = "fashion";
  report.scaling = 8;
  report.models.push_back({.label = "", .surrogate = {}});
  shrink::Surrogate& surrogate = report.models[0].surrogate;
  surrogate.target_parameters = 650;
  surrogate.surrogate_parameters = 90;
  surrogate.classes = {{.name = "fc.weight[0]",
                        .size = 64,
                        .surrogate = 8,
                        .ratio = 8,
                        .pinned_because = "",
                        .held_because = ""},
                       {.name = "head.weight[0]",
                        .size = 10,
                        .surrogate = 10,
                        .pinned_because = "user output",
                        .held_because = ""}};
  surrogate.parameters = {head_weight()};
  report.space.parameters = {{.path = "train.optimizer.lr",
                              .name = "lr",
                              .distribution = search::Uniform{.low = 0, .high = 1},
                              .condition = {}}};
  report.transfers = {{.kind = job::TransferKind::kByRule, .why = "lr x weight_decay is kept"}};
  report.defaults = {{.path = "name", .value = "fashion"},
                     {.path = "train.optimizer.lr", .value = "0.001"},
                     {.path = "train.drop_last", .value = "true"}};
  report.groups = {{.model = "", .batch_size = 64, .trials = 5, .containers = 3}};
  report.scheduler = {
      .settings = {.kind = search::SchedulerKind::kAsha,
                   .type = search::SchedulerType::kPromotion,
                   .max_t = 9},
      .trials = 20,
      .preview = {
          .rungs = {{.at = 1, .trials = 20}, {.at = 3, .trials = 6.5}, {.at = 9, .trials = 2}},
          .evaluations = 45,
          .all_to_the_end = 180}};
  report.warnings = {"`fc.weight[0]` is narrow"};
  report.refusals = {make_error("H0406", "label 77").at("labels:3").because("10 classes")};
  report.coordinates = shrink::CoordinateVerdict{
      .passed = false,
      .hidden_mean = 3,
      .losses_equal = false,
      .layers = {{.layer = "fc.weight", .update_ratio = 4, .passed = false},
                 {.layer = "head.weight",
                  .role = shrink::Role::kOutput,
                  .not_judged_because = "narrower than 16"}},
      .misses = {
          {.what = "fc.weight", .value = 4, .low = 0.5, .high = 2},
          {.what = "geometric mean over hidden layers", .value = 3, .low = 0.75, .high = 1.35},
          {.what = "step-1 loss", .value = 1.5}}};
  return report;
}

std::vector<std::string> keys_of(const OrderedJson& object) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : object.items()) {
    keys.push_back(key);
  }
  return keys;
}

using Keys = std::vector<std::string>;

class CheckJson : public ::testing::Test {
 protected:
  OrderedJson json_ = OrderedJson::parse(check_json(make_report()));
};

TEST_F(CheckJson, HasTheAgreedKeys) {
  EXPECT_EQ(keys_of(json_),
            (Keys{"study",
                  "scaling",
                  "widths",
                  "parameters",
                  "space",
                  "defaults",
                  "trials",
                  "rungs",
                  "evaluations",
                  "groups",
                  "coordinates",
                  "warnings",
                  "refusals"}));
}

TEST_F(CheckJson, AWidthHasTheAgreedKeys) {
  EXPECT_EQ(keys_of(json_["widths"][0]),
            (Keys{"class", "size", "surrogate", "ratio", "pinned_because", "held_because"}));
  EXPECT_TRUE(json_["widths"][0]["pinned_because"].is_null());
  EXPECT_EQ(json_["widths"][1]["pinned_because"], "user output");
}

TEST_F(CheckJson, AParameterHasTheAgreedKeys) {
  const OrderedJson& row = json_["parameters"][0];
  EXPECT_EQ(keys_of(row),
            (Keys{"name",
                  "role",
                  "readout",
                  "shape",
                  "surrogate_shape",
                  "r_in",
                  "r_out",
                  "init",
                  "factors",
                  "multiplier"}));
  EXPECT_EQ(keys_of(row["init"][0]),
            (Keys{"rows", "law", "mean", "std", "low", "high", "value"}));
  EXPECT_EQ(row["factors"]["sgd"].dump(), R"({"lr":0.125,"decay":8.0,"eps":8.0})");
  EXPECT_EQ(keys_of(row["factors"]), (Keys{"sgd", "adam", "adamw"}));
  EXPECT_EQ(row["role"], "output");
}

TEST_F(CheckJson, GroupsSpaceAndRefusalsHaveTheAgreedKeys) {
  EXPECT_EQ(json_["groups"].dump(), R"([{"batch_size":64,"trials":5,"containers":3}])");
  EXPECT_EQ(
      json_["space"].dump(),
      R"([{"path":"train.optimizer.lr","name":"lr","distribution":"uniform","median":0.5,)"
      R"("transfer":"transferable with a rule","why":"lr x weight_decay is kept"}])");
  EXPECT_EQ(json_["defaults"][1].dump(), R"({"path":"train.optimizer.lr","value":"0.001"})");
  EXPECT_EQ(keys_of(json_["refusals"][0]), (Keys{"code", "what", "where", "why", "do"}));
  EXPECT_EQ(json_["refusals"][0]["code"], "H0406");
}

TEST_F(CheckJson, RungsHaveTheAgreedKeys) {
  EXPECT_EQ(json_["trials"], 20);
  EXPECT_EQ(json_["rungs"].dump(),
            R"([{"at":1,"expected_trials":20.0},{"at":3,"expected_trials":6.5},)"
            R"({"at":9,"expected_trials":2.0}])");
  EXPECT_EQ(json_["evaluations"].dump(), R"({"expected":45.0,"all_to_the_end":180.0})");
}

TEST_F(CheckJson, CoordinatesNameWhatFailed) {
  EXPECT_EQ(json_["coordinates"]["passed"], false);
  EXPECT_EQ(json_["coordinates"]["layers"].size(), 2U);
  EXPECT_EQ(json_["coordinates"]["failed"].size(), 3U);
  EXPECT_EQ(json_["coordinates"]["misses"][1]["value"], 3);
  EXPECT_EQ(json_["coordinates"]["misses"][1]["high"], 1.35);
  EXPECT_EQ(json_["coordinates"]["layers"][1]["not_judged_because"], "narrower than 16");
}

TEST_F(CheckJson, AFailedCoordinateCheckIsARefusal) {
  EXPECT_EQ(json_["refusals"].back()["code"], "H0310");
  EXPECT_FALSE(json_["refusals"].back()["do"].empty());
}

TEST_F(CheckJson, SeveralArchitecturesAreTold) {
  CheckReport report = make_report();
  report.models[0].label = R"({"depth": 2})";
  const OrderedJson json = OrderedJson::parse(check_json(report));
  EXPECT_EQ(json["widths"][0]["model"], R"({"depth": 2})");
  EXPECT_EQ(json["parameters"][0]["model"], R"({"depth": 2})");
}

TEST_F(CheckJson, NumbersThatAreNotFiniteAreNull) {
  CheckReport report = make_report();
  report.coordinates->hidden_mean = std::numeric_limits<double>::infinity();
  EXPECT_TRUE(OrderedJson::parse(check_json(report))["coordinates"]["hidden_mean"].is_null());
}

CheckReport without_refusals() {
  CheckReport report = make_report();
  report.refusals.clear();
  return report;
}

TEST(CheckText, ShowsEveryPart) {
  const std::string text = check_text(without_refusals());
  EXPECT_TRUE(text.starts_with("study fashion at scaling 8\n")) << text;
  for (const char* part :
       {"\n      64 -> 8      x8       fc.weight[0]\n",
        "\n      10 head.weight[0]: user output\n",
        "\nparameters: 650 -> 90 (7.2 times fewer)\n",
        "\ndefaults used\n  name      fashion\n  train     optimizer.lr 0.001, drop_last "
        "true\n",
        "\nearly stopping\n  20 trials of at most 9 evaluations\n  rung     1: about 20 "
        "trials\n"
        "  rung     3: about 6.5 trials\n  end      9: about 2 trials\n"
        "  about 45 of 180 evaluations: 75 % saved\n",
        "\n  batch 64        5 trials in    3 containers\n",
        "\ncoordinate check: FAILED (geometric mean over hidden layers 3.000; ",
        "\n  geometric mean over hidden layers x3 (limits 0.75 to 1.35): FAILED\n",
        "\n  step-1 loss x1.5 (must be equal): FAILED\n",
        "  not judged: narrower than 16\n",
        "\nerror[H0310]: the coordinate check failed in 1 of 2 layers (first `fc.weight`), ",
        "\nwarning: `fc.weight[0]` is narrow\n"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << text;
  }
}

TEST(CheckText, ARefusalStandsAloneBeforeTheWarnings) {
  const std::string text = check_text(make_report());
  EXPECT_TRUE(text.starts_with("error[H0406]: label 77")) << text;
  EXPECT_TRUE(text.ends_with("\nwarning: `fc.weight[0]` is narrow\n")) << text;
  EXPECT_EQ(text.find("\n\n"), std::string::npos) << text;
}

TEST(CheckText, APartWithoutLinesHasNoHeader) {
  CheckReport report = without_refusals();
  report.groups.clear();
  report.defaults.clear();
  report.space.parameters.clear();
  report.models[0].surrogate.classes.clear();
  const std::string text = check_text(report);
  for (const char* header : {"groups", "defaults", "widths", "pinned", "search space\n"}) {
    EXPECT_EQ(text.find(header), std::string::npos) << header << text;
  }
  EXPECT_NE(text.find("\nsearch space: empty, "), std::string::npos) << text;
}

TEST(CheckText, OneExpectedTrialIsNotSeveral) {
  CheckReport report = without_refusals();
  report.scheduler->preview.rungs = {{.at = 3, .trials = 1}};
  const std::string text = check_text(report);
  EXPECT_NE(text.find("  rung     3: about 1 trial\n"), std::string::npos) << text;
}

TEST(CheckText, ManyDefaultsAreWrapped) {
  CheckReport report = without_refusals();
  report.defaults.assign(12, {.path = "tune.some_long_key", .value = "a value"});
  const std::string text = check_text(report);
  EXPECT_NE(text.find("some_long_key a value,\n            some_long_key a value"),
            std::string::npos)
      << text;
}

}  // namespace
}  // namespace hydro::run
