// hydro/shrink/products.h — dimensions of parameters as products of widths.
#pragma once

#include <cstdint>
#include <vector>

#include "hydro/ir/model.h"
#include "hydro/shrink/analysis.h"
#include "hydro/shrink/atoms.h"

namespace hydro::shrink {

/// A dimension, or a part of one that is a sum.
struct WidthProduct {
  Dimension widths;        // outer to inner, at least one
  std::int64_t fixed = 1;  // the factors that do not shrink
};

/// Of every dimension of a parameter or buffer that has a width, in state order.
[[nodiscard]] std::vector<WidthProduct> width_products(const Analysis& analysis,
                                                       const ir::Model& model);
/// Without those that are only a factor of another: channels per group are no width of their
/// own.
[[nodiscard]] std::vector<WidthProduct> whole_products(
    const std::vector<WidthProduct>& products);

}  // namespace hydro::shrink
