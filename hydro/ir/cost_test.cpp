#include "hydro/ir/cost.h"

#include <string>

#include <gtest/gtest.h>

#include "hydro/base/result.h"
#include "hydro/ir/graph.h"

namespace hydro::ir {
namespace {

/// Not `+`, of which g++ 12 says now and then that it writes out of bounds.
Result<Graph> parsed(std::string text, const char* rest) {
  text.append(rest);
  return parse_graph(text);
}

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

TEST(Cost, CountsAttentionBothFusedAndWrittenOut) {
  constexpr const char* kInputs = R"(graph {
  input user q %q: float32[~5, 2, 7, 4]
  input user k %k: float32[~5, 2, 9, 4]
  input user v %v: float32[~5, 2, 9, 6]
)";
  const Result<Graph> fused = parsed(kInputs, R"(
  %o: float32[~5, 2, 7, 6] = aten.scaled_dot_product_attention.default(query=%q, key=%k, value=%v, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False)
  output user y %o
}
)");
  const Result<Graph> written = parsed(kInputs, R"(
  %t: float32[~5, 2, 4, 9] = aten.transpose.int(self=%k, dim0=2, dim1=3)
  %l: float32[~5, 2, 7, 9] = aten.matmul.default(self=%q, other=%t)
  %o: float32[~5, 2, 7, 6] = aten.einsum.default(equation="b h i j, b h j d -> b h i d", tensors=[%l, %v], path=None)
  output user y %o
}
)");
  ASSERT_TRUE(fused.has_value() && written.has_value());
  EXPECT_EQ(multiply_adds(*fused), 2 * 7 * 9 * (4 + 6));
  EXPECT_EQ(multiply_adds(*written), multiply_adds(*fused));
}

TEST(Cost, CountsRecurrentLayersAndTransposedConvolutions) {
  const Result<Graph> graph = parse_graph(R"(graph {
  input user x %x: float32[~5, 3, 8]
  input user h %h: float32[1, ~5, 4]
  input parameter ih %a: float32[12, 8]
  input parameter hh %b: float32[12, 4]
  input parameter bias %c: float32[12]
  input parameter up %w: float32[3, 2, 4]
  %y: float32[~5, 3, 4], %s: float32[1, ~5, 4] = aten.gru.input(input=%x, hx=%h, params=[%a, %b, %c, %c], has_biases=True, num_layers=1, dropout=0.0, train=True, bidirectional=False, batch_first=True)
  %u: float32[~5, 2, 16] = aten.conv_transpose1d.default(input=%y, weight=%w, bias=None, stride=[4], padding=[0], output_padding=[0], groups=1, dilation=[1])
  output user y %u
}
)");
  ASSERT_TRUE(graph.has_value()) << graph.error().what;
  EXPECT_EQ(multiply_adds(*graph), 3 * (12 * 8 + 12 * 4) + 3 * 4 * 2 * 4);
}

TEST(Cost, IsNeverZero) {
  EXPECT_EQ(multiply_adds(Graph()), 1);
}

}  // namespace
}  // namespace hydro::ir
