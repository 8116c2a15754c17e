// Writes every argument of an op's schema into its node: given ones in the schema's form,
// absent ones by default.
#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/ir/graph.h"
#include "hydro/ir/known_arguments.h"
#include "hydro/ir/passes.h"
#include "hydro/ir/schema.h"

namespace hydro::ir {

namespace {

Result<std::vector<NamedArgument>> complete(const Node& node, const OpSchema& schema) {
  std::vector<NamedArgument> arguments;
  for (const SchemaArgument& wanted : schema.arguments) {
    if (wanted.kind == SchemaKind::kDropped) {
      continue;
    }
    if (const Argument* given = node.find_argument(wanted.name)) {
      arguments.push_back({.name = wanted.name, .value = normalized(*given, wanted)});
    } else if (wanted.fallback) {
      arguments.push_back({.name = wanted.name, .value = *wanted.fallback});
    } else {
      return make_error("H0250", "argument `" + wanted.name + "` of " + node.op + " is missing")
          .at(node.describe());
    }
  }
  return arguments;
}

Result<void> check_known(const Node& node, const OpSchema& schema) {
  for (const NamedArgument& given : node.arguments) {
    const auto known = std::ranges::find(schema.arguments, given.name, &SchemaArgument::name);
    if (known == schema.arguments.end()) {
      return make_error("H0250", node.op + " has no argument `" + given.name + "`")
          .at(node.describe());
    }
  }
  for (const SchemaArgument& argument : schema.arguments) {
    if (argument.mutated && !mutates(node.op)) {
      return make_error("H0252", node.op + " writes into its argument `" + argument.name + "`")
          .at(node.describe());
    }
  }
  return {};
}

}  // namespace

Result<void> fill_defaults(Graph& graph, const PassContext& context) {
  for (std::int32_t i = 0; i < graph.node_count(); ++i) {
    Node& node = graph.node(NodeId{i});
    if (node.op.starts_with("sym.") || node.op.starts_with("hydro.")) {
      continue;
    }
    const auto schema = context.schemas.find(node.op);
    if (schema == context.schemas.end()) {
      return make_error("H0250", "the manifest has no schema of " + node.op)
          .at(node.describe());
    }
    HYDRO_TRY_VOID(check_known(node, schema->second));
    HYDRO_TRY(node.arguments, complete(node, schema->second));
    HYDRO_TRY_VOID(check_known_arguments(graph, node));
  }
  return {};
}

}  // namespace hydro::ir
