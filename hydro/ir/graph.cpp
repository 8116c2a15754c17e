#include "hydro/ir/graph.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "hydro/base/result.h"

namespace hydro::ir {

namespace {

std::size_t index_of(ValueId id) {
  return static_cast<std::size_t>(id);
}

std::size_t index_of(NodeId id) {
  return static_cast<std::size_t>(id);
}

// Calls `visit` on every ValueId slot of an argument.
template <class Arg, class Visit>
void for_each_value(Arg& argument, const Visit& visit) {
  if (auto* one = std::get_if<ValueId>(&argument)) {
    visit(*one);
  } else if (auto* items = std::get_if<std::vector<IntItem>>(&argument)) {
    for (auto& item : *items) {
      if (auto* value = std::get_if<ValueId>(&item)) {
        visit(*value);
      }
    }
  } else if (auto* list = std::get_if<std::vector<ValueId>>(&argument)) {
    std::ranges::for_each(*list, std::ref(visit));
  } else if (auto* optional = std::get_if<std::vector<std::optional<ValueId>>>(&argument)) {
    for (auto& value : *optional) {
      if (value) {
        visit(*value);
      }
    }
  }
}

}  // namespace

const TensorType& Value::tensor() const {
  HYDRO_CHECK(is_tensor(), "value " + name + " is no tensor");
  return std::get<TensorType>(type);
}

TensorType& Value::tensor() {
  HYDRO_CHECK(is_tensor(), "value " + name + " is no tensor");
  return std::get<TensorType>(type);
}

ValueId Graph::add_value(std::string name, Type type) {
  const ValueId id{value_count()};
  std::string unique = unique_name(std::move(name));
  names_.insert(unique);
  values_.push_back({.name = std::move(unique), .type = std::move(type), .producer = kNoNode});
  return id;
}

ValueId Graph::add_input(InputKind kind, std::string name, std::string value_name, Type type) {
  const ValueId id = add_value(std::move(value_name), std::move(type));
  inputs.push_back({.kind = kind, .name = std::move(name), .value = id});
  return id;
}

NodeId Graph::add_node(Node node,
                       std::span<const std::string> output_names,
                       std::span<const Type> output_types) {
  HYDRO_CHECK(output_names.size() == output_types.size(), node.op);
  const NodeId id{node_count()};
  node.outputs.clear();
  for (std::size_t i = 0; i < output_names.size(); ++i) {
    const ValueId output = add_value(output_names[i], output_types[i]);
    values_[index_of(output)].producer = id;
    node.outputs.push_back(output);
  }
  nodes_.push_back(std::move(node));
  return id;
}

const Value& Graph::value(ValueId id) const {
  HYDRO_CHECK(index_of(id) < values_.size(), "value " + std::to_string(index_of(id)));
  return values_[index_of(id)];
}

Value& Graph::value(ValueId id) {
  HYDRO_CHECK(index_of(id) < values_.size(), "value " + std::to_string(index_of(id)));
  return values_[index_of(id)];
}

const Node& Graph::node(NodeId id) const {
  HYDRO_CHECK(index_of(id) < nodes_.size(), "node " + std::to_string(index_of(id)));
  return nodes_[index_of(id)];
}

Node& Graph::node(NodeId id) {
  HYDRO_CHECK(index_of(id) < nodes_.size(), "node " + std::to_string(index_of(id)));
  return nodes_[index_of(id)];
}

const Input* Graph::find_input(std::string_view name) const {
  const auto found = std::ranges::find(inputs, name, &Input::name);
  return found == inputs.end() ? nullptr : &*found;
}

void Graph::set_nodes(std::vector<Node> nodes) {
  nodes_ = std::move(nodes);
  for (Value& value : values_) {
    value.producer = kNoNode;
  }
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    for (const ValueId output : nodes_[i].outputs) {
      value(output).producer = NodeId{static_cast<std::int32_t>(i)};
    }
  }
}

void Graph::compact() {
  std::vector<bool> kept(values_.size(), false);
  const auto keep = [&](ValueId id) { kept.at(index_of(id)) = true; };
  for (const Input& input : inputs) {
    keep(input.value);
  }
  for (const Node& node : nodes_) {
    std::ranges::for_each(operands(node), keep);
    std::ranges::for_each(node.outputs, keep);
  }
  for (const Output& output : outputs) {
    keep(output.value);
  }
  std::vector<ValueId> renamed(values_.size());
  std::vector<Value> values;
  names_.clear();
  for (std::size_t i = 0; i < values_.size(); ++i) {
    if (kept[i]) {
      renamed[i] = ValueId{static_cast<std::int32_t>(values.size())};
      names_.insert(values_[i].name);
      values.push_back(std::move(values_[i]));
    }
  }
  values_ = std::move(values);
  for (Input& input : inputs) {
    input.value = renamed[index_of(input.value)];
  }
  for (Node& node : nodes_) {
    rename_operands(node, renamed);
    for (ValueId& output : node.outputs) {
      output = renamed[index_of(output)];
    }
  }
  for (Output& output : outputs) {
    output.value = renamed[index_of(output.value)];
  }
}

std::string Graph::unique_name(std::string wanted) const {
  if (!names_.contains(wanted)) {
    return wanted;
  }
  for (std::int64_t suffix = 1;; ++suffix) {
    std::string candidate = wanted + "_" + std::to_string(suffix);
    if (!names_.contains(candidate)) {
      return candidate;
    }
  }
}

std::vector<ValueId> operands(const Node& node) {
  std::vector<ValueId> result;
  for (const NamedArgument& argument : node.arguments) {
    for_each_value(argument.value, [&](ValueId id) { result.push_back(id); });
  }
  return result;
}

void rename_operands(Node& node, const std::vector<ValueId>& renamed) {
  for (NamedArgument& argument : node.arguments) {
    for_each_value(argument.value, [&](ValueId& id) { id = renamed.at(index_of(id)); });
  }
}

std::vector<std::vector<NodeId>> users(const Graph& graph) {
  std::vector<std::vector<NodeId>> result(graph.values().size());
  for (std::int32_t i = 0; i < graph.node_count(); ++i) {
    for (const ValueId operand : operands(graph.node(NodeId{i}))) {
      auto& readers = result.at(index_of(operand));
      if (readers.empty() || readers.back() != NodeId{i}) {
        readers.push_back(NodeId{i});
      }
    }
  }
  return result;
}

}  // namespace hydro::ir
