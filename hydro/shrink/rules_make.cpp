// Rules of ops that make tensors of given sizes.
#include <string_view>
#include <variant>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/ir/graph.h"
#include "hydro/shrink/atoms.h"
#include "hydro/shrink/rules.h"
#include "hydro/shrink/walk.h"

namespace hydro::shrink {

namespace {

/// The sizes that the node is given for its output; null when it is given none.
const std::vector<ir::IntItem>* size_items(const ir::Node& node) {
  for (const std::string_view name : {"size", "shape"}) {
    const ir::Argument* argument = node.find_argument(name);
    const auto* items =
        argument == nullptr ? nullptr : std::get_if<std::vector<ir::IntItem>>(argument);
    if (items != nullptr) {
      return items;
    }
  }
  return nullptr;
}

}  // namespace

void unify_given_sizes(Walk& walk, const ir::Node& node, const Dimensions& out) {
  const std::vector<ir::IntItem>* items = size_items(node);
  if (items != nullptr && items->size() == out.size()) {
    walk.unify_sizes(node, out, *items);
  }
}

Result<void> fresh_rule(Walk& walk, const ir::Node& node) {
  const Dimensions out = walk.fresh(node.outputs.at(0));
  unify_given_sizes(walk, node, out);
  walk.set_outputs(node, out);
  return {};
}

Result<void> counted_rule(Walk& walk, const ir::Node& node) {
  const Dimensions out = walk.fresh(node.outputs.at(0));
  for (const Dimension& dimension : out) {
    walk.atoms().pin(dimension, "positions");
  }
  walk.set_outputs(node, out);
  return {};
}

}  // namespace hydro::shrink
