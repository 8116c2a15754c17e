// hydro/search/counting.h — how many configurations there are, without overflow.
#pragma once

#include <cstdint>

#include "hydro/base/result.h"
#include "hydro/search/space.h"

namespace hydro::search {

inline constexpr std::int64_t kMostConfigurations = 1'000'000'000;

/// a x b, or one more than the limit.
[[nodiscard]] std::int64_t capped_product(std::int64_t a, std::int64_t b);

/// Requires: the distribution is finite (BugError)
[[nodiscard]] std::int64_t finite_count(const Distribution& distribution);

/// Errors: H0707 over the limit
[[nodiscard]] Result<void> check_total(std::int64_t total);

}  // namespace hydro::search
