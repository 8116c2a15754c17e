#include "hydro/run/coordinate_check.h"

#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hydro/base/result.h"
#include "hydro/shrink/coordinates.h"

namespace hydro::run {
namespace {

shrink::CoordinateVerdict verdict_of(std::vector<shrink::Miss> misses) {
  return {.passed = false,
          .layers = {{.layer = "conv1.weight"},
                     {.layer = "conv2.weight", .passed = false},
                     {.layer = "conv3.weight", .passed = false}},
          .misses = std::move(misses)};
}

shrink::Miss miss(const std::string& what) {
  return {.what = what, .value = 3, .low = 0.5, .high = 2};
}

TEST(FailedParts, TellsLayersAndAggregatesApart) {
  const shrink::CoordinateVerdict verdict =
      verdict_of({miss("conv2.weight"), miss("conv3.weight"), {.what = "step-1 loss"}});
  EXPECT_EQ(failed_parts(verdict), "2 of 3 layers (first `conv2.weight`), step-1 loss");
  EXPECT_EQ(failed_aggregates(verdict), std::vector<shrink::Miss>{{.what = "step-1 loss"}});
}

TEST(FailedParts, NamesAnAggregateAlone) {
  shrink::CoordinateVerdict verdict = verdict_of({miss("geometric mean over hidden layers")});
  verdict.layers.clear();
  EXPECT_EQ(failed_parts(verdict), "geometric mean over hidden layers");
}

TEST(RefusalOfCoordinates, SaysWhichLimitByHowMuchAndWhatToDo) {
  const Error refusal =
      refusal_of(verdict_of({miss("conv2.weight"), {.what = "step-1 loss"}})).value();
  EXPECT_EQ(refusal.id, "H0310");
  EXPECT_EQ(refusal.why,
            "at S = 4 against S = 1: conv2.weight x3 (limits 0.5 to 2); step-1 loss x1 (must "
            "be equal)");
  EXPECT_THAT(refusal.remedy, ::testing::HasSubstr("model.roles"));
}

TEST(RefusalOfCoordinates, CountsWhatItDoesNotShow) {
  const std::vector<shrink::Miss> five(5, miss("conv2.weight"));
  EXPECT_THAT(refusal_of(verdict_of(five))->why, ::testing::EndsWith("; and 2 more"));
}

TEST(RefusalOfCoordinates, IsNoneWhereAllPassed) {
  EXPECT_FALSE(refusal_of({}).has_value());
}

}  // namespace
}  // namespace hydro::run
