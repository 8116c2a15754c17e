// hydro/ir/operator_tags.h — what PyTorch's own tags say of an operator. The lists are made by
// tools/operator_tags.py, so that no pointwise operator needs a row of ours.
#pragma once

#include <string_view>

namespace hydro::ir {

/// Works entry by entry on operands that broadcast against each other ("aten.gelu.default").
[[nodiscard]] bool is_pointwise(std::string_view op);
/// Draws random numbers, whatever its arguments say.
[[nodiscard]] bool is_random(std::string_view op);

}  // namespace hydro::ir
