// Writes a graph's text form; parse.cpp reads it back.
#include "hydro/base/text.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "hydro/ir/graph.h"
#include "hydro/ir/token.h"

namespace hydro::ir {

namespace {

std::string reference(const Graph& graph, ValueId id) {
  return "%" + graph.value(id).name;
}

std::string type_text(const Type& type) {
  if (const auto* integer = std::get_if<IntType>(&type)) {
    return "int(" + std::to_string(integer->hint) + ")";
  }
  const auto& tensor = std::get<TensorType>(type);
  std::vector<std::string> dims;
  dims.reserve(tensor.shape.size());
  for (const Dim& dim : tensor.shape) {
    dims.push_back((dim.dynamic ? "~" : "") + std::to_string(dim.size));
  }
  return std::string(dtype_name(tensor.dtype)) + "[" + join(dims, ", ") + "]";
}

std::string list_text(std::string_view prefix, const std::vector<std::string>& items) {
  return std::string(prefix) + "[" + join(items, ", ") + "]";
}

struct ArgumentWriter {
  const Graph& graph;

  std::string operator()(const None&) const { return "None"; }

  std::string operator()(bool value) const { return value ? "True" : "False"; }

  std::string operator()(std::int64_t value) const { return std::to_string(value); }

  std::string operator()(double value) const { return shortest(value); }

  std::string operator()(const std::string& value) const { return quote(value); }

  std::string operator()(DType value) const { return std::string(dtype_name(value)); }

  std::string operator()(ValueId value) const { return reference(graph, value); }

  std::string operator()(const std::vector<IntItem>& items) const {
    std::vector<std::string> texts;
    for (const IntItem& item : items) {
      const auto* constant = std::get_if<std::int64_t>(&item);
      texts.push_back(constant != nullptr ? std::to_string(*constant)
                                          : reference(graph, std::get<ValueId>(item)));
    }
    return list_text("", texts);
  }

  std::string operator()(const std::vector<double>& items) const {
    std::vector<std::string> texts;
    texts.reserve(items.size());
    for (const double item : items) {
      texts.push_back(shortest(item));
    }
    return list_text(items.empty() ? "floats" : "", texts);
  }

  std::string operator()(const std::vector<bool>& items) const {
    std::vector<std::string> texts;
    texts.reserve(items.size());
    for (const bool item : items) {
      texts.emplace_back(item ? "True" : "False");
    }
    return list_text(items.empty() ? "bools" : "", texts);
  }

  std::string operator()(const std::vector<ValueId>& items) const {
    std::vector<std::string> texts;
    texts.reserve(items.size());
    for (const ValueId item : items) {
      texts.push_back(reference(graph, item));
    }
    return list_text(items.empty() ? "tensors" : "", texts);
  }

  std::string operator()(const std::vector<std::optional<ValueId>>& items) const {
    std::vector<std::string> texts;
    bool has_none = false;
    for (const std::optional<ValueId>& item : items) {
      texts.push_back(item ? reference(graph, *item) : "None");
      has_none = has_none || !item;
    }
    return list_text(has_none ? "" : "optionals", texts);
  }
};

std::string node_text(const Graph& graph, const Node& node, std::int64_t expected_position) {
  std::vector<std::string> outputs;
  outputs.reserve(node.outputs.size());
  for (const ValueId output : node.outputs) {
    outputs.push_back(reference(graph, output) + ": " + type_text(graph.value(output).type));
  }
  std::vector<std::string> arguments;
  arguments.reserve(node.arguments.size());
  for (const NamedArgument& argument : node.arguments) {
    arguments.push_back(argument.name + "=" +
                        std::visit(ArgumentWriter{graph}, argument.value));
  }
  std::string line = "  " + join(outputs, ", ") + (outputs.empty() ? "" : " = ") + node.op +
                     "(" + join(arguments, ", ") + ")";
  line += node.constant ? " constant" : "";
  if (node.position != expected_position) {
    line += " @" + std::to_string(node.position);
  }
  if (!node.source.place.empty()) {
    line += "  # " + printable(node.source.place);
  }
  return line + "\n";
}

}  // namespace

std::string to_text(const Graph& graph) {
  std::string text = "graph {\n";
  for (const Input& input : graph.inputs) {
    const Value& value = graph.value(input.value);
    text += "  input " + std::string(input_kind_name(input.kind)) + " " +
            name_text(input.name) + " %" + value.name + ": " + type_text(value.type) + "\n";
  }
  std::int64_t position = 0;
  for (const Node& node : graph.nodes()) {
    text += node_text(graph, node, position);
    position = node.position + 1;
  }
  for (const Output& output : graph.outputs) {
    text += "  output " + std::string(output_kind_name(output.kind)) + " " +
            name_text(output.name) + " " + reference(graph, output.value) + "\n";
  }
  return text + "}\n";
}

}  // namespace hydro::ir
