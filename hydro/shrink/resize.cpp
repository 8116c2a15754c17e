#include "hydro/shrink/resize.h"

#include <algorithm>
#include <cstddef>
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

void resize_pieces(const Resizer& resizer,
                   const ir::Node& node,
                   std::vector<ir::IntItem>& items) {
  for (std::size_t i = 0; i < items.size() && i < node.outputs.size(); ++i) {
    const std::size_t dim = dim_of(node, resizer.of(node.outputs[i]).size());
    if (std::holds_alternative<std::int64_t>(items[i])) {
      items[i] = resizer.new_size(node.outputs[i], dim);
    }
  }
}

/// A product of sizes: its number is what the result has beside the computed factor.
void resize_product(const Resizer& resizer, ir::Node& node) {
  const auto integer = [&](ir::ValueId value) -> const Dimension& {
    return resizer.dims.integers[static_cast<std::size_t>(value)];
  };
  std::int64_t rest = resizer.sizes.of(integer(node.outputs.at(0)));
  std::int64_t* number = nullptr;
  for (ir::NamedArgument& argument : node.arguments) {
    if (const auto* value = std::get_if<ir::ValueId>(&argument.value)) {
      rest /= std::max<std::int64_t>(resizer.sizes.of(integer(*value)), 1);
    } else {
      number = std::get_if<std::int64_t>(&argument.value);
    }
  }
  if (number != nullptr && !integer(node.outputs.at(0)).empty()) {
    *number = rest;
  }
}

}  // namespace

void resize_size(const Resizer& resizer, ir::Node& node) {
  resize_items(resizer, node, "size");
}

void resize_shape(const Resizer& resizer, ir::Node& node) {
  resize_items(resizer, node, "shape");
}

void resize_unflatten(const Resizer& resizer, ir::Node& node) {
  const std::size_t first =
      Walk::index(node.integer("dim"), resizer.of(node.value("self")).size());
  const ir::ValueId output = node.outputs.at(0);
  auto& items = std::get<std::vector<ir::IntItem>>(node.argument("sizes"));
  for (std::size_t i = 0; i < items.size(); ++i) {
    auto* number = std::get_if<std::int64_t>(&items[i]);
    if (number != nullptr && *number >= 0) {
      *number = resizer.new_size(output, first + i);
    }
  }
}

void resize_repeats(const Resizer& resizer, ir::Node& node) {
  const ir::ValueId output = node.outputs.at(0);
  const Dimensions& in = resizer.of(node.value("self"));
  auto& items = std::get<std::vector<ir::IntItem>>(node.argument("repeats"));
  for (std::size_t i = 0; i < items.size(); ++i) {
    auto* number = std::get_if<std::int64_t>(&items[i]);
    const bool is_new = i + in.size() < items.size();
    const Dimension own = is_new ? Dimension{} : in[i + in.size() - items.size()];
    if (number != nullptr) {
      *number = resizer.new_size(output, i) / resizer.sizes.of(own);
    }
  }
}

void resize_groups(const Resizer& resizer, ir::Node& node) {
  const Dimensions& w = resizer.of(node.value("weight"));
  const bool transposed = node.op.starts_with("aten.conv_transpose");
  const ir::ValueId channels = transposed ? node.outputs.at(0) : node.value("input");
  const std::size_t place = resizer.of(channels).size() - (w.size() - 2) - 1;
  node.argument("groups") = resizer.new_size(channels, place) / resizer.sizes.of(w[1]);
}

void resize_num_groups(const Resizer& resizer, ir::Node& node) {
  // The channels are groups times what one group holds.
  const Dimension& channels = resizer.of(node.value("input"))[1];
  const std::int64_t in_group =
      resizer.sizes.target(channels) / std::max<std::int64_t>(node.integer("num_groups"), 1);
  node.argument("num_groups") =
      resizer.sizes.of(channels) / resizer.sizes.offset(channels, in_group);
}

void resize_normalized_shape(const Resizer& resizer, ir::Node& node) {
  auto& items = std::get<std::vector<ir::IntItem>>(node.argument("normalized_shape"));
  const Dimensions& out = resizer.of(node.outputs.at(0));
  for (std::size_t i = 0; i < items.size(); ++i) {
    items[i] = resizer.sizes.of(out[out.size() - items.size() + i]);
  }
}

void resize_split_sizes(const Resizer& resizer, ir::Node& node) {
  auto& items = std::get<std::vector<ir::IntItem>>(node.argument("split_sizes"));
  resize_pieces(resizer, node, items);
}

void resize_split(const Resizer& resizer, ir::Node& node) {
  ir::Argument& size = node.argument("split_size");
  if (auto* items = std::get_if<std::vector<ir::IntItem>>(&size)) {
    resize_pieces(resizer, node, *items);
    return;
  }
  std::vector<ir::IntItem> sizes(node.outputs.size(), ir::IntItem(std::int64_t{0}));
  resize_pieces(resizer, node, sizes);
  const bool alike =
      std::ranges::all_of(sizes.begin(), sizes.end() - 1, [&](const ir::IntItem& item) {
        return item == sizes[0];
      });
  if (alike) {
    size = std::get<std::int64_t>(sizes[0]);
    return;
  }
  node.op = "aten.split_with_sizes.default";
  for (ir::NamedArgument& argument : node.arguments) {
    if (argument.name == "split_size") {
      argument = {.name = "split_sizes", .value = sizes};
    }
  }
}

void resize_bounds(const Resizer& resizer, ir::Node& node) {
  const ir::ValueId self = node.value("self");
  const Dimension& whole = resizer.of(self)[dim_of(node, resizer.of(self).size())];
  const std::int64_t size = resizer.sizes.target(whole);
  for (const std::string_view name : {"start", "end"}) {
    ir::Argument* bound = node.find_argument(name);
    auto* number = bound == nullptr ? nullptr : std::get_if<std::int64_t>(bound);
    if (number == nullptr || std::abs(*number) > size) {
      continue;
    }
    *number = *number < 0
                  ? resizer.sizes.offset(whole, size + *number) - resizer.sizes.of(whole)
                  : resizer.sizes.offset(whole, *number);
  }
}

void resize_narrow(const Resizer& resizer, ir::Node& node) {
  const ir::ValueId self = node.value("self");
  const std::size_t dim = dim_of(node, resizer.of(self).size());
  const Dimension& whole = resizer.of(self)[dim];
  if (auto* start = std::get_if<std::int64_t>(&node.argument("start"))) {
    const std::int64_t size = resizer.sizes.target(whole);
    *start = resizer.sizes.offset(whole, *start < 0 ? *start + size : *start);
  }
  if (auto* length = std::get_if<std::int64_t>(&node.argument("length"))) {
    *length = resizer.new_size(node.outputs.at(0), dim);
  }
}

void resize_pad(const Resizer& resizer, ir::Node& node) {
  const Dimensions& in = resizer.of(node.value("self"));
  const Dimensions& out = resizer.of(node.outputs.at(0));
  auto& items = std::get<std::vector<ir::IntItem>>(node.argument("pad"));
  for (std::size_t i = 0; i + 1 < items.size() && i / 2 < out.size(); i += 2) {
    const Dimension& whole = out[out.size() - 1 - i / 2];
    const Dimension& own = in[out.size() - 1 - i / 2];
    auto* before = std::get_if<std::int64_t>(&items[i]);
    auto* after = std::get_if<std::int64_t>(&items[i + 1]);
    if (before == nullptr || after == nullptr || *before < 0 || *after < 0) {
      continue;
    }
    *before = resizer.sizes.offset(whole, *before);
    *after = resizer.sizes.of(whole) - resizer.sizes.of(own) - *before;
  }
}

void resize_graph(ir::Graph& graph, const GraphDims& dims, const Sizes& sizes) {
  const Resizer resizer{.dims = dims, .sizes = sizes};
  resize_types(graph, resizer);
  for (std::int32_t i = 0; i < graph.node_count(); ++i) {
    ir::Node& node = graph.node(ir::NodeId{i});
    const RuleRow* row = find_rule(node.op);
    if (node.op == "sym.mul") {
      resize_product(resizer, node);
    } else if (row != nullptr && row->resize != nullptr) {
      row->resize(resizer, node);
    }
  }
}

}  // namespace hydro::shrink
