#include "hydro/run/coordinate_check.h"

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "hydro/shrink/coordinates.h"

namespace hydro::run {
namespace {

shrink::CoordinateVerdict verdict_of(std::vector<std::string> failed) {
  return {.passed = false,
          .layers = {{.layer = "conv1.weight"},
                     {.layer = "conv2.weight", .passed = false},
                     {.layer = "conv3.weight", .passed = false}},
          .failed = std::move(failed)};
}

TEST(FailedParts, TellsLayersAndAggregatesApart) {
  const shrink::CoordinateVerdict verdict =
      verdict_of({"conv2.weight", "conv3.weight", "step-1 loss"});
  EXPECT_EQ(failed_parts(verdict), "2 of 3 layers (first `conv2.weight`), step-1 loss");
  EXPECT_EQ(failed_aggregates(verdict), std::vector<std::string>{"step-1 loss"});
}

TEST(FailedParts, NamesAnAggregateAlone) {
  shrink::CoordinateVerdict verdict = verdict_of({"geometric mean over hidden layers"});
  verdict.layers.clear();
  EXPECT_EQ(failed_parts(verdict), "geometric mean over hidden layers");
}

}  // namespace
}  // namespace hydro::run
