#include "hydro/search/stop_rules.h"

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace hydro::search {
namespace {

using enum StopKind;

StopRule above(const std::string& metric, double bound) {
  return {.kind = kAbove, .metric = metric, .bound = bound, .rules = {}};
}

StopRule below(const std::string& metric, double bound) {
  return {.kind = kBelow, .metric = metric, .bound = bound, .rules = {}};
}

StopRule join(StopKind kind, std::vector<StopRule> rules) {
  return {.kind = kind, .metric = {}, .rules = std::move(rules)};
}

std::optional<std::string> broken_by(const StopRule& rule,
                                     const std::map<std::string, double>& metrics,
                                     double seconds = 0) {
  return broken(rule, {.metrics = metrics, .seconds = seconds});
}

TEST(StopRules, SayWhichHeldAndByWhichNumbers) {
  EXPECT_EQ(broken_by(above("val_loss", 10), {{"val_loss", 12.5}}), "val_loss 12.5 above 10");
  EXPECT_EQ(broken_by(below("val_accuracy", .1), {{"val_accuracy", .05}}),
            "val_accuracy 0.05 below 0.1");
}

TEST(StopRules, DoNotHoldAtTheBound) {
  EXPECT_EQ(broken_by(above("val_loss", 10), {{"val_loss", 10}}), std::nullopt);
  EXPECT_EQ(broken_by(below("val_loss", 10), {{"val_loss", 10}}), std::nullopt);
}

TEST(StopRules, DoNotHoldForAMetricThatWasNotReported) {
  EXPECT_EQ(broken_by(below("val_loss", 10), {{"val_accuracy", 1}}), std::nullopt);
}

TEST(StopRules, OfTimeHoldAfterMoreThanTheirSeconds) {
  const StopRule rule{.kind = kTime, .metric = {}, .bound = 600, .rules = {}};
  EXPECT_EQ(broken_by(rule, {}, 600), std::nullopt);
  EXPECT_EQ(broken_by(rule, {}, 601), "trained for more than 600 s");
}

TEST(StopRules, OfAnyHoldWithTheFirstThatDoes) {
  const StopRule rule = join(kAny, {above("a", 1), above("b", 1)});
  EXPECT_EQ(broken_by(rule, {{"a", 0}, {"b", 2}}), "b 2 above 1");
  EXPECT_EQ(broken_by(rule, {{"a", 0}, {"b", 0}}), std::nullopt);
}

TEST(StopRules, OfAllHoldWhereEachDoes) {
  const StopRule rule = join(kAll, {above("a", 1), above("b", 1)});
  EXPECT_EQ(broken_by(rule, {{"a", 2}, {"b", 0}}), std::nullopt);
  EXPECT_EQ(broken_by(rule, {{"a", 2}, {"b", 2}}), "a 2 above 1 and b 2 above 1");
}

TEST(StopRules, NestTheirOperators) {
  const StopRule rule = join(kAny, {above("a", 9), join(kAll, {above("a", 1), below("b", 1)})});
  EXPECT_EQ(broken_by(rule, {{"a", 2}, {"b", 0}}), "a 2 above 1 and b 0 below 1");
  EXPECT_EQ(broken_by(rule, {{"a", 2}, {"b", 2}}), std::nullopt);
}

TEST(StopRules, ThatAreNoneNeverHold) {
  EXPECT_TRUE(StopRule{}.is_empty());
  EXPECT_EQ(broken_by(StopRule{}, {{"a", 1}}, 1e9), std::nullopt);
  EXPECT_EQ(broken_by(join(kAll, {}), {{"a", 1}}), std::nullopt);
}

}  // namespace
}  // namespace hydro::search
