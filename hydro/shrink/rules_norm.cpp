// Rules of normalizations.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "hydro/base/result.h"
#include "hydro/ir/graph.h"
#include "hydro/shrink/atoms.h"
#include "hydro/shrink/rules.h"
#include "hydro/shrink/walk.h"

namespace hydro::shrink {

Result<void> batch_norm_rule(Walk& walk, const ir::Node& node) {
  const ir::ValueId input = node.value("input");
  HYDRO_TRY_VOID(need_rank(walk, node, input, 2));
  const Dimensions x = walk.dims(input);
  for (const std::string_view name : {"weight", "bias", "running_mean", "running_var"}) {
    unify_optional(walk, node, name, x[1]);
  }
  walk.set_outputs(node, {x[1]});  // the next statistics
  walk.set(node.outputs.at(0), x);
  return {};
}

Result<void> layer_norm_rule(Walk& walk, const ir::Node& node) {
  const ir::ValueId input = node.value("input");
  const std::size_t count = node.items("normalized_shape").size();
  HYDRO_TRY_VOID(need_rank(walk, node, input, count));
  const Dimensions x = walk.dims(input);
  for (const std::string_view name : {"weight", "bias"}) {
    const bool exists = node.find_argument(name) != nullptr;
    const auto value = exists ? node.optional_value(name) : std::nullopt;
    if (!value) {
      continue;
    }
    HYDRO_TRY_VOID(need_rank(walk, node, *value, count));
    for (std::size_t i = 1; i <= count; ++i) {
      const Dimension own = walk.dims(*value)[walk.rank(*value) - i];
      walk.unify(node, own, x[x.size() - i]);
    }
  }
  walk.set_outputs(node, x);
  return {};
}

Result<void> group_norm_rule(Walk& walk, const ir::Node& node) {
  const ir::ValueId input = node.value("input");
  HYDRO_TRY_VOID(need_rank(walk, node, input, 2));
  const Dimensions x = walk.dims(input);
  Atoms& atoms = walk.atoms();
  const std::int64_t count = node.integer("num_groups");
  if (count < 1 || atoms.size(x[1]) % count != 0) {
    return contradiction(node, "groups do not divide the channels");
  }
  Dimension channels = atoms.add_free(count);
  const Dimension inner = atoms.add_free(atoms.size(x[1]) / count);
  channels.insert(channels.end(), inner.begin(), inner.end());
  walk.unify(node, x[1], channels);
  for (const std::string_view name : {"weight", "bias"}) {
    unify_optional(walk, node, name, x[1]);
  }
  walk.set_outputs(node, x);
  return {};
}

}  // namespace hydro::shrink
