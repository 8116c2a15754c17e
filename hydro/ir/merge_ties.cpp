// Tied parameters: one storage under several state-dict names. The graph keeps the name that
// holds the storage.
#include <cstddef>
#include <utility>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/ir/graph.h"
#include "hydro/ir/passes.h"
#include "hydro/ir/rewire.h"

namespace hydro::ir {

namespace {

bool is_tied(const Input& input, const PassContext& context) {
  return input.kind != InputKind::kUser && context.ties.contains(input.name);
}

}  // namespace

Result<void> merge_ties(Graph& graph, const PassContext& context) {
  // Where only a tied name reached the graph, it takes the holder's name.
  for (Input& input : graph.inputs) {
    if (is_tied(input, context) && graph.find_input(context.ties.at(input.name)) == nullptr) {
      input.name = context.ties.at(input.name);
    }
  }
  std::vector<ValueId> renamed = identity_renaming(graph);
  std::vector<Input> kept;
  for (const Input& input : graph.inputs) {
    if (!is_tied(input, context)) {
      kept.push_back(input);
      continue;
    }
    const Input& holder = *graph.find_input(context.ties.at(input.name));
    if (graph.value(holder.value).type != graph.value(input.value).type) {
      return make_error(
          "H0253",
          "`" + input.name + "` is tied to `" + holder.name + "` but has another type");
    }
    renamed.at(static_cast<std::size_t>(input.value)) = holder.value;
  }
  graph.inputs = std::move(kept);
  rename_uses(graph, renamed);
  return {};
}

}  // namespace hydro::ir
