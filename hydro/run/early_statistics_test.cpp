#include "hydro/run/early_statistics.h"

#include <cstdint>
#include <optional>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hydro/ir/graph.h"

namespace hydro::run {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

/// A batch norm of that momentum, written as in a graph.
std::optional<std::string> warning_of(const std::string& momentum, std::int64_t steps) {
  const std::string text =
      "graph {\n  input user x %x: float32[~5, 4]\n  input buffer m %m: float32[4]\n"
      "  input buffer v %v: float32[4]\n  %y: float32[~5, 4], %m1: float32[4], %v1: float32[4] "
      "= hydro.batch_norm(input=%x, weight=None, bias=None, running_mean=%m, running_var=%v, "
      "training=True, momentum=" +
      momentum +
      ", eps=1e-05)\n  output user y %y\n  output buffer m %m1\n  output buffer v %v1\n}\n";
  return early_statistics(ir::parse_graph(text).value(), steps);
}

TEST(EarlyStatistics, OfMomentumATenthNeedThirtySteps) {
  EXPECT_FALSE(warning_of("0.1", 30));
  EXPECT_THAT(warning_of("0.1", 29).value_or(""),
              AllOf(HasSubstr("after 29 steps"), HasSubstr("momentum 0.1"), HasSubstr("5 %")));
}

TEST(EarlyStatistics, OfASmallMomentumNeedManyMore) {
  EXPECT_FALSE(warning_of("0.01", 300));
  EXPECT_THAT(warning_of("0.01", 15).value_or(""),
              AllOf(HasSubstr("86 %"), HasSubstr("evaluate after 300 steps or more")));
}

TEST(EarlyStatistics, AreRightAtOnceWithoutAMomentum) {
  EXPECT_FALSE(warning_of("None", 1));
}

TEST(EarlyStatistics, NeedABatchNorm) {
  const ir::Graph none =
      ir::parse_graph("graph {\n  input user x %x: float32[~5, 4]\n  output user y %x\n}\n")
          .value();
  EXPECT_FALSE(early_statistics(none, 1));
}

}  // namespace
}  // namespace hydro::run
