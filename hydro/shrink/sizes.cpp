#include "hydro/shrink/sizes.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/ir/model.h"
#include "hydro/shrink/analysis.h"
#include "hydro/shrink/atoms.h"
#include "hydro/shrink/surrogate.h"

namespace hydro::shrink {

namespace {

using Widths = std::map<AtomId, Sizes::Width>;

/// The width atoms of every dimension of a parameter or buffer, in state order.
std::vector<Dimension> width_dimensions(const Analysis& analysis, const ir::Model& model) {
  std::vector<Dimension> found;
  for (const ir::StateEntry& entry : model.state) {
    const auto dims = analysis.state.find(entry.name);
    if (dims == analysis.state.end()) {
      continue;
    }
    for (const Dimension& dimension : dims->second) {
      Dimension widths = analysis.atoms.leaves(dimension);
      std::erase_if(widths, [&](AtomId leaf) { return !analysis.atoms.is_width(leaf); });
      if (!widths.empty()) {
        found.push_back(std::move(widths));
      }
    }
  }
  return found;
}

/// Without those that are only a factor of another: channels per group are no width of their
/// own.
std::vector<Dimension> whole_dimensions(const std::vector<Dimension>& dimensions) {
  std::map<AtomId, std::size_t> longest;
  for (const Dimension& dimension : dimensions) {
    for (const AtomId leaf : dimension) {
      longest[leaf] = std::max(longest[leaf], dimension.size());
    }
  }
  std::vector<Dimension> whole;
  std::ranges::copy_if(dimensions, std::back_inserter(whole), [&](const Dimension& dimension) {
    return std::ranges::all_of(dimension,
                               [&](AtomId leaf) { return longest[leaf] == dimension.size(); });
  });
  return whole;
}

std::int64_t product(const Dimension& dimension, const Widths& widths) {
  std::int64_t result = 1;
  for (const AtomId leaf : dimension) {
    result *= widths.at(leaf).size;
  }
  return result;
}

/// A product of widths shrinks once. The innermost factor does it; where that would need less
/// than one entry, the outermost does instead.
void choose_factors(const Atoms& atoms,
                    const std::vector<Dimension>& dimensions,
                    double scaling,
                    Widths& widths) {
  for (const Dimension& dimension : dimensions) {
    for (std::size_t i = 0; i + 1 < dimension.size(); ++i) {
      widths[dimension[i]].scales = false;
    }
  }
  for (const Dimension& dimension : dimensions) {
    if (dimension.size() > 1 && static_cast<double>(atoms.size(dimension.back())) < scaling) {
      widths[dimension.front()].scales = true;
    }
  }
  // An outer factor that shrinks for one dimension's sake holds the others of every dimension
  // it is in.
  bool changed = true;
  while (changed) {
    changed = false;
    for (const Dimension& dimension : dimensions) {
      bool taken = false;
      for (const AtomId leaf : dimension) {
        Sizes::Width& width = widths[leaf];
        changed = changed || (taken && width.scales);
        width.scales = width.scales && !taken;
        taken = taken || width.scales;
      }
    }
  }
}

std::int64_t shrunk(std::int64_t size, double scaling) {
  return std::clamp<std::int64_t>(
      static_cast<std::int64_t>(std::ceil(static_cast<double>(size) / scaling)), 1, size);
}

/// Raises the factor that shrinks until the whole dimension has `least` entries.
void hold(const Atoms& atoms, const Dimension& dimension, std::int64_t least, Widths& widths) {
  for (const AtomId leaf : dimension) {
    Sizes::Width& width = widths[leaf];
    while (width.scales && width.size < atoms.size(leaf) &&
           product(dimension, widths) < least) {
      ++width.size;
      width.held_because = "minimum width " + std::to_string(least);
    }
  }
}

/// The atoms of every dimension of a parameter, in state order, as often as they stand there.
Dimension parameter_leaves(const Analysis& analysis, const ir::Model& model) {
  Dimension all;
  for (const ir::StateEntry& entry : model.state) {
    const auto dims = analysis.state.find(entry.name);
    if (entry.kind != ir::StateKind::kParameter || dims == analysis.state.end()) {
      continue;
    }
    for (const Dimension& dimension : dims->second) {
      const Dimension leaves = analysis.atoms.leaves(dimension);
      all.insert(all.end(), leaves.begin(), leaves.end());
    }
  }
  return all;
}

/// `width` is null where the leaf is no width.
WidthClass width_class(const Atoms& atoms, AtomId leaf, const Sizes::Width* width) {
  const std::int64_t size = atoms.size(leaf);
  const std::int64_t surrogate = width == nullptr ? size : width->size;
  return {.name = atoms.name(leaf),
          .size = size,
          .surrogate = surrogate,
          .whole = width == nullptr ? size : width->whole,
          .ratio = static_cast<double>(size) / static_cast<double>(surrogate),
          .pinned_because = atoms.pinned_because(leaf),
          .held_because = width == nullptr ? "" : width->held_because};
}

}  // namespace

const Sizes::Width* Sizes::find(AtomId leaf) const {
  const auto found = widths_.find(leaf);
  return found == widths_.end() ? nullptr : &found->second;
}

std::int64_t Sizes::of(const Dimension& dimension) const {
  std::int64_t product = 1;
  for (const AtomId leaf : atoms_->leaves(dimension)) {
    const Width* width = find(leaf);
    product *= width == nullptr ? atoms_->size(leaf) : width->size;
  }
  return product;
}

double Sizes::ratio(const Dimension& dimension) const {
  return static_cast<double>(target(dimension)) / static_cast<double>(of(dimension));
}

bool Sizes::scales(const Dimension& dimension) const {
  return std::ranges::any_of(atoms_->leaves(dimension), [&](AtomId leaf) {
    const Width* width = find(leaf);
    return width != nullptr && width->scales;
  });
}

Sizes choose_sizes(const Analysis& analysis, const ir::Model& model, const Options& options) {
  HYDRO_CHECK(options.scaling >= 1, "scaling under 1");
  const Atoms& atoms = analysis.atoms;
  const std::vector<Dimension> dimensions = width_dimensions(analysis, model);
  Widths widths;
  for (const Dimension& dimension : dimensions) {
    for (const AtomId leaf : dimension) {
      widths[leaf].size = atoms.size(leaf);
    }
  }
  choose_factors(atoms, dimensions, options.scaling, widths);
  for (auto& [leaf, width] : widths) {
    width.size = width.scales ? shrunk(atoms.size(leaf), options.scaling) : width.size;
    width.held_because = width.scales ? "" : "factor of a product that shrinks once";
  }
  const std::vector<Dimension> wholes = whole_dimensions(dimensions);
  for (const Dimension& dimension : wholes) {
    hold(atoms, dimension, options.min_width, widths);
  }
  for (const Dimension& dimension : wholes) {
    for (const AtomId leaf : dimension) {
      widths[leaf].whole = std::min(widths[leaf].whole, product(dimension, widths));
    }
  }
  return {atoms, std::move(widths)};
}

std::vector<WidthClass> width_classes(const Analysis& analysis,
                                      const ir::Model& model,
                                      const Sizes& sizes) {
  const Atoms& atoms = analysis.atoms;
  std::vector<WidthClass> classes;
  std::set<AtomId> seen;
  std::set<std::pair<std::string, std::int64_t>> pinned;
  for (const AtomId leaf : parameter_leaves(analysis, model)) {
    const std::string& reason = atoms.pinned_because(leaf);
    const bool listed = reason.empty() || pinned.emplace(reason, atoms.size(leaf)).second;
    if (seen.insert(leaf).second && listed) {
      classes.push_back(width_class(atoms, leaf, sizes.find(leaf)));
    }
  }
  return classes;
}

}  // namespace hydro::shrink
