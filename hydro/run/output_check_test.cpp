#include "hydro/run/output_check.h"

#include <string>

#include <gtest/gtest.h>

#include "hydro/base/result.h"
#include "hydro/ir/graph.h"
#include "hydro/worker/settings.h"

namespace hydro::run {
namespace {

/// A graph whose last op is `last`, a view behind it.
ir::Graph ending_in(const std::string& last) {
  return ir::parse_graph(
             "graph {\n  input user x %x: float32[~5, 12]\n"
             "  %y: float32[~5, 12] = " +
             last +
             "(self=%x, dim=1)\n"
             "  %z: float32[~5, 3, 4] = aten.view.default(self=%y, size=[5, 3, 4])\n"
             "  output user out %z\n}\n")
      .value();
}

TEST(OutputCheck, RefusesASoftmaxAlsoBehindAView) {
  const Result<void> checked =
      check_output(ending_in("aten.softmax.int"), worker::Task::kClassification);
  ASSERT_FALSE(checked.has_value());
  EXPECT_EQ(checked.error().id, "H0255");
}

TEST(OutputCheck, TakesScoresAndTheirLogarithms) {
  for (const char* last : {"aten.log_softmax.int", "aten.glu.default"}) {
    EXPECT_TRUE(check_output(ending_in(last), worker::Task::kClassification).has_value());
  }
}

TEST(MetricCheck, RefusesTheBestFiveOfFewClasses) {
  const ir::Graph three = ending_in("aten.log_softmax.int");
  const Result<void> checked = check_metric(three, "val_top5");
  ASSERT_FALSE(checked.has_value());
  EXPECT_EQ(checked.error().id, "H0122");
  EXPECT_NE(checked.error().why.find("3 classes"), std::string::npos) << checked.error().why;
  EXPECT_TRUE(check_metric(three, "val_accuracy").has_value());
}

TEST(OutputCheck, ARegressionMayReturnShares) {
  EXPECT_TRUE(
      check_output(ending_in("aten.softmax.int"), worker::Task::kRegression).has_value());
}

}  // namespace
}  // namespace hydro::run
