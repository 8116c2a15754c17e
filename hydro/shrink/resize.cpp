#include "hydro/shrink/resize.h"

#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <variant>
#include <vector>

#include "hydro/ir/graph.h"
#include "hydro/shrink/atoms.h"
#include "hydro/shrink/rules.h"
#include "hydro/shrink/walk.h"

namespace hydro::shrink {

namespace {

/// Larger numbers mean "to the end".
constexpr std::int64_t kEndless = std::int64_t{1} << 60;

/// Constant sizes become the dimensions' new ones; -1 and computed sizes follow by themselves.
void resize_items(const Resizer& resizer, ir::Node& node, std::string_view name) {
  auto& items = std::get<std::vector<ir::IntItem>>(node.argument(name));
  const Dimensions& out = resizer.of(node.outputs.at(0));
  for (std::size_t i = 0; i < items.size() && i < out.size(); ++i) {
    auto* number = std::get_if<std::int64_t>(&items[i]);
    if (number != nullptr && *number >= 0) {
      *number = resizer.sizes.of(out[i]);
    }
  }
}

std::size_t dim_of(const ir::Node& node, std::size_t rank) {
  const ir::Argument* dim = node.find_argument("dim");
  const auto* number = dim == nullptr ? nullptr : std::get_if<std::int64_t>(dim);
  return Walk::index(number == nullptr ? 0 : *number, rank);
}

void resize_types(ir::Graph& graph, const Resizer& resizer) {
  for (std::int32_t i = 0; i < graph.value_count(); ++i) {
    const ir::ValueId id{i};
    ir::Value& value = graph.value(id);
    if (value.is_tensor()) {
      std::vector<ir::Dim>& shape = value.tensor().shape;
      for (std::size_t dim = 0; dim < resizer.of(id).size() && dim < shape.size(); ++dim) {
        shape[dim].size = resizer.new_size(id, dim);
      }
    } else if (const Dimension& known = resizer.dims.integers[static_cast<std::size_t>(i)];
               !known.empty()) {
      value.type = ir::IntType{resizer.sizes.of(known)};
    }
  }
}

}  // namespace

void resize_size(const Resizer& resizer, ir::Node& node) {
  resize_items(resizer, node, "size");
}

void resize_shape(const Resizer& resizer, ir::Node& node) {
  resize_items(resizer, node, "shape");
}

void resize_groups(const Resizer& resizer, ir::Node& node) {
  const Dimensions& x = resizer.of(node.value("input"));
  const std::int64_t channels = resizer.sizes.of(x[x.size() - 3]);
  node.argument("groups") = channels / resizer.new_size(node.value("weight"), 1);
}

void resize_split(const Resizer& resizer, ir::Node& node) {
  const ir::ValueId first = node.outputs.at(0);
  node.argument("split_size") = resizer.new_size(first, dim_of(node, resizer.of(first).size()));
}

void resize_normalized_shape(const Resizer& resizer, ir::Node& node) {
  auto& items = std::get<std::vector<ir::IntItem>>(node.argument("normalized_shape"));
  const Dimensions& out = resizer.of(node.outputs.at(0));
  for (std::size_t i = 0; i < items.size(); ++i) {
    items[i] = resizer.sizes.of(out[out.size() - items.size() + i]);
  }
}

void resize_bounds(const Resizer& resizer, ir::Node& node) {
  const ir::ValueId self = node.value("self");
  const Dimension& whole = resizer.of(self)[dim_of(node, resizer.of(self).size())];
  const std::int64_t size = resizer.sizes.target(whole);
  const std::int64_t surrogate = resizer.sizes.of(whole);
  for (const std::string_view name : {"start", "end"}) {
    ir::Argument* bound = node.find_argument(name);
    auto* number = bound == nullptr ? nullptr : std::get_if<std::int64_t>(bound);
    if (number != nullptr && std::abs(*number) < kEndless && size != surrogate) {
      *number = *number * surrogate / size;
    }
  }
}

void resize_graph(ir::Graph& graph, const GraphDims& dims, const Sizes& sizes) {
  const Resizer resizer{.dims = dims, .sizes = sizes};
  resize_types(graph, resizer);
  for (std::int32_t i = 0; i < graph.node_count(); ++i) {
    ir::Node& node = graph.node(ir::NodeId{i});
    const RuleRow* row = find_rule(node.op);
    if (row != nullptr && row->resize != nullptr) {
      row->resize(resizer, node);
    }
  }
}

}  // namespace hydro::shrink
