// Which nodes give the same for all trials and steps, as long as the input's shape stays.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "hydro/ir/graph.h"
#include "hydro/ir/model.h"
#include "hydro/ir/operator_tags.h"
#include "hydro/ir/passes.h"

namespace hydro::ir {

namespace {

// They read the shape and the type of their first operand, not its entries.
constexpr std::array<std::string_view, 9> kShapeOnly = {"aten.sym_size.int",
                                                        "aten.zeros_like.default",
                                                        "aten.ones_like.default",
                                                        "aten.full_like.default",
                                                        "aten.empty_like.default",
                                                        "aten.new_zeros.default",
                                                        "aten.new_ones.default",
                                                        "aten.new_full.default",
                                                        "aten.new_empty.default"};

using Names = std::set<std::string, std::less<>>;

Names changing_buffers(const Model& model) {
  Names names;
  for (const Graph* graph : {&model.train, &model.eval}) {
    for (const Output& output : graph->outputs) {
      if (output.kind == OutputKind::kBuffer) {
        names.insert(output.name);
      }
    }
  }
  return names;
}

bool is_constant(const Node& node, const std::vector<bool>& constant) {
  if (is_random(node.op)) {
    return false;
  }
  std::vector<ValueId> read = operands(node);
  if (!read.empty() && std::ranges::find(kShapeOnly, node.op) != kShapeOnly.end()) {
    read.erase(read.begin());
  }
  return std::ranges::all_of(
      read, [&](ValueId value) { return constant.at(static_cast<std::size_t>(value)); });
}

void mark(Graph& graph, const Names& changing) {
  std::vector<bool> constant(graph.values().size(), false);
  for (const Input& input : graph.inputs) {
    constant.at(static_cast<std::size_t>(input.value)) =
        input.kind == InputKind::kConstant ||
        (input.kind == InputKind::kBuffer && !changing.contains(input.name));
  }
  for (std::int32_t i = 0; i < graph.node_count(); ++i) {
    Node& node = graph.node(NodeId{i});
    node.constant = is_constant(node, constant);
    for (const ValueId output : node.outputs) {
      constant.at(static_cast<std::size_t>(output)) = node.constant;
    }
  }
}

}  // namespace

void mark_constants(Model& model) {
  const Names changing = changing_buffers(model);
  mark(model.train, changing);
  mark(model.eval, changing);
}

}  // namespace hydro::ir
