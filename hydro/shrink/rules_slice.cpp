// Rules of ops that take or put together parts of a dimension. A width may be cut only into
// equal parts; anything else is noted as a cut and refused if the dimension turns out to be a
// width.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/ir/graph.h"
#include "hydro/shrink/atoms.h"
#include "hydro/shrink/rules.h"
#include "hydro/shrink/walk.h"

namespace hydro::shrink {

namespace {

std::size_t dim_of(const ir::Node& node, std::size_t rank) {
  const ir::Argument* dim = node.find_argument("dim");
  const auto* number = dim == nullptr ? nullptr : std::get_if<std::int64_t>(dim);
  return Walk::index(number == nullptr ? 0 : *number, rank);
}

/// Where a slice starts, counted from the front; nullopt when it is not constant.
std::optional<std::int64_t> start_of(const ir::Node& node, std::int64_t size) {
  const ir::Argument* start = node.find_argument("start");
  if (start == nullptr || std::holds_alternative<ir::None>(*start)) {
    return 0;
  }
  const auto* number = std::get_if<std::int64_t>(start);
  if (number == nullptr) {
    return std::nullopt;
  }
  return *number < 0 ? *number + size : *number;
}

bool is_step_one(const ir::Node& node) {
  const ir::Argument* step = node.find_argument("step");
  const auto* number = step == nullptr ? nullptr : std::get_if<std::int64_t>(step);
  return step == nullptr || (number != nullptr && *number == 1);
}

/// `count` parts of `length`, of which the caller takes one.
Dimension equal_part(Walk& walk,
                     const ir::Node& node,
                     const Dimension& whole,
                     std::int64_t length) {
  Dimension parts =
      walk.atoms().add_pinned(walk.atoms().size(whole) / length, "number of equal parts");
  const Dimension part = walk.atoms().add_free(length);
  parts.insert(parts.end(), part.begin(), part.end());
  walk.unify(node, whole, parts);
  return part;
}

/// The dimension that a slice of `length` leaves of `whole`.
Dimension slice_part(Walk& walk,
                     const ir::Node& node,
                     const Dimension& whole,
                     std::int64_t length) {
  const std::int64_t size = walk.atoms().size(whole);
  if (length == size && is_step_one(node)) {
    return whole;
  }
  const std::optional<std::int64_t> start = start_of(node, size);
  const bool even =
      start && is_step_one(node) && length > 0 && size % length == 0 && *start % length == 0;
  if (even && walk.atoms().has_width(whole)) {
    return equal_part(walk, node, whole, length);
  }
  walk.cut(node,
           whole,
           "takes " + std::to_string(length) + " of " + std::to_string(size) + " entries");
  return walk.atoms().add_pinned(length, "slice");
}

}  // namespace

Result<void> slice_rule(Walk& walk, const ir::Node& node) {
  Dimensions out = walk.dims(node.value("self"));
  const std::size_t dim = dim_of(node, out.size());
  out[dim] = slice_part(walk, node, out[dim], walk.shape(node.outputs.at(0)).at(dim));
  walk.set_outputs(node, out);
  return {};
}

Result<void> select_rule(Walk& walk, const ir::Node& node) {
  Dimensions out = walk.dims(node.value("self"));
  const std::size_t dim = dim_of(node, out.size());
  walk.atoms().pin(out[dim], "selected by index at " + node.describe());
  out.erase(out.begin() + static_cast<std::ptrdiff_t>(dim));
  walk.set_outputs(node, out);
  return {};
}

Result<void> slice_scatter_rule(Walk& walk, const ir::Node& node) {
  const Dimensions whole = walk.dims(node.value("self"));
  const Dimensions source = walk.dims(node.value("src"));
  if (source.size() != whole.size()) {
    return contradiction(node, "the part and the whole differ in dimensions");
  }
  const std::size_t dim = dim_of(node, whole.size());
  for (std::size_t i = 0; i < whole.size(); ++i) {
    const Dimension expected =
        i == dim ? slice_part(walk, node, whole[i], walk.atoms().size(source[i])) : whole[i];
    walk.unify(node, expected, source[i]);
  }
  walk.set_outputs(node, whole);
  return {};
}

Result<void> select_scatter_rule(Walk& walk, const ir::Node& node) {
  const Dimensions whole = walk.dims(node.value("self"));
  const Dimensions source = walk.dims(node.value("src"));
  if (source.size() + 1 != whole.size()) {
    return contradiction(node, "the part and the whole do not differ by one dimension");
  }
  const std::size_t dim = dim_of(node, whole.size());
  walk.atoms().pin(whole[dim], "selected by index at " + node.describe());
  for (std::size_t i = 0; i < source.size(); ++i) {
    walk.unify(node, whole[i < dim ? i : i + 1], source[i]);
  }
  walk.set_outputs(node, whole);
  return {};
}

Result<void> split_rule(Walk& walk, const ir::Node& node) {
  const Dimensions in = walk.dims(node.value("self"));
  const std::size_t dim = dim_of(node, in.size());
  const std::int64_t first = walk.shape(node.outputs.at(0)).at(dim);
  const auto count = static_cast<std::int64_t>(node.outputs.size());
  const bool even = first * count == walk.atoms().size(in[dim]);
  const bool follows = even && walk.atoms().has_width(in[dim]);
  const Dimension part = follows ? equal_part(walk, node, in[dim], first) : Dimension{};
  if (!follows) {
    walk.cut(
        node,
        in[dim],
        "splits " + std::to_string(walk.atoms().size(in[dim])) + " entries into unequal parts");
  }
  for (const ir::ValueId output : node.outputs) {
    Dimensions out = in;
    out[dim] = follows ? part : walk.atoms().add_pinned(walk.shape(output).at(dim), "split");
    walk.set(output, out);
  }
  return {};
}

Result<void> cat_rule(Walk& walk, const ir::Node& node) {
  const std::vector<ir::ValueId> pieces = ir::operands(node);
  Dimensions out = walk.dims(pieces.at(0));
  const std::size_t dim = dim_of(node, out.size());
  const Dimension first = out[dim];
  bool even = true;
  bool width = false;
  for (const ir::ValueId piece : pieces) {
    const Dimensions x = walk.dims(piece);
    if (x.size() != out.size()) {
      return contradiction(node, "pieces differ in dimensions");
    }
    for (std::size_t i = 0; i < out.size(); ++i) {
      if (i != dim) {
        walk.unify(node, out[i], x[i]);
      }
    }
    even = even && walk.atoms().size(x[dim]) == walk.atoms().size(first);
    width = width || walk.atoms().has_width(x[dim]);
  }
  if (even && width) {
    out[dim] = walk.atoms().add_pinned(static_cast<std::int64_t>(pieces.size()),
                                       "number of equal parts");
    out[dim].insert(out[dim].end(), first.begin(), first.end());
  } else {
    out[dim] = walk.atoms().add_pinned(walk.shape(node.outputs.at(0)).at(dim), "concatenation");
  }
  for (const ir::ValueId piece : pieces) {
    const Dimension part = walk.dims(piece)[dim];
    if (even && width) {
      walk.unify(node, first, part);
    } else {
      walk.cut(node,
               part,
               "joins " + std::to_string(walk.atoms().size(part)) +
                   " entries with pieces of other sizes");
    }
  }
  walk.set_outputs(node, out);
  return {};
}

Result<void> pad_rule(Walk& walk, const ir::Node& node) {
  Dimensions out = walk.dims(node.value("self"));
  const std::vector<std::int64_t> shape = walk.shape(node.outputs.at(0));
  for (std::size_t i = 0; i < std::min(out.size(), shape.size()); ++i) {
    const std::int64_t size = walk.atoms().size(out[i]);
    if (size != shape[i]) {
      walk.cut(node,
               out[i],
               "pads " + std::to_string(size) + " entries to " + std::to_string(shape[i]));
      out[i] = walk.atoms().add_pinned(shape[i], "padding");
    }
  }
  walk.set_outputs(node, out);
  return {};
}

}  // namespace hydro::shrink
