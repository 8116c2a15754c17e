#include "hydro/ir/cost.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>
#include <variant>
#include <vector>

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
    DotOp{.op = "aten.conv1d.padding", .weight = "weight", .outer = 0},
    DotOp{.op = "aten.conv2d.default", .weight = "weight", .outer = 0},
    DotOp{.op = "aten.conv2d.padding", .weight = "weight", .outer = 0},
    DotOp{.op = "aten.conv3d.default", .weight = "weight", .outer = 0},
    DotOp{.op = "aten.linear.default", .weight = "weight", .outer = 0},
    DotOp{.op = "aten.addmm.default", .weight = "mat2", .outer = 1},
    DotOp{.op = "aten.mm.default", .weight = "mat2", .outer = 1}};

/// As DotOp, where the length is the last dimension of an operand.
struct RowOp {
  std::string_view op;
  std::string_view left;
};

constexpr std::array kRowOps = {RowOp{.op = "aten.matmul.default", .left = "self"},
                                RowOp{.op = "aten.bmm.default", .left = "self"},
                                RowOp{.op = "aten.baddbmm.default", .left = "batch1"}};

constexpr std::array<std::string_view, 4> kRecurrent = {
    "aten.lstm.input", "aten.gru.input", "aten.rnn_tanh.input", "aten.rnn_relu.input"};

constexpr std::array<std::string_view, 3> kTransposed = {"aten.conv_transpose1d.default",
                                                         "aten.conv_transpose2d.input",
                                                         "aten.conv_transpose3d.input"};

std::int64_t elements(const TensorType& type) {
  std::int64_t product = 1;
  for (const Dim& dim : type.shape) {
    product *= dim.size;
  }
  return product;
}

std::int64_t outer_size(const TensorType& type, std::size_t dim) {
  return dim < type.shape.size() ? std::max<std::int64_t>(type.shape[dim].size, 1) : 1;
}

std::int64_t last_size(const TensorType& type) {
  return type.shape.empty() ? 1 : type.shape.back().size;
}

class Counter {
 public:
  Counter(const Graph& graph, const Node& node) : graph_(graph), node_(node) {}

  std::int64_t run() const {
    if (const auto* row = std::ranges::find(kDotOps, op(), &DotOp::op); row != kDotOps.end()) {
      const TensorType& weight = tensor(row->weight);
      return elements(result()) * elements(weight) / outer_size(weight, row->outer);
    }
    if (const auto* row = std::ranges::find(kRowOps, op(), &RowOp::op); row != kRowOps.end()) {
      return elements(result()) * last_size(tensor(row->left));
    }
    if (std::ranges::find(kTransposed, op()) != kTransposed.end()) {
      const TensorType& weight = tensor("weight");
      return elements(tensor("input")) * elements(weight) / outer_size(weight, 0);
    }
    if (std::ranges::find(kRecurrent, op()) != kRecurrent.end()) {
      return recurrent();
    }
    if (op() == "aten.scaled_dot_product_attention.default") {
      return attention();
    }
    return op() == "aten.einsum.default" ? einsum() : 0;
  }

 private:
  std::string_view op() const { return node_.op; }

  const TensorType& tensor(std::string_view name) const {
    return graph_.value(node_.value(name)).tensor();
  }

  const TensorType& result() const { return graph_.value(node_.outputs.at(0)).tensor(); }

  std::vector<ValueId> tensors(std::string_view name) const {
    const auto* list = std::get_if<std::vector<ValueId>>(&node_.argument(name));
    return list == nullptr ? std::vector<ValueId>() : *list;
  }

  /// Every weight once a step of every sequence.
  std::int64_t recurrent() const {
    const std::int64_t steps =
        elements(tensor("input")) / std::max<std::int64_t>(last_size(tensor("input")), 1);
    std::int64_t weights = 0;
    for (const ValueId parameter : tensors("params")) {
      const TensorType& type = graph_.value(parameter).tensor();
      weights += type.shape.size() > 1 ? elements(type) : 0;
    }
    return steps * weights;
  }

  /// Logits, and their product with the values.
  std::int64_t attention() const {
    const TensorType& key = tensor("key");
    const std::int64_t length = key.shape.size() < 2 ? 1 : key.shape[key.shape.size() - 2].size;
    return (elements(tensor("query")) + elements(result())) * length;
  }

  /// One for every assignment of the letters.
  std::int64_t einsum() const {
    const std::vector<ValueId> operands = tensors("tensors");
    std::map<char, std::int64_t> sizes;
    std::size_t operand = 0;
    std::size_t dim = 0;
    for (const char letter : node_.text("equation")) {
      if (letter == ',') {
        ++operand;
        dim = 0;
      } else if (letter == '-' || letter == '.' || operand >= operands.size()) {
        break;
      } else if (letter != ' ') {
        sizes[letter] = outer_size(graph_.value(operands[operand]).tensor(), dim++);
      }
    }
    std::int64_t product = 1;
    for (const auto& [letter, size] : sizes) {
      product *= size;
    }
    return product;
  }

  const Graph& graph_;
  const Node& node_;
};

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
    total += Counter(graph, node).run();
  }
  return std::max<std::int64_t>(total / example_batch(graph), 1);
}

}  // namespace hydro::ir
