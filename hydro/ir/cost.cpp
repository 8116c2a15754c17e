#include "hydro/ir/cost.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "hydro/ir/graph.h"

namespace hydro::ir {
namespace {

/// An op whose every output element is a dot product, and the argument whose size over `outer`
/// is its length.
struct DotOp {
  std::string_view op;
  std::string_view weight;
  std::size_t outer;  // the weight's dimension that is not contracted
};

constexpr std::array kDotOps = {
    DotOp{.op = "aten.conv1d.default", .weight = "weight", .outer = 0},
    DotOp{.op = "aten.conv2d.default", .weight = "weight", .outer = 0},
    DotOp{.op = "aten.conv2d.padding", .weight = "weight", .outer = 0},
    DotOp{.op = "aten.linear.default", .weight = "weight", .outer = 0},
    DotOp{.op = "aten.addmm.default", .weight = "mat2", .outer = 1},
    DotOp{.op = "aten.mm.default", .weight = "mat2", .outer = 1}};

std::int64_t elements(const TensorType& type) {
  std::int64_t product = 1;
  for (const Dim& dim : type.shape) {
    product *= dim.size;
  }
  return product;
}

std::int64_t node_cost(const Graph& graph, const Node& node) {
  const auto* row = std::ranges::find(kDotOps, std::string_view(node.op), &DotOp::op);
  if (row == kDotOps.end()) {
    return 0;
  }
  const TensorType& weight = graph.value(node.value(row->weight)).tensor();
  const std::int64_t length =
      elements(weight) / std::max<std::int64_t>(weight.shape[row->outer].size, 1);
  return elements(graph.value(node.outputs[0]).tensor()) * length;
}

std::int64_t example_batch(const Graph& graph) {
  for (const Input& input : graph.inputs) {
    if (input.kind != InputKind::kUser || !graph.value(input.value).is_tensor()) {
      continue;
    }
    for (const Dim& dim : graph.value(input.value).tensor().shape) {
      if (dim.dynamic) {
        return std::max<std::int64_t>(dim.size, 1);
      }
    }
  }
  return 1;
}

}  // namespace

std::int64_t multiply_adds(const Graph& graph) {
  std::int64_t total = 0;
  for (const Node& node : graph.nodes()) {
    total += node_cost(graph, node);
  }
  return std::max<std::int64_t>(total / example_batch(graph), 1);
}

}  // namespace hydro::ir
