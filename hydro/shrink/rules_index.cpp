// Rules of ops that take entries by number: which entries they are is data, so what they count
// stays.
#include <algorithm>
#include <cstddef>
#include <optional>
#include <variant>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/ir/graph.h"
#include "hydro/shrink/atoms.h"
#include "hydro/shrink/rules.h"
#include "hydro/shrink/walk.h"

namespace hydro::shrink {

namespace {

using Indices = std::vector<std::optional<ir::ValueId>>;

/// The indices' own dimensions, broadcast against each other.
Dimensions broadcast_indices(Walk& walk, const ir::Node& node, const Indices& indices) {
  Dimensions out;
  for (const auto& index : indices) {
    if (!index) {
      continue;
    }
    const Dimensions own = walk.dims(*index);
    out.insert(out.begin(), own.size() - std::min(own.size(), out.size()), Dimension{});
    for (std::size_t i = 1; i <= own.size(); ++i) {
      Dimension& known = out[out.size() - i];
      if (known.empty()) {
        known = own[own.size() - i];
      } else if (!own[own.size() - i].empty()) {
        walk.unify(node, known, own[own.size() - i]);
      }
    }
  }
  return out;
}

/// Indices that do not stand side by side put their dimensions in front.
std::size_t place_of_indices(const Indices& indices) {
  std::size_t first = indices.size();
  std::size_t last = 0;
  for (std::size_t i = 0; i < indices.size(); ++i) {
    if (indices[i]) {
      first = std::min(first, i);
      last = i;
    }
  }
  for (std::size_t i = first; i < last; ++i) {
    if (!indices[i]) {
      return 0;
    }
  }
  return first;
}

/// Rows of a table are no width, as those of an embedding.
void pin_taken(Walk& walk, const ir::Node& node, const Dimension& dimension) {
  if (walk.is_weight(first_tensor(walk.graph(), node))) {
    walk.atoms().pin(dimension, "rows of a table");
  } else {
    walk.pin(node, dimension, "selected by index");
  }
}

bool has_mask(const Walk& walk, const Indices& indices) {
  return std::ranges::any_of(indices, [&](const auto& index) {
    return index && walk.graph().value(*index).tensor().dtype == ir::DType::kBool;
  });
}

}  // namespace

Result<void> index_rule(Walk& walk, const ir::Node& node) {
  const Dimensions x = walk.dims(node.value("self"));
  const auto* indices = std::get_if<Indices>(&node.argument("indices"));
  if (indices == nullptr || indices->size() > x.size() || has_mask(walk, *indices)) {
    walk.pin_all(node, "no width rule");
    return {};
  }
  Dimensions out;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (i < indices->size() && (*indices)[i]) {
      pin_taken(walk, node, x[i]);
    } else {
      out.push_back(x[i]);
    }
  }
  const Dimensions taken = broadcast_indices(walk, node, *indices);
  const auto place =
      static_cast<std::ptrdiff_t>(std::min(place_of_indices(*indices), out.size()));
  out.insert(out.begin() + place, taken.begin(), taken.end());
  walk.set_outputs(node, out);
  return {};
}

Result<void> index_select_rule(Walk& walk, const ir::Node& node) {
  Dimensions out = walk.dims(node.value("self"));
  const Dimensions index = walk.dims(node.value("index"));
  if (!out.empty()) {
    Dimension& taken = out[Walk::index(node.integer("dim"), out.size())];
    pin_taken(walk, node, taken);
    taken = index.empty() ? Dimension{} : index.front();
  }
  walk.set_outputs(node, out);
  return {};
}

Result<void> gather_rule(Walk& walk, const ir::Node& node) {
  for (const Dimension& dimension : walk.dims(node.value("self"))) {
    pin_taken(walk, node, dimension);
  }
  walk.set_outputs(node, walk.dims(node.value("index")));
  return {};
}

}  // namespace hydro::shrink
