// Rules of convolution, transposed convolution, and pooling, for any number of spatial
// dimensions.
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/ir/graph.h"
#include "hydro/shrink/atoms.h"
#include "hydro/shrink/rules.h"
#include "hydro/shrink/walk.h"

namespace hydro::shrink {

namespace {

constexpr std::string_view kSpatial = "spatial size";

/// "aten.max_pool2d.default" -> 2
std::size_t spatial_count(const ir::Node& node) {
  const std::size_t digit = node.op.find_first_of("123");
  HYDRO_CHECK(digit != std::string::npos, node.op);
  return static_cast<std::size_t>(node.op[digit] - '0');
}

/// Pins the last `count` dimensions of the input and gives the output's.
Dimensions spatial_output(Walk& walk,
                          const ir::Node& node,
                          ir::ValueId input,
                          std::size_t count,
                          const Dimension& channels) {
  const Dimensions x = walk.dims(input);
  const std::vector<std::int64_t> out_shape = walk.shape(node.outputs.at(0));
  const std::size_t before = x.size() - count - 1;
  Dimensions out(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(before));
  out.push_back(channels);
  for (std::size_t i = before + 1; i < x.size(); ++i) {
    walk.atoms().pin(x[i], kSpatial);
    out.push_back(walk.atoms().add_pinned(i < out_shape.size() ? out_shape[i] : 1, kSpatial));
  }
  return out;
}

Dimension joined(Dimension outer, const Dimension& inner) {
  outer.insert(outer.end(), inner.begin(), inner.end());
  return outer;
}

/// The dimensions of a convolution's weight by what they do.
struct Channels {
  Dimension in;   // of one group
  Dimension out;  // all
  Dimension groups;
};

/// With one channel in a group the groups are the width, and a multiplier of outputs is none.
Channels grouped(Walk& walk,
                 const ir::Node& node,
                 const Dimension& input,
                 const Dimensions& w,
                 std::int64_t count) {
  Atoms& atoms = walk.atoms();
  const Dimension groups = atoms.add_free(count);
  walk.unify(node, input, joined(groups, w[1]));
  const Dimension outputs = atoms.add_free(atoms.size(w[0]) / count);
  if (atoms.size(w[1]) == 1) {
    atoms.pin(outputs, "channel multiplier");
  }
  walk.unify(node, w[0], joined(groups, outputs));
  return {.in = w[1], .out = w[0], .groups = groups};
}

/// A transposed convolution's weight is [in, out of one group, kernel...].
Channels grouped_transposed(Walk& walk,
                            const ir::Node& node,
                            const Dimension& input,
                            const Dimensions& w,
                            std::int64_t count) {
  Atoms& atoms = walk.atoms();
  const Dimension groups = atoms.add_free(count);
  const Dimension inputs = atoms.add_free(atoms.size(w[0]) / count);
  walk.unify(node, input, w[0]);
  walk.unify(node, w[0], joined(groups, inputs));
  if (inputs.empty()) {
    atoms.pin(w[1], "channel multiplier");
  }
  return {.in = inputs, .out = joined(groups, w[1]), .groups = groups};
}

Channels channels_of(Walk& walk,
                     const ir::Node& node,
                     const Dimension& input,
                     const Dimensions& w,
                     bool transposed) {
  const std::int64_t count = node.integer("groups");
  if (count > 1) {
    return transposed ? grouped_transposed(walk, node, input, w, count)
                      : grouped(walk, node, input, w, count);
  }
  const Dimension& in = transposed ? w[0] : w[1];
  walk.unify(node, input, in);
  return {.in = in, .out = transposed ? w[1] : w[0], .groups = {}};
}

}  // namespace

void unify_optional(Walk& walk,
                    const ir::Node& node,
                    std::string_view argument,
                    const Dimension& channels) {
  const auto value = node.optional_value(argument);
  if (value && walk.rank(*value) > 0) {
    walk.unify(node, walk.dims(*value).back(), channels);
  }
}

Result<void> conv_rule(Walk& walk, const ir::Node& node) {
  const ir::ValueId input = node.value("input");
  const ir::ValueId weight = node.value("weight");
  HYDRO_TRY_VOID(need_rank(walk, node, weight, 3));
  const Dimensions w = walk.dims(weight);
  const std::size_t spatial = w.size() - 2;
  HYDRO_TRY_VOID(need_rank(walk, node, input, spatial + 1));
  for (std::size_t i = 2; i < w.size(); ++i) {
    walk.atoms().pin(w[i], "kernel");
  }
  const std::int64_t groups = node.integer("groups");
  if (groups < 1 || walk.atoms().size(w[0]) % groups != 0) {
    return contradiction(node, "groups do not divide the channels");
  }
  const Dimension x = walk.dims(input)[walk.rank(input) - spatial - 1];
  const bool transposed = node.op.starts_with("aten.conv_transpose");
  Channels channels = channels_of(walk, node, x, w, transposed);
  unify_optional(walk, node, "bias", channels.out);
  walk.set_outputs(node, spatial_output(walk, node, input, spatial, channels.out));
  walk.add_product(node,
                   {.weight = weight,
                    .bias = node.optional_value("bias"),
                    .fan_in = std::move(channels.in),
                    .fan_out = std::move(channels.out),
                    .groups = std::move(channels.groups)});
  return {};
}

Result<void> pool_rule(Walk& walk, const ir::Node& node) {
  const ir::ValueId input = first_tensor(walk.graph(), node);
  const std::size_t spatial = spatial_count(node);
  HYDRO_TRY_VOID(need_rank(walk, node, input, spatial + 1));
  const Dimension channels = walk.dims(input)[walk.rank(input) - spatial - 1];
  walk.set_outputs(node, spatial_output(walk, node, input, spatial, channels));
  return {};
}

}  // namespace hydro::shrink
