#include "hydro/ir/cost.h"

#include <gtest/gtest.h>

#include "hydro/base/result.h"
#include "hydro/ir/graph.h"

namespace hydro::ir {
namespace {

TEST(Cost, CountsConvolutionsAndLinearLayersPerSample) {
  const Result<Graph> graph = parse_graph(R"(graph {
  input user x %x: float32[~5, 3, 8, 8]
  input parameter w %w: float32[4, 3, 3, 3]
  input parameter f %f: float32[10, 256]
  %c: float32[~5, 4, 8, 8] = aten.conv2d.default(input=%x, weight=%w, bias=None, stride=[1, 1], padding=[1, 1], dilation=[1, 1], groups=1)
  %v: float32[~5, 256] = aten.flatten.using_ints(self=%c, start_dim=1, end_dim=-1)
  %y: float32[~5, 10] = aten.linear.default(input=%v, weight=%f, bias=None)
  output user y %y
}
)");
  ASSERT_TRUE(graph.has_value()) << graph.error().what;
  EXPECT_EQ(multiply_adds(*graph), 4 * 8 * 8 * 27 + 10 * 256);
}

TEST(Cost, IsNeverZero) {
  EXPECT_EQ(multiply_adds(Graph()), 1);
}

}  // namespace
}  // namespace hydro::ir
