#include "hydro/ir/operator_tags.h"

#include <algorithm>
#include <string_view>

#include "hydro/ir/operator_table.h"

namespace hydro::ir {

bool is_pointwise(std::string_view op) {
  return std::binary_search(kPointwise.begin(), kPointwise.end(), op);
}

bool is_random(std::string_view op) {
  return std::binary_search(kRandom.begin(), kRandom.end(), op);
}

}  // namespace hydro::ir
