// hydro/train/initialise.h — initial values by the recorded laws: element i of an entry is a
// pure function of (key, the entry's manifest index, i), drawn in double precision.
// Thread-safety: pure functions.
#pragma once

#include <cstdint>
#include <span>

#include "hydro/base/philox.h"
#include "hydro/ir/model.h"

namespace hydro::train {

/// The standard normal's quantile, to about 1e-15 relative; p in (0, 1).
[[nodiscard]] double normal_quantile(double p);

/// Elements [first, first + out.size()) of `entry` in row-major order.
///
/// Requires: the entry's laws cover its rows (BugError)
void draw_initial(const ir::StateEntry& entry,
                  std::uint64_t key,
                  std::int64_t first,
                  std::span<double> out);

}  // namespace hydro::train
