#include "hydro/ir/in_place.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "hydro/base/result.h"
#include "hydro/ir/graph.h"
#include "hydro/ir/view.h"

namespace hydro::ir {

namespace {

struct RenamedOp {
  std::string_view in_place;
  std::string_view out_of_place;
};

// Where dropping the underscore does not give the op.
constexpr std::array kRenamed = {
    RenamedOp{.in_place = "aten.bernoulli_.float", .out_of_place = "aten.bernoulli.p"},
    RenamedOp{.in_place = "aten.normal_.default",
              .out_of_place = "aten.normal_functional.default"},
};

// They change the tensor itself (its shape or memory), not its elements.
constexpr std::array<std::string_view, 11> kMetadata = {"as_strided_",
                                                        "resize_",
                                                        "resize_as_",
                                                        "set_",
                                                        "squeeze_",
                                                        "swapaxes_",
                                                        "swapdims_",
                                                        "t_",
                                                        "transpose_",
                                                        "unsqueeze_",
                                                        "rename_"};

// Out of place they give booleans.
constexpr std::array<std::string_view, 10> kComparisons = {"eq_",
                                                           "ne_",
                                                           "lt_",
                                                           "le_",
                                                           "gt_",
                                                           "ge_",
                                                           "logical_and_",
                                                           "logical_or_",
                                                           "logical_xor_",
                                                           "logical_not_"};

template <class Names>
bool holds(const Names& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

// "add_" of "aten.add_.Tensor"
std::string_view bare_name(std::string_view op) {
  const std::size_t start = op.find('.') + 1;
  return op.substr(start, op.find('.', start) - start);
}

std::string out_of_place_name(std::string_view op) {
  for (const RenamedOp& row : kRenamed) {
    if (row.in_place == op) {
      return std::string(row.out_of_place);
    }
  }
  const std::string_view name = bare_name(op);
  std::string result(op);
  return result.erase(result.find(name) + name.size() - 1, 1);
}

// 0 booleans, 1 integers, 2 floats.
int category(DType dtype) {
  return is_floating(dtype) ? 2 : static_cast<int>(dtype != DType::kBool);
}

// What the out-of-place op computes in; in place the first argument's type wins.
DType computed_dtype(const Graph& graph, const Node& node, const TensorType& self) {
  if (holds(kComparisons, bare_name(node.op))) {
    return DType::kBool;
  }
  const Argument* other = node.find_argument("other");
  const auto* value = other == nullptr ? nullptr : std::get_if<ValueId>(other);
  if (value == nullptr || !graph.value(*value).is_tensor()) {
    return self.dtype;
  }
  const TensorType& type = graph.value(*value).tensor();
  const bool ranks_alike = !type.shape.empty() || self.shape.empty();
  const bool wider = category(type.dtype) > category(self.dtype) ||
                     (category(type.dtype) == category(self.dtype) && ranks_alike &&
                      dtype_size(type.dtype) > dtype_size(self.dtype));
  return wider ? type.dtype : self.dtype;
}

std::string_view written_argument(const Node& node) {
  return node.arguments.front().name;
}

Result<ValueId> emit_copy(Emitter& emitter, const Node& node, const Value& self) {
  const ValueId source = node.value("src");
  if (emitter.graph.value(source).type == self.type) {
    return source;
  }
  return emitter.emit(
      "aten.copy.default", node.arguments, node, self.name + "_next", self.type);
}

// The in-place node's own output, so that its name stays, or a fresh value.
ValueId result_value(Graph& graph, const Node& node, const Value& self) {
  const bool fits =
      node.outputs.size() == 1 && graph.value(node.outputs.front()).type == self.type;
  return fits ? node.outputs.front() : graph.add_value(self.name + "_next", self.type);
}

}  // namespace

Result<ValueId> emit_out_of_place(Emitter& emitter, Node node) {
  const std::string_view name = bare_name(node.op);
  if (holds(kMetadata, name) || node.arguments.empty() ||
      !std::holds_alternative<ValueId>(node.arguments.front().value)) {
    return make_error("H0252", node.op + " has no out-of-place form").at(node.describe());
  }
  const Value self = emitter.graph.value(node.value(written_argument(node)));
  if (!self.is_tensor()) {
    return make_error("H0252", node.op + " writes into something that is no tensor")
        .at(node.describe());
  }
  if (node.op == "aten.copy_.default") {
    return emit_copy(emitter, node, self);
  }
  if (node.op == "aten.zero_.default") {
    node.op = "aten.fill_.Scalar";
    node.arguments.push_back({.name = "value", .value = std::int64_t{0}});
  }
  const std::string op = out_of_place_name(node.op);
  TensorType computed = self.tensor();
  computed.dtype = computed_dtype(emitter.graph, node, self.tensor());
  const ValueId result = result_value(emitter.graph, node, self);
  if (computed.dtype == self.tensor().dtype) {
    emitter.emit_to(result, op, node.arguments, node);
    return result;
  }
  const ValueId wide =
      emitter.emit(op, node.arguments, node, self.name + "_wide", std::move(computed));
  emitter.emit_to(result,
                  "aten.to.dtype",
                  {{.name = "self", .value = wide},
                   {.name = "dtype", .value = self.tensor().dtype},
                   {.name = "copy", .value = false}},
                  node);
  return result;
}

}  // namespace hydro::ir
