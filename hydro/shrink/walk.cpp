#include "hydro/shrink/walk.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/ir/graph.h"
#include "hydro/ir/model.h"
#include "hydro/shrink/analysis.h"
#include "hydro/shrink/atoms.h"
#include "hydro/shrink/rules.h"

namespace hydro::shrink {

namespace {

constexpr std::string_view kSymbolic = "sym.";

std::size_t at(ir::ValueId value) {
  return static_cast<std::size_t>(value);
}

std::string list_text(const std::vector<std::int64_t>& numbers) {
  std::string text = "[";
  for (const std::int64_t number : numbers) {
    text += (text.size() > 1 ? ", " : "") + std::to_string(number);
  }
  return text + "]";
}

}  // namespace

Error contradiction(const ir::Node& node, std::string what) {
  return make_error("H0307", node.describe() + ": " + std::move(what)).at(node.source.place);
}

ir::ValueId first_tensor(const ir::Graph& graph, const ir::Node& node) {
  for (const ir::ValueId value : ir::operands(node)) {
    if (graph.value(value).is_tensor()) {
      return value;
    }
  }
  HYDRO_CHECK(false, node.describe() + " reads no tensor");
}

Result<void> need_rank(const Walk& walk,
                       const ir::Node& node,
                       ir::ValueId value,
                       std::size_t least) {
  if (walk.rank(value) < least) {
    return contradiction(node,
                         "an operand has " + std::to_string(walk.rank(value)) +
                             " dimensions, at least " + std::to_string(least) + " are needed");
  }
  return {};
}

Walk::Walk(const ir::Model& model, Side side, Analysis& analysis)
    : model_(model),
      graph_(graph_of(model, side)),
      side_(side),
      analysis_(analysis),
      dims_(side == Side::kTrain ? analysis.train : analysis.eval) {
  const std::size_t count = graph_.values().size();
  dims_.tensors.resize(count);
  dims_.integers.resize(count);
  inputs_.resize(count, nullptr);
  activations_.resize(count, false);
}

const Dimensions& Walk::dims(ir::ValueId value) const {
  return dims_.tensors[at(value)];
}

const Dimension& Walk::integer_dims(ir::ValueId value) const {
  return dims_.integers[at(value)];
}

std::vector<std::int64_t> Walk::shape(ir::ValueId value) const {
  std::vector<std::int64_t> sizes;
  for (const ir::Dim& dim : graph_.value(value).tensor().shape) {
    sizes.push_back(dim.size);
  }
  return sizes;
}

void Walk::set(ir::ValueId value, Dimensions dimensions) {
  dims_.tensors[at(value)] = std::move(dimensions);
}

void Walk::set_integer(ir::ValueId value, Dimension dimension) {
  dims_.integers[at(value)] = std::move(dimension);
}

void Walk::set_outputs(const ir::Node& node, const Dimensions& dimensions) {
  for (const ir::ValueId output : node.outputs) {
    if (graph_.value(output).is_tensor()) {
      set(output, dimensions);
    }
  }
}

void Walk::unify(const ir::Node& node, const Dimension& left, const Dimension& right) {
  // What does not line up stays as it is and is listed with this reason; no error by itself.
  static_cast<void>(
      atoms().unify(left, right, "sizes that do not factor alike at " + node.describe()));
}

void Walk::unify_sizes(const ir::Node& node,
                       const Dimensions& sizes,
                       const std::vector<ir::IntItem>& items) {
  for (std::size_t i = 0; i < items.size() && i < sizes.size(); ++i) {
    const auto* value = std::get_if<ir::ValueId>(&items[i]);
    Dimension known = value == nullptr ? Dimension{} : integer_dims(*value);
    if (known.empty()) {
      continue;
    }
    // A product of numbers says nothing about which factor is the outer one.
    if (!atoms().lines_up(sizes[i], known)) {
      std::ranges::reverse(known);
    }
    if (!atoms().is_pinned(sizes[i]) || !atoms().is_pinned(known)) {
      unify(node, sizes[i], known);
    }
  }
}

void Walk::pin(const ir::Node& node, const Dimension& dimension, const std::string& what) {
  atoms().pin(dimension, what + " at " + node.describe());
}

void Walk::pin_all(const ir::Node& node, const std::string& what) {
  for (const ir::ValueId operand : ir::operands(node)) {
    for (const Dimension& dimension : dims(operand)) {
      pin(node, dimension, what);
    }
  }
  for (const ir::ValueId output : node.outputs) {
    if (!graph_.value(output).is_tensor()) {
      continue;
    }
    const Dimensions made = fresh(output);
    for (const Dimension& dimension : made) {
      pin(node, dimension, what);
    }
    set(output, made);
  }
}

Dimensions Walk::fresh(ir::ValueId value) {
  Dimensions made;
  for (const std::int64_t size : shape(value)) {
    made.push_back(atoms().add_free(size));
  }
  return made;
}

std::size_t Walk::index(std::int64_t dim, std::size_t rank) {
  const auto count = static_cast<std::int64_t>(rank);
  const std::int64_t place = dim < 0 ? dim + count : dim;
  HYDRO_CHECK(place >= 0 && place < count, "dimension " + std::to_string(dim));
  return static_cast<std::size_t>(place);
}

const ir::Input* Walk::origin(ir::ValueId value) const {
  while (graph_.value(value).producer != ir::kNoNode) {
    const ir::Node& node = graph_.node(graph_.value(value).producer);
    const RuleRow* row = find_rule(node.op);
    if (row == nullptr || row->kind != OpKind::kLayout) {
      return nullptr;
    }
    value = first_tensor(graph_, node);
  }
  return inputs_[at(value)];
}

bool Walk::is_trained(const ir::Input* input) const {
  const ir::StateEntry* entry = input == nullptr ? nullptr : model_.find_state(input->name);
  return entry != nullptr && entry->kind == ir::StateKind::kParameter;
}

bool Walk::is_weight(ir::ValueId value) const {
  const ir::Input* input = origin(value);
  return input != nullptr && input->kind == ir::InputKind::kParameter;
}

void Walk::add_product(const ir::Node& node, Product product) {
  const ir::Input* weight = origin(product.weight);
  if (weight == nullptr || weight->kind == ir::InputKind::kUser) {
    for (const Dimension& dimension : {product.fan_in, product.fan_out, product.groups}) {
      pin(node, dimension, "computed weight");
    }
    return;
  }
  for (const ir::ValueId output : node.outputs) {
    activations_[at(output)] = true;
  }
  if (!is_trained(weight)) {
    return;
  }
  const ir::Input* bias = product.bias ? origin(*product.bias) : nullptr;
  analysis_.uses.push_back({.weight = weight->name,
                            .bias = is_trained(bias) ? bias->name : "",
                            .side = side_,
                            .node = graph_.value(node.outputs.at(0)).producer,
                            .activation = std::move(product.activation),
                            .place = product.place,
                            .fan_in = std::move(product.fan_in),
                            .fan_out = std::move(product.fan_out),
                            .groups = std::move(product.groups)});
}

bool Walk::is_activation(ir::ValueId value) const {
  return activations_[at(value)];
}

void Walk::note_activations(const ir::Node& node) {
  const bool is_one = std::ranges::any_of(
      ir::operands(node), [&](ir::ValueId value) { return is_activation(value); });
  for (const ir::ValueId output : node.outputs) {
    activations_[at(output)] = activations_[at(output)] || is_one;
  }
}

void Walk::add_contraction(const ir::Node& node, Contraction::Kind kind, Dimension over) {
  const bool computed = std::ranges::any_of(ir::operands(node), [&](ir::ValueId value) {
    return graph_.value(value).is_tensor() && !is_activation(value);
  });
  if (computed) {
    pin(node, over, "computed weight");
    return;
  }
  analysis_.contractions.push_back({.side = side_,
                                    .node = graph_.value(node.outputs.at(0)).producer,
                                    .over = std::move(over),
                                    .kind = kind});
}

std::vector<std::int64_t> Walk::labelled_shape(ir::ValueId value) const {
  std::vector<std::int64_t> labelled;
  for (const Dimension& dimension : dims(value)) {
    labelled.push_back(analysis_.atoms.size(dimension));
  }
  return labelled;
}

Dimensions Walk::input_dims(const ir::Input& input) {
  const auto known = analysis_.state.find(input.name);
  const bool state =
      input.kind == ir::InputKind::kParameter || input.kind == ir::InputKind::kBuffer;
  if (state && known != analysis_.state.end()) {
    return known->second;
  }
  Dimensions fixed;
  for (const ir::Dim& dim : graph_.value(input.value).tensor().shape) {
    const std::string_view reason = input.kind == ir::InputKind::kConstant ? "constant tensor"
                                    : dim.dynamic                          ? "batch"
                                                                           : "input features";
    fixed.push_back(atoms().add_pinned(dim.size, reason));
  }
  return fixed;
}

Result<void> Walk::walk_inputs() {
  for (const ir::Input& input : graph_.inputs) {
    if (!graph_.value(input.value).is_tensor()) {
      continue;
    }
    inputs_[at(input.value)] = &input;
    activations_[at(input.value)] = input.kind == ir::InputKind::kUser;
    set(input.value, input_dims(input));
    const std::vector<std::int64_t> labelled = labelled_shape(input.value);
    if (labelled != shape(input.value)) {
      return make_error("H0307",
                        "input `" + input.name + "` is " + list_text(shape(input.value)) +
                            " in a graph and " + list_text(labelled) + " in the state");
    }
  }
  return {};
}

void Walk::walk_outputs() {
  for (const ir::Output& output : graph_.outputs) {
    if (!graph_.value(output.value).is_tensor()) {
      continue;
    }
    const Dimensions& found = dims(output.value);
    const auto state = analysis_.state.find(output.name);
    for (std::size_t i = 0; i < found.size(); ++i) {
      if (output.kind == ir::OutputKind::kUser) {
        atoms().pin_above_all(found[i], "user output");
      } else if (state != analysis_.state.end() && i < state->second.size()) {
        static_cast<void>(
            atoms().unify(found[i], state->second[i], "next value of `" + output.name + "`"));
      }
    }
  }
}

void Walk::walk_integer(const ir::Node& node) {
  // A product of sizes keeps its factors; any other arithmetic is only right while its operands
  // keep theirs.
  Dimension factors;
  bool known = node.op == "sym.mul";
  for (const ir::NamedArgument& argument : node.arguments) {
    Dimension part;
    if (const auto* value = std::get_if<ir::ValueId>(&argument.value)) {
      part = integer_dims(*value);
    } else if (const auto* number = std::get_if<std::int64_t>(&argument.value)) {
      part = *number > 1 ? atoms().add_free(*number) : Dimension{};
    }
    known = known && !part.empty();
    factors.insert(factors.end(), part.begin(), part.end());
  }
  if (!known) {
    pin(node, factors, "integer arithmetic");
    factors.clear();
  }
  for (const ir::ValueId output : node.outputs) {
    set_integer(output, factors);
  }
}

Result<void> Walk::check_outputs(const ir::Node& node) const {
  for (const ir::ValueId output : node.outputs) {
    if (!graph_.value(output).is_tensor()) {
      continue;
    }
    const std::vector<std::int64_t> labelled = labelled_shape(output);
    if (labelled != shape(output)) {
      return contradiction(node,
                           "gives " + list_text(shape(output)) + " where its operands mean " +
                               list_text(labelled));
    }
  }
  return {};
}

Result<void> Walk::walk_node(const ir::Node& node) {
  if (node.op.starts_with(kSymbolic)) {
    walk_integer(node);
    return {};
  }
  const RuleRow* row = find_rule(node.op);
  if (row == nullptr) {
    pin_all(node, "no width rule");
    return {};
  }
  HYDRO_TRY_VOID(row->rule(*this, node));
  return check_outputs(node);
}

Result<void> Walk::run() {
  HYDRO_TRY_VOID(walk_inputs());
  for (const ir::Node& node : graph_.nodes()) {
    HYDRO_TRY_VOID(walk_node(node));
    note_activations(node);
  }
  walk_outputs();
  return {};
}

}  // namespace hydro::shrink
