#include "hydro/pt2/exported_graph.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hydro/base/json.h"
#include "hydro/base/result.h"
#include "hydro/base/text.h"
#include "hydro/ir/graph.h"
#include "hydro/ir/token.h"
#include "hydro/pt2/argument.h"
#include "hydro/pt2/field.h"
#include "hydro/pt2/place.h"
#include "hydro/pt2/tensor_meta.h"

namespace hydro::pt2 {

namespace {

constexpr std::int64_t kSchemaMajor = 8;

// Checks on sizes and conditions: the conditions that they read have no place in a graph.
constexpr std::array<std::string_view, 5> kChecks = {
    "aten._assert_scalar.default",
    "aten.sym_constrain_range.default",
    "aten.sym_constrain_range_for_size.default",
    "aten._assert_async.default",
    "aten._assert_async.msg"};

// A value's name in the text form's letters.
std::string value_name(std::string_view exported) {
  std::string name(exported);
  for (char& letter : name) {
    letter = ir::is_word_letter(letter) ? letter : '_';
  }
  return name.empty() ? "value" : name;
}

// "torch.ops.aten.relu.default" is aten.relu.default, "_operator.mul" is sym.mul.
Result<std::string> op_name(const std::string& target) {
  constexpr std::string_view kOps = "torch.ops.";
  constexpr std::string_view kOperator = "_operator.";
  const bool is_word = std::ranges::all_of(target, ir::is_word_letter);
  if (is_word && target.starts_with("torch.ops.higher_order.")) {
    return make_error("H0245", "higher-order op `" + target.substr(kOps.size()) + "`");
  }
  // The namespaces hydro and sym are ours: only passes and the reader itself write them.
  const bool is_ours =
      target.starts_with("torch.ops.hydro.") || target.starts_with("torch.ops.sym.");
  if (is_word && !is_ours && target.starts_with(kOps)) {
    return target.substr(kOps.size());
  }
  if (is_word && target.starts_with(kOperator)) {
    return "sym." + target.substr(kOperator.size());
  }
  return make_error("H0244",
                    "call target `" + printable(target.substr(0, 80)) + "` is not known");
}

class GraphReader {
 public:
  GraphReader(Field program, const GraphEnds& ends)
      : program_(std::move(program)), ends_(ends) {}

  Result<ir::Graph> run() {
    HYDRO_TRY_VOID(check_version());
    HYDRO_TRY(const Field module, program_.at("graph_module"));
    HYDRO_TRY(const Field body, module.at("graph"));
    HYDRO_TRY(const Field signature, module.at("signature"));
    HYDRO_TRY(const Field tensors, body.at("tensor_values"));
    HYDRO_TRY(const Field integers, body.at("sym_int_values"));
    tensors_ = tensors;
    integers_ = integers;
    HYDRO_TRY_VOID(read_inputs(signature));
    HYDRO_TRY_VOID(read_nodes(body));
    HYDRO_TRY_VOID(read_outputs(signature));
    return std::move(graph_);
  }

 private:
  Result<void> check_version() const {
    HYDRO_TRY(const Field version, program_.at("schema_version"));
    HYDRO_TRY(const std::int64_t major, version.integer("major"));
    if (major != kSchemaMajor) {
      return make_error("H0241", "graph schema version " + std::to_string(major) + " is not 8")
          .at(program_.where());
    }
    return {};
  }

  // ---- values ----

  /// Requires: read before the nodes
  static const Field& part(const std::optional<Field>& part) {
    HYDRO_CHECK(part.has_value(), "the graph's values are not read yet");
    return *part;
  }

  Result<ir::ValueId> define(const std::string& name, ir::Type type, const Field& field) {
    if (values_.contains(name)) {
      return make_error("H0243",
                        "value `" + printable(name.substr(0, 80)) + "` is defined twice")
          .at(field.where());
    }
    const ir::ValueId id = graph_.add_value(value_name(name), std::move(type));
    values_.emplace(name, id);
    return id;
  }

  Result<ir::ValueId> define_tensor(const Field& tensor) {
    HYDRO_TRY(const std::string name, tensor.text("name"));
    HYDRO_TRY(const Field meta, part(tensors_).at(name));
    HYDRO_TRY(ir::TensorType type, read_tensor_type(meta));
    return define(name, std::move(type), tensor);
  }

  Result<ir::ValueId> define_integer(const Field& integer) {
    HYDRO_TRY(const std::string name, integer.text("as_name"));
    HYDRO_TRY(const Field size, part(integers_).at(name));
    HYDRO_TRY(const ir::Dim dim, read_size(size));
    return define(name, ir::IntType{.hint = dim.size}, integer);
  }

  // ---- inputs ----

  Result<void> read_inputs(const Field& signature) {
    HYDRO_TRY(const std::vector<Field> specs, signature.items("input_specs"));
    std::size_t user_inputs = 0;
    for (const Field& spec : specs) {
      HYDRO_TRY(const auto member, spec.only_member());
      if (member.first == "user_input") {
        HYDRO_TRY_VOID(read_user_input(member.second, user_inputs));
      } else {
        HYDRO_TRY_VOID(read_state_input(member.first, member.second));
      }
    }
    if (user_inputs != ends_.inputs.size()) {
      return make_error("H0253",
                        "the graph has " + std::to_string(user_inputs) +
                            " tensor inputs and the manifest " +
                            std::to_string(ends_.inputs.size()))
          .at(program_.where());
    }
    return {};
  }

  // Forward arguments that are no tensors are baked into the graph.
  Result<void> read_user_input(const Field& input, std::size_t& count) {
    HYDRO_TRY(const Field argument, input.at("arg"));
    HYDRO_TRY(const auto member, argument.only_member());
    if (member.first != "as_tensor") {
      return {};
    }
    if (count >= ends_.inputs.size()) {
      return make_error("H0253", "the graph has more tensor inputs than the manifest")
          .at(input.where());
    }
    HYDRO_TRY(const ir::ValueId value, define_tensor(member.second));
    graph_.inputs.push_back(
        {.kind = ir::InputKind::kUser, .name = ends_.inputs[count], .value = value});
    ++count;
    return {};
  }

  struct StateRow {
    std::string_view tag;
    ir::InputKind kind;
    std::string_view name_field;
  };

  Result<void> read_state_input(const std::string& tag, const Field& input) {
    constexpr std::array kRows = {
        StateRow{.tag = "parameter",
                 .kind = ir::InputKind::kParameter,
                 .name_field = "parameter_name"},
        StateRow{.tag = "buffer", .kind = ir::InputKind::kBuffer, .name_field = "buffer_name"},
        StateRow{.tag = "tensor_constant",
                 .kind = ir::InputKind::kConstant,
                 .name_field = "tensor_constant_name"},
    };
    if (tag == "constant_input") {
      return {};
    }
    if (tag == "custom_obj") {
      return make_error("H0237", "the graph takes a script object").at(input.where());
    }
    const auto* row = std::ranges::find(kRows, tag, &StateRow::tag);
    if (row == kRows.end()) {
      return make_error("H0244",
                        "input kind `" + printable(tag.substr(0, 80)) + "` is not known")
          .at(input.where());
    }
    HYDRO_TRY(const Field argument, input.at("arg"));
    HYDRO_TRY(std::string name, input.text(row->name_field));
    HYDRO_TRY(const ir::ValueId value, define_tensor(argument));
    graph_.inputs.push_back({.kind = row->kind, .name = std::move(name), .value = value});
    return {};
  }

  // ---- nodes ----

  Result<void> read_nodes(const Field& body) {
    HYDRO_TRY(const std::vector<Field> fields, body.items("nodes"));
    std::vector<ir::Node> nodes;
    for (std::size_t i = 0; i < fields.size(); ++i) {
      HYDRO_TRY(std::optional<ir::Node> node, read_node(fields[i]));
      if (node) {
        node->position = static_cast<std::int64_t>(i);
        nodes.push_back(*std::move(node));
      }
    }
    graph_.set_nodes(std::move(nodes));
    return {};
  }

  static ir::Source source_of(const Field& node) {
    const Json& metadata =
        node.json().contains("metadata") ? node.json()["metadata"] : node.json();
    const auto text = [&](const char* key) {
      return metadata.is_object() && metadata.contains(key) && metadata[key].is_string()
                 ? metadata[key].get<std::string>()
                 : std::string();
    };
    return {.place = printable(user_place(text("stack_trace"))),
            .module = owning_module(text("nn_module_stack"))};
  }

  // Any error below speaks of this node in the user's words.
  static Error located(Error error, const ir::Node& node, const std::string& target) {
    const std::string reader_place = error.where;
    if (error.why.empty() && !reader_place.empty()) {
      error.why = "in the archive at " + reader_place;
    }
    ir::Node named = node;
    named.op = node.op.empty() ? printable(target.substr(0, 80)) : node.op;
    error.where = named.describe();
    return error;
  }

  // Empty for what is left out: checks, and conditions computed from sizes.
  Result<std::optional<ir::Node>> read_node(const Field& field) {
    HYDRO_TRY(const std::string target, field.text("target"));
    ir::Node node;
    node.source = source_of(field);
    Result<std::string> op = op_name(target);
    if (!op) {
      return located(std::move(op).error(), node, target);
    }
    node.op = *std::move(op);
    HYDRO_TRY(const std::vector<Field> outputs, field.items("outputs"));
    const bool gives_condition = std::ranges::any_of(outputs, [](const Field& output) {
      return output.has("as_sym_bool") || output.has("as_sym_float");
    });
    if (gives_condition || std::ranges::find(kChecks, node.op) != kChecks.end()) {
      return std::optional<ir::Node>();
    }
    if (Result<void> read = read_arguments(field, node); !read) {
      return located(std::move(read).error(), node, target);
    }
    for (const Field& output : outputs) {
      if (Result<void> read = read_output(output, node); !read) {
        return located(std::move(read).error(), node, target);
      }
    }
    return std::optional(std::move(node));
  }

  Result<void> read_arguments(const Field& field, ir::Node& node) {
    HYDRO_TRY(const std::vector<Field> inputs, field.items("inputs"));
    for (const Field& input : inputs) {
      HYDRO_TRY(std::string name, input.text("name"));
      HYDRO_TRY(const Field argument, input.at("arg"));
      HYDRO_TRY(std::optional<ir::Argument> value, read_argument(argument, values_));
      if (node.find_argument(name) != nullptr) {
        return make_error("H0243",
                          "argument `" + printable(name.substr(0, 80)) + "` is given twice")
            .at(input.where());
      }
      if (value) {
        node.arguments.push_back({.name = std::move(name), .value = *std::move(value)});
      }
    }
    return {};
  }

  Result<void> read_output(const Field& output, ir::Node& node) {
    HYDRO_TRY(const auto member, output.only_member());
    if (member.first == "as_tensor") {
      HYDRO_TRY(const ir::ValueId value, define_tensor(member.second));
      node.outputs.push_back(value);
    } else if (member.first == "as_sym_int") {
      HYDRO_TRY(const ir::ValueId value, define_integer(member.second));
      node.outputs.push_back(value);
    } else if (member.first == "as_tensors") {
      HYDRO_TRY(const std::vector<Field> tensors, member.second.items());
      for (const Field& tensor : tensors) {
        HYDRO_TRY(const ir::ValueId value, define_tensor(tensor));
        node.outputs.push_back(value);
      }
    } else if (member.first != "as_none") {
      return make_error(
                 "H0244",
                 "output kind `" + printable(member.first.substr(0, 80)) + "` is not known")
          .at(output.where());
    }
    return {};
  }

  // ---- outputs ----

  Result<void> read_outputs(const Field& signature) {
    HYDRO_TRY(const std::vector<Field> specs, signature.items("output_specs"));
    std::size_t index = 0;
    for (const Field& spec : specs) {
      HYDRO_TRY(const auto member, spec.only_member());
      if (member.first == "user_output" || member.first == "loss_output") {
        HYDRO_TRY_VOID(read_user_output(member.second, index));
        ++index;
      } else if (member.first == "buffer_mutation") {
        HYDRO_TRY(std::string name, member.second.text("buffer_name"));
        HYDRO_TRY(const Field argument, member.second.at("arg"));
        HYDRO_TRY(const ir::ValueId value, named_tensor(argument));
        graph_.outputs.push_back(
            {.kind = ir::OutputKind::kBuffer, .name = std::move(name), .value = value});
      } else {
        return make_error(
                   "H0244",
                   "output kind `" + printable(member.first.substr(0, 80)) + "` is not known")
            .at(spec.where());
      }
    }
    return {};
  }

  Result<ir::ValueId> named_tensor(const Field& tensor) const {
    HYDRO_TRY(const std::string name, tensor.text("name"));
    const auto found = values_.find(name);
    return found == values_.end() ? Result<ir::ValueId>(tensor.wrong("a value of the graph"))
                                  : found->second;
  }

  Result<void> read_user_output(const Field& output, std::size_t index) {
    const bool is_named = index < ends_.outputs.size() && !ends_.outputs[index].empty();
    if (!is_named) {
      return {};
    }
    HYDRO_TRY(Field argument, output.at("arg"));
    if (argument.has("as_tensor")) {
      HYDRO_TRY(argument, argument.at("as_tensor"));
    }
    HYDRO_TRY(const ir::ValueId value, named_tensor(argument));
    graph_.outputs.push_back(
        {.kind = ir::OutputKind::kUser, .name = ends_.outputs[index], .value = value});
    return {};
  }

  Field program_;
  const GraphEnds& ends_;
  std::optional<Field> tensors_;
  std::optional<Field> integers_;
  ir::Graph graph_;
  ValueNames values_;
};

}  // namespace

Result<ir::Graph> read_exported_graph(const Json& program,
                                      const std::string& where,
                                      const GraphEnds& ends) {
  return GraphReader(Field(program, where), ends).run();
}

}  // namespace hydro::pt2
