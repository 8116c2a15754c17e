// hydro/ops/products.h — matrix products of K trials.
#pragma once

#include <optional>

#include "hydro/ops/torch.h"

namespace hydro::ops {

/// One input for all trials, without K copies of it: one wide product.
///
/// Shapes: x [..., I], w [K, O, I], b [K, O] -> [K, ..., O]
[[nodiscard]] at::Tensor linear_wide(const at::Tensor& x,
                                     const at::Tensor& w,
                                     const std::optional<at::Tensor>& b);
/// Shapes: x [K, ..., I], w [K, O, I], b [K, O] -> [K, ..., O]
[[nodiscard]] at::Tensor linear_batched(const at::Tensor& x,
                                        const at::Tensor& w,
                                        const std::optional<at::Tensor>& b);

}  // namespace hydro::ops
