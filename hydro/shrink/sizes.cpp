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
#include "hydro/shrink/heads.h"
#include "hydro/shrink/products.h"
#include "hydro/shrink/surrogate.h"

namespace hydro::shrink {

namespace {

using Widths = std::map<AtomId, Sizes::Width>;
using SettledWidths = std::map<AtomId, Settled>;

std::int64_t whole_size(const WidthProduct& product, const Widths& widths) {
  std::int64_t result = product.fixed;
  for (const AtomId leaf : product.widths) {
    result *= widths.at(leaf).size;
  }
  return result;
}

/// A product of widths shrinks once, by what is settled of it. Else the innermost factor of at
/// least S entries does it, and the outermost where there is none.
AtomId shrinking_factor(const Atoms& atoms,
                        const Dimension& dimension,
                        double scaling,
                        const SettledWidths& settled) {
  for (const AtomId leaf : dimension) {
    const auto known = settled.find(leaf);
    if (known != settled.end() && known->second.scales) {
      return leaf;
    }
  }
  for (auto leaf = dimension.rbegin(); leaf != dimension.rend(); ++leaf) {
    if (!settled.contains(*leaf) && static_cast<double>(atoms.size(*leaf)) >= scaling) {
      return *leaf;
    }
  }
  return dimension.front();
}

void choose_factors(const Atoms& atoms,
                    const std::vector<WidthProduct>& products,
                    double scaling,
                    const SettledWidths& settled,
                    Widths& widths) {
  std::vector<AtomId> chosen;
  for (const WidthProduct& product : products) {
    chosen.push_back(shrinking_factor(atoms, product.widths, scaling, settled));
    for (const AtomId leaf : product.widths) {
      widths[leaf].scales = widths[leaf].scales && leaf == chosen.back();
    }
  }
  for (std::size_t i = 0; i < products.size(); ++i) {
    // An outer factor is only chosen where the inner ones are too small.
    const bool outer = chosen[i] != products[i].widths.back();
    widths[chosen[i]].scales = widths[chosen[i]].scales || outer;
  }
  // A factor that shrinks for one dimension's sake holds the others of every dimension it is
  // in.
  bool changed = true;
  while (changed) {
    changed = false;
    for (const WidthProduct& product : products) {
      bool taken = false;
      for (const AtomId leaf : product.widths) {
        Sizes::Width& width = widths[leaf];
        changed = changed || (taken && width.scales);
        width.scales = width.scales && !taken;
        taken = taken || width.scales;
      }
    }
  }
}

/// What is settled holds whatever the products say.
void apply(const SettledWidths& settled, Widths& widths) {
  for (const auto& [leaf, known] : settled) {
    const auto found = widths.find(leaf);
    if (found != widths.end()) {
      found->second.size = known.size;
      found->second.scales = known.scales;
      found->second.held_because = known.held_because;
    }
  }
}

std::int64_t shrunk(std::int64_t size, double scaling) {
  return std::clamp<std::int64_t>(
      static_cast<std::int64_t>(std::ceil(static_cast<double>(size) / scaling)), 1, size);
}

/// Raises the factor that shrinks until the whole dimension has `least` entries.
void hold(const Atoms& atoms, const WidthProduct& product, std::int64_t least, Widths& widths) {
  for (const AtomId leaf : product.widths) {
    Sizes::Width& width = widths[leaf];
    while (width.scales && width.size < atoms.size(leaf) &&
           whole_size(product, widths) < least) {
      ++width.size;
      width.held_because = "minimum width " + std::to_string(least);
    }
  }
}

/// Heads alone (as in a table of one number a head) are no width that a minimum is meant for.
bool counts_heads(const WidthProduct& product, const SettledWidths& settled) {
  return product.fixed == 1 && std::ranges::all_of(product.widths, [&](AtomId leaf) {
           const auto known = settled.find(leaf);
           return known != settled.end() && known->second.counts_heads;
         });
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

/// Trained entries of a model of these sizes.
std::int64_t count_parameters(const Analysis& analysis,
                              const ir::Model& model,
                              const Sizes& sizes) {
  std::int64_t total = 0;
  for (const ir::StateEntry& entry : model.state) {
    const auto dims = analysis.state.find(entry.name);
    if (entry.kind != ir::StateKind::kParameter || dims == analysis.state.end()) {
      continue;
    }
    std::int64_t elements = 1;
    for (const Dimension& dimension : dims->second) {
      elements *= sizes.of(dimension);
    }
    total += elements;
  }
  return total;
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

Sizes Sizes::without_pin(const std::string& reason, double scaling) const {
  Sizes changed = *this;
  for (const AtomId leaf : atoms_->all_leaves()) {
    if (atoms_->is_parameter(leaf) && atoms_->pinned_because(leaf) == reason) {
      changed.widths_[leaf].size = shrunk(atoms_->size(leaf), scaling);
    }
  }
  return changed;
}

std::int64_t Sizes::of_factor(AtomId factor) const {
  const std::vector<Dimension>& parts = atoms_->parts(factor);
  if (parts.empty()) {
    const Width* width = find(factor);
    return width == nullptr ? atoms_->size(factor) : width->size;
  }
  std::int64_t sum = 0;
  for (const Dimension& part : parts) {
    sum += of(part);
  }
  return sum;
}

std::int64_t Sizes::of(const Dimension& dimension) const {
  std::int64_t product = 1;
  for (const AtomId factor : atoms_->factors(dimension)) {
    product *= of_factor(factor);
  }
  return product;
}

std::int64_t Sizes::offset(const Dimension& dimension, std::int64_t offset) const {
  const Dimension factors = atoms_->factors(dimension);
  if (factors.empty()) {
    return offset;
  }
  if (factors.size() > 1) {
    const Dimension inner(factors.begin() + 1, factors.end());
    const std::int64_t size = target(inner);
    return this->offset({factors.front()}, offset / size) * of(inner) +
           this->offset(inner, offset % size);
  }
  std::int64_t begin = 0;
  std::int64_t moved = 0;
  for (const Dimension& part : atoms_->parts(factors.front())) {
    const std::int64_t size = target(part);
    if (offset < begin + size) {
      return moved + this->offset(part, offset - begin);
    }
    begin += size;
    moved += of(part);
  }
  if (begin > 0) {
    return moved;
  }
  const std::int64_t size = std::max<std::int64_t>(target(factors), 1);
  return (offset * of(factors) + size - 1) / size;
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
  const std::vector<WidthProduct> products = width_products(analysis, model);
  Widths widths;
  for (const WidthProduct& product : products) {
    for (const AtomId leaf : product.widths) {
      widths[leaf].size = atoms.size(leaf);
    }
  }
  const SettledWidths settled = settle_heads(analysis, options.scaling);
  choose_factors(atoms, products, options.scaling, settled, widths);
  for (auto& [leaf, width] : widths) {
    width.size = width.scales ? shrunk(atoms.size(leaf), options.scaling) : width.size;
    width.held_because = width.scales ? "" : "factor of a product that shrinks once";
  }
  apply(settled, widths);
  std::vector<WidthProduct> wholes = whole_products(products);
  std::erase_if(wholes,
                [&](const WidthProduct& whole) { return counts_heads(whole, settled); });
  for (const WidthProduct& product : wholes) {
    hold(atoms, product, options.min_width, widths);
  }
  for (const WidthProduct& product : wholes) {
    for (const AtomId leaf : product.widths) {
      widths[leaf].whole = std::min(widths[leaf].whole, whole_size(product, widths));
    }
  }
  return {atoms, std::move(widths)};
}

bool is_avoidable(const std::string& pinned_because) {
  return pinned_because.find(" at ") != std::string::npos ||
         pinned_because.find("holds data") != std::string::npos;
}

std::vector<WidthClass> width_classes(const Analysis& analysis,
                                      const ir::Model& model,
                                      const Sizes& sizes,
                                      double scaling) {
  const Atoms& atoms = analysis.atoms;
  const std::int64_t total = count_parameters(analysis, model, sizes);
  std::vector<WidthClass> classes;
  std::set<AtomId> seen;
  std::set<std::pair<std::string, std::int64_t>> pinned;
  for (const AtomId leaf : parameter_leaves(analysis, model)) {
    const std::string& reason = atoms.pinned_because(leaf);
    const bool listed = reason.empty() || pinned.emplace(reason, atoms.size(leaf)).second;
    if (!seen.insert(leaf).second || !listed) {
      continue;
    }
    classes.push_back(width_class(atoms, leaf, sizes.find(leaf)));
    if (is_avoidable(reason)) {
      classes.back().cost =
          total - count_parameters(analysis, model, sizes.without_pin(reason, scaling));
    }
  }
  return classes;
}

}  // namespace hydro::shrink
