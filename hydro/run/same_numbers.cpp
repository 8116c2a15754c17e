#include "hydro/run/same_numbers.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "hydro/ir/graph.h"

namespace hydro::run {
namespace {

constexpr auto kUnchanging = std::to_array<std::string_view>({"aten.view.default",
                                                              "aten.reshape.default",
                                                              "aten.flatten.using_ints",
                                                              "aten.squeeze.dim",
                                                              "aten.unsqueeze.default",
                                                              "aten.permute.default",
                                                              "aten.transpose.int",
                                                              "aten.contiguous.default",
                                                              "aten.clone.default",
                                                              "aten.alias.default",
                                                              "aten.to.dtype",
                                                              "aten.to.dtype_layout"});

}  // namespace

ir::ValueId origin_of(const ir::Graph& graph, ir::ValueId value) {
  while (graph.value(value).producer != ir::kNoNode) {
    const ir::Node& node = graph.node(graph.value(value).producer);
    const std::vector<ir::ValueId> operands = ir::operands(node);
    if (std::ranges::find(kUnchanging, node.op) == kUnchanging.end() || operands.empty()) {
      return value;
    }
    value = operands.front();
  }
  return value;
}

}  // namespace hydro::run
