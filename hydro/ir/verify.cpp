// Checks that a graph is what graph.h promises: passes run it after themselves, readers before
// they answer.
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/ir/graph.h"

namespace hydro::ir {

namespace {

Error broken(const Node& node, const std::string& what) {
  return make_error("H0258", what + " at " + node.op).at(node.describe());
}

Error broken(const std::string& what) {
  return make_error("H0258", what);
}

// Knows which values are defined so far.
class Verifier {
 public:
  Verifier(const Graph& graph, Purity purity)
      : graph_(graph), purity_(purity), defined_(graph.values().size(), false) {}

  Result<void> run() {
    HYDRO_TRY_VOID(check_names());
    HYDRO_TRY_VOID(check_inputs());
    for (std::int32_t i = 0; i < graph_.node_count(); ++i) {
      HYDRO_TRY_VOID(check_node(NodeId{i}));
    }
    return check_outputs();
  }

 private:
  bool known(ValueId id) const { return static_cast<std::size_t>(id) < defined_.size(); }

  bool defined(ValueId id) const { return known(id) && defined_[static_cast<std::size_t>(id)]; }

  Result<void> check_names() const {
    std::set<std::string_view> names;
    for (const Value& value : graph_.values()) {
      if (value.name.empty() || !names.insert(value.name).second) {
        return broken("value name `" + value.name + "` is empty or used twice");
      }
      if (!value.is_tensor()) {
        continue;
      }
      for (const Dim& dim : value.tensor().shape) {
        if (dim.size < 0) {
          return broken("value `" + value.name + "` has a negative size");
        }
      }
    }
    return {};
  }

  Result<void> check_inputs() {
    std::set<std::string_view> names;
    for (const Input& input : graph_.inputs) {
      if (!names.insert(input.name).second) {
        return broken("input `" + input.name + "` is given twice");
      }
      HYDRO_TRY_VOID(define(input.value, kNoNode, "input `" + input.name + "`"));
      if (input.kind != InputKind::kUser && !graph_.value(input.value).is_tensor()) {
        return broken("input `" + input.name + "` is no tensor");
      }
    }
    return {};
  }

  Result<void> define(ValueId id, NodeId producer, const std::string& who) {
    if (!known(id)) {
      return broken(who + " names a value that does not exist");
    }
    if (defined(id)) {
      return broken("value `" + graph_.value(id).name + "` is defined twice, second by " + who);
    }
    if (graph_.value(id).producer != producer) {
      return broken("value `" + graph_.value(id).name + "` has another producer than " + who);
    }
    defined_[static_cast<std::size_t>(id)] = true;
    return {};
  }

  Result<void> check_node(NodeId id) {
    const Node& node = graph_.node(id);
    if (node.op.empty()) {
      return broken(node, "an op without a name");
    }
    if (purity_ == Purity::kPure && mutates(node.op)) {
      return broken(node, "a mutation is left");
    }
    for (const NamedArgument& argument : node.arguments) {
      HYDRO_TRY_VOID(check_argument(node, argument));
    }
    for (const ValueId output : node.outputs) {
      HYDRO_TRY_VOID(define(output, id, node.describe()));
    }
    return {};
  }

  Result<void> check_argument(const Node& node, const NamedArgument& argument) const {
    for (const ValueId operand :
         operands({.op = {}, .arguments = {argument}, .outputs = {}, .source = {}})) {
      if (!defined(operand)) {
        return broken(node, "argument `" + argument.name + "` is used before it is defined");
      }
    }
    if (const auto* items = std::get_if<std::vector<IntItem>>(&argument.value)) {
      for (const IntItem& item : *items) {
        const auto* value = std::get_if<ValueId>(&item);
        if (value != nullptr && graph_.value(*value).is_tensor()) {
          return broken(node, "list `" + argument.name + "` holds a tensor among integers");
        }
      }
    }
    return {};
  }

  Result<void> check_outputs() const {
    std::set<std::string_view> buffers;
    for (const Output& output : graph_.outputs) {
      if (!defined(output.value)) {
        return broken("output `" + output.name + "` is not defined");
      }
      if (output.kind == OutputKind::kUser) {
        continue;
      }
      const Input* input = graph_.find_input(output.name);
      if (input == nullptr || input->kind != InputKind::kBuffer) {
        return broken("output `" + output.name + "` names no buffer input");
      }
      if (graph_.value(input->value).type != graph_.value(output.value).type) {
        return broken("buffer `" + output.name + "` changes its type");
      }
      if (!buffers.insert(output.name).second) {
        return broken("buffer `" + output.name + "` has two next values");
      }
    }
    return {};
  }

  const Graph& graph_;
  Purity purity_;
  std::vector<bool> defined_;
};

}  // namespace

bool mutates(std::string_view op) {
  // "aten.add_.Tensor": an ATen name that ends in one '_' writes into its first argument
  // ("__and__" does not).
  if (!op.starts_with("aten.")) {
    return false;
  }
  const std::string_view name = op.substr(5, op.find('.', 5) - 5);
  return name.ends_with('_') && !name.ends_with("__");
}

Result<void> verify(const Graph& graph, Purity purity) {
  return Verifier(graph, purity).run();
}

}  // namespace hydro::ir
