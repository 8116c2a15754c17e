// Cuts a graph to one user output. A buffer's update stays only when its module takes part in
// that output: the auxiliary head that nobody trains keeps no statistics.
#include <algorithm>
#include <cstddef>
#include <iterator>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/base/text.h"
#include "hydro/ir/graph.h"
#include "hydro/ir/passes.h"
#include "hydro/ir/rewire.h"

namespace hydro::ir {

namespace {

Error no_such_output(const Graph& graph, const std::string& wanted) {
  std::vector<std::string> names;
  for (const Output& output : graph.outputs) {
    if (output.kind == OutputKind::kUser) {
      names.push_back(output.name);
    }
  }
  return make_error("H0247", "the model has no output `" + wanted + "`")
      .because("its outputs are " + join(names, ", "));
}

// The modules whose nodes the user output needs.
std::set<std::string> live_modules(const Graph& graph, const std::vector<bool>& needed) {
  std::set<std::string> modules;
  for (const Node& node : graph.nodes()) {
    for (const ValueId output : node.outputs) {
      if (needed.at(static_cast<std::size_t>(output))) {
        modules.insert(node.source.module);
      }
    }
  }
  return modules;
}

}  // namespace

Result<void> select_output(Graph& graph, const PassContext& context) {
  if (context.output.empty()) {
    return {};
  }
  const auto is_selected = [&](const Output& output) {
    return output.kind == OutputKind::kUser && output.name == context.output;
  };
  const auto selected = std::ranges::find_if(graph.outputs, is_selected);
  if (selected == graph.outputs.end()) {
    return no_such_output(graph, context.output);
  }
  const std::set<std::string> modules =
      live_modules(graph, needed_values(graph, {selected->value}));
  const auto is_live = [&](const Output& output) {
    const NodeId producer = graph.value(output.value).producer;
    return output.kind == OutputKind::kBuffer && producer != kNoNode &&
           modules.contains(graph.node(producer).source.module);
  };
  std::vector<Output> kept = {*selected};
  std::ranges::copy_if(graph.outputs, std::back_inserter(kept), is_live);
  graph.outputs = std::move(kept);
  return {};
}

}  // namespace hydro::ir
