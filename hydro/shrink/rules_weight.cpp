// Rules of the ops that hold parameters: convolution, linear, normalization; and pooling, which
// shares the convolution's spatial dimensions.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/ir/graph.h"
#include "hydro/shrink/atoms.h"
#include "hydro/shrink/rules.h"
#include "hydro/shrink/walk.h"

namespace hydro::shrink {

namespace {

constexpr std::string_view kSpatial = "spatial size";

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

/// Pins the last two dimensions of the input and gives the output's.
Dimensions spatial_output(Walk& walk,
                          const ir::Node& node,
                          ir::ValueId input,
                          const Dimension& channels) {
  const Dimensions x = walk.dims(input);
  const std::vector<std::int64_t> out_shape = walk.shape(node.outputs.at(0));
  Dimensions out(x.begin(), x.end() - 3);
  out.push_back(channels);
  for (std::size_t i = x.size() - 2; i < x.size(); ++i) {
    walk.atoms().pin(x[i], kSpatial);
    out.push_back(walk.atoms().add_pinned(i < out_shape.size() ? out_shape[i] : 1, kSpatial));
  }
  return out;
}

Dimension joined(Dimension outer, const Dimension& inner) {
  outer.insert(outer.end(), inner.begin(), inner.end());
  return outer;
}

/// With one channel in a group the groups are the width, and a multiplier of outputs is none.
Dimension unify_groups(Walk& walk,
                       const ir::Node& node,
                       const Dimension& channels,
                       const Dimensions& weight) {
  Atoms& atoms = walk.atoms();
  const std::int64_t count = node.integer("groups");
  const Dimension groups = atoms.add_free(count);
  walk.unify(node, channels, joined(groups, weight[1]));
  const Dimension outputs = atoms.add_free(atoms.size(weight[0]) / count);
  if (atoms.size(weight[1]) == 1) {
    atoms.pin(outputs, "channel multiplier");
  }
  walk.unify(node, weight[0], joined(groups, outputs));
  return groups;
}

void unify_optional(Walk& walk,
                    const ir::Node& node,
                    std::string_view argument,
                    const Dimension& channels) {
  const auto value = node.optional_value(argument);
  if (value && walk.rank(*value) > 0) {
    walk.unify(node, walk.dims(*value).back(), channels);
  }
}

}  // namespace

Result<void> conv2d_rule(Walk& walk, const ir::Node& node) {
  const ir::ValueId input = node.value("input");
  const ir::ValueId weight = node.value("weight");
  HYDRO_TRY_VOID(need_rank(walk, node, input, 3));
  HYDRO_TRY_VOID(need_rank(walk, node, weight, 4));
  const Dimensions w = walk.dims(weight);
  walk.atoms().pin(w[2], "kernel");
  walk.atoms().pin(w[3], "kernel");
  const Dimension channels = walk.dims(input)[walk.rank(input) - 3];
  const std::int64_t group_count = node.integer("groups");
  if (group_count < 1 || walk.atoms().size(w[0]) % group_count != 0) {
    return contradiction(node, "groups do not divide the channels");
  }
  Dimension groups;
  if (group_count == 1) {
    walk.unify(node, channels, w[1]);
  } else {
    groups = unify_groups(walk, node, channels, w);
  }
  unify_optional(walk, node, "bias", w[0]);
  walk.set_outputs(node, spatial_output(walk, node, input, w[0]));
  return walk.add_product(node, {.fan_in = w[1], .fan_out = w[0], .groups = groups});
}

Result<void> linear_rule(Walk& walk, const ir::Node& node) {
  const ir::ValueId input = node.value("input");
  HYDRO_TRY_VOID(need_rank(walk, node, input, 1));
  HYDRO_TRY_VOID(need_rank(walk, node, node.value("weight"), 2));
  const Dimensions w = walk.dims(node.value("weight"));
  Dimensions out = walk.dims(input);
  walk.unify(node, out.back(), w[1]);
  unify_optional(walk, node, "bias", w[0]);
  out.back() = w[0];
  walk.set_outputs(node, out);
  return walk.add_product(node, {.fan_in = w[1], .fan_out = w[0], .groups = {}});
}

Result<void> addmm_rule(Walk& walk, const ir::Node& node) {
  const ir::ValueId input = node.value("mat1");
  HYDRO_TRY_VOID(need_rank(walk, node, input, 2));
  HYDRO_TRY_VOID(need_rank(walk, node, node.value("mat2"), 2));
  const Dimensions w = walk.dims(node.value("mat2"));
  Dimensions out = walk.dims(input);
  walk.unify(node, out[1], w[0]);
  unify_optional(walk, node, "self", w[1]);
  out[1] = w[1];
  walk.set_outputs(node, out);
  return walk.add_product(node,
                          {.weight = "mat2",
                           .bias = "self",
                           .activation = "mat1",
                           .fan_in = w[0],
                           .fan_out = w[1],
                           .groups = {}});
}

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
    const auto value = node.optional_value(name);
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

Result<void> pool2d_rule(Walk& walk, const ir::Node& node) {
  const ir::ValueId input = first_tensor(walk.graph(), node);
  HYDRO_TRY_VOID(need_rank(walk, node, input, 3));
  const Dimension channels = walk.dims(input)[walk.rank(input) - 3];
  walk.set_outputs(node, spatial_output(walk, node, input, channels));
  return {};
}

}  // namespace hydro::shrink
