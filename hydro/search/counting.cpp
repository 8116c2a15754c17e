#include "hydro/search/counting.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "hydro/base/result.h"
#include "hydro/search/space.h"

namespace hydro::search {

std::int64_t capped_product(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) {
    return kMostConfigurations + 1;
  }
  return std::min(product, kMostConfigurations + 1);
}

std::int64_t finite_count(const Distribution& distribution) {
  const std::optional<std::int64_t> count = value_count(distribution);
  HYDRO_CHECK(count.has_value(), std::string(distribution_name(distribution)));
  return *count;
}

Result<void> check_total(std::int64_t total) {
  if (total > kMostConfigurations) {
    return make_error("H0707", "the search space asks for more than a billion configurations");
  }
  return {};
}

}  // namespace hydro::search
