#include "hydro/shrink/heads.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "hydro/shrink/analysis.h"
#include "hydro/shrink/atoms.h"

namespace hydro::shrink {

namespace {

/// One attention's widths; pinned factors are not among them.
struct Widths {
  Dimension heads;
  Dimension query;  // entries of a query and of a key
  Dimension value;
  bool fewer_heads = false;

  [[nodiscard]] Dimension all() const {
    Dimension leaves = heads;
    leaves.insert(leaves.end(), query.begin(), query.end());
    leaves.insert(leaves.end(), value.begin(), value.end());
    return leaves;
  }
};

Dimension widths_of(const Atoms& atoms, const Dimension& dimension) {
  Dimension leaves = atoms.leaves(dimension);
  std::erase_if(leaves, [&](AtomId leaf) { return !atoms.is_width(leaf); });
  return leaves;
}

std::int64_t divided(std::int64_t size, double by) {
  return std::clamp<std::int64_t>(
      static_cast<std::int64_t>(std::ceil(static_cast<double>(size) / by)), 1, size);
}

/// Heads can only stay while every query, key and value can be made smaller.
bool needs_fewer_heads(const Atoms& atoms, const Attention& attention, double scaling) {
  return std::ranges::any_of(std::vector{attention.query_dim, attention.value_dim},
                             [&](const Dimension& dimension) {
                               return !atoms.has_width(dimension) ||
                                      static_cast<double>(atoms.size(dimension)) / scaling <=
                                          static_cast<double>(kLeastHead - 1);
                             });
}

/// Attentions that share a factor decide alike.
void agree(std::vector<Widths>& attentions) {
  bool changed = true;
  while (changed) {
    changed = false;
    std::set<AtomId> fewer;
    for (const Widths& widths : attentions) {
      const Dimension leaves = widths.fewer_heads ? widths.all() : Dimension{};
      fewer.insert(leaves.begin(), leaves.end());
    }
    for (Widths& widths : attentions) {
      const bool joins =
          !widths.fewer_heads && !widths.heads.empty() &&
          std::ranges::any_of(widths.all(), [&](AtomId leaf) { return fewer.contains(leaf); });
      widths.fewer_heads = widths.fewer_heads || joins;
      changed = changed || joins;
    }
  }
}

using SettledWidths = std::map<AtomId, Settled>;

void keep(const Atoms& atoms, const Dimension& leaves, const char* why, SettledWidths& out) {
  for (const AtomId leaf : leaves) {
    out.try_emplace(leaf,
                    Settled{.size = atoms.size(leaf), .scales = false, .held_because = why});
  }
}

/// Divides by S once: what one factor cannot take falls to the next.
void divide(const Atoms& atoms,
            const Dimension& leaves,
            double scaling,
            std::int64_t least,
            SettledWidths& out) {
  double left = scaling;
  for (const AtomId leaf : leaves) {
    const std::int64_t size = atoms.size(leaf);
    const std::int64_t wanted = divided(size, left);
    const std::int64_t made = std::max(wanted, std::min(size, least));
    left = std::max(1.0, left * static_cast<double>(made) / static_cast<double>(size));
    out.try_emplace(leaf,
                    Settled{.size = made,
                            .scales = true,
                            .held_because = made > wanted ? "least size of a head" : ""});
  }
}

}  // namespace

std::map<AtomId, Settled> settle_heads(const Analysis& analysis, double scaling) {
  const Atoms& atoms = analysis.atoms;
  std::vector<Widths> attentions;
  for (const Attention& attention : analysis.attentions) {
    Widths widths{.heads = widths_of(atoms, attention.heads),
                  .query = widths_of(atoms, attention.query_dim),
                  .value = widths_of(atoms, attention.value_dim)};
    widths.fewer_heads = !widths.heads.empty() && needs_fewer_heads(atoms, attention, scaling);
    attentions.push_back(std::move(widths));
  }
  agree(attentions);
  SettledWidths settled;
  for (const Widths& widths : attentions) {
    if (widths.fewer_heads) {
      divide(atoms, widths.heads, scaling, 1, settled);
      keep(atoms, widths.query, "the size of a head: there are fewer heads", settled);
      keep(atoms, widths.value, "the size of a head: there are fewer heads", settled);
      continue;
    }
    keep(atoms, widths.heads, "heads stay, their size shrinks", settled);
    for (Dimension entries : {widths.query, widths.value}) {
      std::ranges::reverse(entries);
      divide(atoms, entries, scaling, kLeastHead, settled);
    }
  }
  for (const Widths& widths : attentions) {
    for (const AtomId leaf : widths.heads) {
      settled.at(leaf).counts_heads = true;
    }
  }
  return settled;
}

}  // namespace hydro::shrink
