#include "hydro/shrink/products.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

#include "hydro/ir/model.h"
#include "hydro/shrink/analysis.h"
#include "hydro/shrink/atoms.h"

namespace hydro::shrink {

namespace {

/// The leaves of a dimension, once for each part that it is made of.
std::vector<Dimension> products_of(const Atoms& atoms, const Dimension& dimension) {
  std::vector<Dimension> lists = {{}};
  for (const AtomId factor : atoms.factors(dimension)) {
    std::vector<Dimension> inside;
    for (const Dimension& part : atoms.parts(factor)) {
      std::ranges::move(products_of(atoms, part), std::back_inserter(inside));
    }
    if (inside.empty()) {
      inside = {{factor}};
    }
    std::vector<Dimension> longer;
    for (const Dimension& list : lists) {
      for (const Dimension& part : inside) {
        longer.push_back(list);
        longer.back().insert(longer.back().end(), part.begin(), part.end());
      }
    }
    lists = std::move(longer);
  }
  return lists;
}

WidthProduct widths_of(const Atoms& atoms, const Dimension& leaves) {
  WidthProduct product;
  for (const AtomId leaf : leaves) {
    if (atoms.is_width(leaf)) {
      product.widths.push_back(leaf);
    } else {
      product.fixed *= atoms.size(leaf);
    }
  }
  return product;
}

}  // namespace

std::vector<WidthProduct> width_products(const Analysis& analysis, const ir::Model& model) {
  std::vector<WidthProduct> found;
  for (const ir::StateEntry& entry : model.state) {
    const auto dims = analysis.state.find(entry.name);
    if (dims == analysis.state.end()) {
      continue;
    }
    for (const Dimension& dimension : dims->second) {
      for (const Dimension& leaves : products_of(analysis.atoms, dimension)) {
        WidthProduct product = widths_of(analysis.atoms, leaves);
        if (!product.widths.empty()) {
          found.push_back(std::move(product));
        }
      }
    }
  }
  return found;
}

std::vector<WidthProduct> whole_products(const std::vector<WidthProduct>& products) {
  std::map<AtomId, std::size_t> longest;
  for (const WidthProduct& product : products) {
    for (const AtomId leaf : product.widths) {
      longest[leaf] = std::max(longest[leaf], product.widths.size());
    }
  }
  std::vector<WidthProduct> whole;
  std::ranges::copy_if(products, std::back_inserter(whole), [&](const WidthProduct& product) {
    return std::ranges::all_of(
        product.widths, [&](AtomId leaf) { return longest[leaf] == product.widths.size(); });
  });
  return whole;
}

}  // namespace hydro::shrink
