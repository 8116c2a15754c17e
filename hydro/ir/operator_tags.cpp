#include "hydro/ir/operator_tags.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace hydro::ir {

namespace {

#include "hydro/ir/operator_tags.inc"

}  // namespace

bool is_pointwise(std::string_view op) {
  return std::ranges::binary_search(kPointwise, op);
}

bool is_random(std::string_view op) {
  return std::ranges::binary_search(kRandom, op);
}

}  // namespace hydro::ir
