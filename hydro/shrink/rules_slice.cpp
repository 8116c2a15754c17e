// Rules of ops that take parts of a dimension. Equal parts of a width stay equal parts of a
// narrower one; other parts become widths of their own. What lies across a factor is pinned.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
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

constexpr std::string_view kParts = "number of equal parts";

struct Range {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t step = 1;
};

/// A bound counted from the front; nullopt when it is computed.
std::optional<std::int64_t> bound(const ir::Node& node,
                                  std::string_view name,
                                  std::int64_t otherwise,
                                  std::int64_t size) {
  const ir::Argument* argument = node.find_argument(name);
  if (argument == nullptr || std::holds_alternative<ir::None>(*argument)) {
    return otherwise;
  }
  const auto* number = std::get_if<std::int64_t>(argument);
  if (number == nullptr) {
    return std::nullopt;
  }
  return std::clamp<std::int64_t>(*number < 0 ? *number + size : *number, 0, size);
}

std::optional<Range> range_of(const ir::Node& node, std::int64_t size) {
  if (node.find_argument("length") != nullptr) {  // narrow
    const auto* length = std::get_if<std::int64_t>(&node.argument("length"));
    const auto begin = bound(node, "start", 0, size);
    return length == nullptr || !begin
               ? std::nullopt
               : std::optional(Range{.begin = *begin, .end = *begin + *length});
  }
  const auto begin = bound(node, "start", 0, size);
  const auto end = bound(node, "end", size, size);
  const auto step = bound(node, "step", 1, std::numeric_limits<std::int64_t>::max());
  if (!begin || !end || !step) {
    return std::nullopt;
  }
  return Range{.begin = *begin, .end = *end, .step = *step};
}

/// `count` parts of `length`, of which the caller takes one.
Dimension equal_part(Walk& walk,
                     const ir::Node& node,
                     const Dimension& whole,
                     std::int64_t length) {
  Dimension parts = walk.atoms().add_pinned(walk.atoms().size(whole) / length, kParts);
  const Dimension part = walk.atoms().add_free(length);
  parts.insert(parts.end(), part.begin(), part.end());
  walk.unify(node, whole, parts);
  return part;
}

/// Every `step`-th entry.
Dimension strided_part(Walk& walk,
                       const ir::Node& node,
                       const Dimension& whole,
                       std::int64_t step) {
  Dimension parts = walk.atoms().add_free(walk.atoms().size(whole) / step);
  const Dimension part = parts;
  const Dimension inner = walk.atoms().add_pinned(step, kParts);
  parts.insert(parts.end(), inner.begin(), inner.end());
  walk.unify(node, whole, parts);
  return part;
}

/// What [begin, end) leaves of `whole`.
Dimension range_part(Walk& walk,
                     const ir::Node& node,
                     const Dimension& whole,
                     const std::optional<Range>& range,
                     std::int64_t length) {
  Atoms& atoms = walk.atoms();
  const std::int64_t size = atoms.size(whole);
  const bool fits = range && range->step == 1 && range->end - range->begin == length;
  if (fits && length == size) {
    return whole;
  }
  if (!atoms.is_pinned(whole)) {
    if (fits && length > 0 && size % length == 0 && range->begin % length == 0) {
      return equal_part(walk, node, whole, length);
    }
    const std::optional<Dimension> part =
        fits && length > 0 ? atoms.part(whole, range->begin, range->end) : std::nullopt;
    if (part) {
      return *part;
    }
    if (range && range->step > 1 && size % range->step == 0 && range->end == size &&
        range->begin < range->step) {
      return strided_part(walk, node, whole, range->step);
    }
  }
  walk.pin(node,
           whole,
           "takes " + std::to_string(length) + " of " + std::to_string(size) + " entries");
  return atoms.add_pinned(length, "part of a size that stays");
}

std::int64_t size_at(const Walk& walk, ir::ValueId value, std::size_t dim) {
  return walk.shape(value).at(dim);
}

}  // namespace

std::size_t dim_of(const ir::Node& node, std::size_t rank) {
  const ir::Argument* dim = node.find_argument("dim");
  const auto* number = dim == nullptr ? nullptr : std::get_if<std::int64_t>(dim);
  return Walk::index(number == nullptr ? 0 : *number, rank);
}

Result<void> slice_rule(Walk& walk, const ir::Node& node) {
  Dimensions out = walk.dims(node.value("self"));
  const std::size_t dim = dim_of(node, out.size());
  const auto range = range_of(node, walk.atoms().size(out[dim]));
  const std::int64_t length = size_at(walk, node.outputs.at(0), dim);
  out[dim] = range_part(walk, node, out[dim], range, length);
  walk.set_outputs(node, out);
  return {};
}

Result<void> select_rule(Walk& walk, const ir::Node& node) {
  Dimensions out = walk.dims(node.value("self"));
  const std::size_t dim = dim_of(node, out.size());
  walk.pin(node, out[dim], "selected by index");
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
  const auto range = range_of(node, walk.atoms().size(whole[dim]));
  for (std::size_t i = 0; i < whole.size(); ++i) {
    const Dimension expected =
        i == dim ? range_part(walk, node, whole[i], range, walk.atoms().size(source[i]))
                 : whole[i];
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
  walk.pin(node, whole[dim], "selected by index");
  for (std::size_t i = 0; i < source.size(); ++i) {
    walk.unify(node, whole[i < dim ? i : i + 1], source[i]);
  }
  walk.set_outputs(node, whole);
  return {};
}

Result<void> glu_rule(Walk& walk, const ir::Node& node) {
  Dimensions out = walk.dims(node.value("self"));
  const std::size_t dim = dim_of(node, out.size());
  out[dim] = equal_part(walk, node, out[dim], size_at(walk, node.outputs.at(0), dim));
  walk.set_outputs(node, out);
  return {};
}

Result<void> split_rule(Walk& walk, const ir::Node& node) {
  const Dimensions in = walk.dims(node.value("self"));
  const std::size_t dim = dim_of(node, in.size());
  const std::int64_t first = size_at(walk, node.outputs.at(0), dim);
  const auto count = static_cast<std::int64_t>(node.outputs.size());
  const bool even = first * count == walk.atoms().size(in[dim]);
  const bool follows = even && !walk.atoms().is_pinned(in[dim]);
  const Dimension part = follows ? equal_part(walk, node, in[dim], first) : Dimension{};
  std::int64_t begin = 0;
  for (const ir::ValueId output : node.outputs) {
    const std::int64_t length = size_at(walk, output, dim);
    const Range range{.begin = begin, .end = begin + length};
    Dimensions out = in;
    out[dim] = follows ? part : range_part(walk, node, in[dim], range, length);
    walk.set(output, out);
    begin += length;
  }
  return {};
}

}  // namespace hydro::shrink
