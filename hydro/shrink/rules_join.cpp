// Rules of ops that put tensors end to end: what comes out is as wide as its parts together.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/ir/graph.h"
#include "hydro/shrink/atoms.h"
#include "hydro/shrink/rules.h"
#include "hydro/shrink/walk.h"

namespace hydro::shrink {

namespace {

/// Equal pieces are one width some times over, unless one of them stays while another shrinks.
bool are_alike(Walk& walk, const std::vector<Dimension>& pieces) {
  const Atoms& atoms = walk.atoms();
  return std::ranges::all_of(pieces, [&](const Dimension& piece) {
    return atoms.size(piece) == atoms.size(pieces.front()) &&
           atoms.is_pinned(piece) == atoms.is_pinned(pieces.front()) &&
           atoms.lines_up(piece, pieces.front());
  });
}

Dimension end_to_end(Walk& walk, const ir::Node& node, std::vector<Dimension> pieces) {
  Atoms& atoms = walk.atoms();
  std::int64_t total = 0;
  for (const Dimension& piece : pieces) {
    total += atoms.size(piece);
  }
  const bool alike = are_alike(walk, pieces);
  if (!alike && std::ranges::all_of(
                    pieces, [&](const Dimension& piece) { return atoms.is_pinned(piece); })) {
    return atoms.add_pinned(total, "concatenation of sizes that stay");
  }
  if (!alike) {
    std::erase_if(pieces, [&](const Dimension& piece) { return atoms.size(piece) == 0; });
    return atoms.add_sum(std::move(pieces));
  }
  Dimension out =
      atoms.add_pinned(static_cast<std::int64_t>(pieces.size()), "number of equal parts");
  out.insert(out.end(), pieces.front().begin(), pieces.front().end());
  for (const Dimension& piece : pieces) {
    walk.unify(node, pieces.front(), piece);
  }
  return out;
}

/// Joins the dimensions of all pieces except `dim`, which is left to the caller.
Result<Dimensions> join_others(Walk& walk,
                               const ir::Node& node,
                               const std::vector<ir::ValueId>& pieces,
                               std::size_t dim) {
  Dimensions out = walk.dims(pieces.front());
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
  }
  return out;
}

/// Tensors of one empty dimension may stand among the pieces of a cat; they add nothing.
std::vector<ir::ValueId> pieces_of(const Walk& walk, const ir::Node& node) {
  std::vector<ir::ValueId> pieces = ir::operands(node);
  std::erase_if(pieces, [&](ir::ValueId piece) {
    return pieces.size() > 1 && walk.shape(piece) == std::vector<std::int64_t>{0};
  });
  return pieces;
}

std::vector<Dimension> padded(Atoms& atoms,
                              std::int64_t before,
                              const Dimension& own,
                              std::int64_t after) {
  std::vector<Dimension> parts;
  if (before > 0) {
    parts.push_back(atoms.add_free(before));
  }
  parts.push_back(own);
  if (after > 0) {
    parts.push_back(atoms.add_free(after));
  }
  return parts;
}

}  // namespace

Result<void> cat_rule(Walk& walk, const ir::Node& node) {
  const std::vector<ir::ValueId> pieces = pieces_of(walk, node);
  if (pieces.empty()) {
    return contradiction(node, "nothing to join");
  }
  const std::size_t dim = dim_of(node, walk.rank(pieces.front()));
  HYDRO_TRY(Dimensions out, join_others(walk, node, pieces, dim));
  std::vector<Dimension> parts;
  parts.reserve(pieces.size());
  for (const ir::ValueId piece : pieces) {
    parts.push_back(walk.dims(piece)[dim]);
  }
  out[dim] = end_to_end(walk, node, std::move(parts));
  walk.set_outputs(node, out);
  return {};
}

Result<void> stack_rule(Walk& walk, const ir::Node& node) {
  const std::vector<ir::ValueId> pieces = ir::operands(node);
  if (pieces.empty()) {
    return contradiction(node, "nothing to join");
  }
  const std::size_t rank = walk.rank(pieces.front());
  HYDRO_TRY(Dimensions out, join_others(walk, node, pieces, rank));
  const Dimension count =
      walk.atoms().add_pinned(static_cast<std::int64_t>(pieces.size()), "number of tensors");
  out.insert(out.begin() + static_cast<std::ptrdiff_t>(dim_of(node, rank + 1)), count);
  walk.set_outputs(node, out);
  return {};
}

Result<void> pad_rule(Walk& walk, const ir::Node& node) {
  Dimensions out = walk.dims(node.value("self"));
  Atoms& atoms = walk.atoms();
  const std::vector<std::int64_t> shape = walk.shape(node.outputs.at(0));
  const std::vector<ir::IntItem>& items = node.items("pad");
  const ir::Argument* mode = node.find_argument("mode");
  const bool fills = mode == nullptr || *mode == ir::Argument(std::string("constant"));
  for (std::size_t i = 0; i < items.size() / 2 && i < out.size(); ++i) {
    Dimension& own = out[out.size() - 1 - i];
    const std::int64_t total = shape.at(out.size() - 1 - i);
    const auto* before = std::get_if<std::int64_t>(&items[2 * i]);
    const auto* after = std::get_if<std::int64_t>(&items[2 * i + 1]);
    const bool known = before != nullptr && after != nullptr && *before >= 0 && *after >= 0;
    if (known && *before == 0 && *after == 0) {
      continue;
    }
    if (known && fills && !atoms.is_pinned(own) && !own.empty()) {
      own = end_to_end(walk, node, padded(atoms, *before, own, *after));
    } else {
      walk.pin(node, own, "pads it to " + std::to_string(total));
      own = atoms.add_pinned(total, "padding");
    }
  }
  walk.set_outputs(node, out);
  return {};
}

}  // namespace hydro::shrink
