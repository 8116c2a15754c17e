// hydro/shrink/resize.h — rewrites the integers of a graph that are sizes, to the surrogate's.
#pragma once

#include <string_view>

#include "hydro/ir/graph.h"
#include "hydro/shrink/analysis.h"
#include "hydro/shrink/sizes.h"

namespace hydro::shrink {

/// What an op's Resize function sees: the labels of one graph and the new sizes.
struct Resizer {
  const GraphDims& dims;
  const Sizes& sizes;

  [[nodiscard]] const Dimensions& of(ir::ValueId value) const {
    return dims.tensors[static_cast<std::size_t>(value)];
  }

  [[nodiscard]] std::int64_t new_size(ir::ValueId value, std::size_t dim) const {
    return sizes.of(of(value)[dim]);
  }
};

/// All sizes of one graph: value types first, then arguments by the table of rules.
void resize_graph(ir::Graph& graph, const GraphDims& dims, const Sizes& sizes);

// The table's Resize functions.
void resize_size(const Resizer& resizer, ir::Node& node);              // argument `size`
void resize_shape(const Resizer& resizer, ir::Node& node);             // argument `shape`
void resize_unflatten(const Resizer& resizer, ir::Node& node);         // argument `sizes`
void resize_repeats(const Resizer& resizer, ir::Node& node);           // argument `repeats`
void resize_groups(const Resizer& resizer, ir::Node& node);            // convolutions
void resize_num_groups(const Resizer& resizer, ir::Node& node);        // group_norm
void resize_normalized_shape(const Resizer& resizer, ir::Node& node);  // layer_norm
void resize_split(const Resizer& resizer, ir::Node& node);             // argument `split_size`
void resize_split_sizes(const Resizer& resizer, ir::Node& node);       // argument `split_sizes`
void resize_bounds(const Resizer& resizer, ir::Node& node);            // slice, slice_scatter
void resize_narrow(const Resizer& resizer, ir::Node& node);            // start and length
void resize_pad(const Resizer& resizer, ir::Node& node);               // argument `pad`

}  // namespace hydro::shrink
