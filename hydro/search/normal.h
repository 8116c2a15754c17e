// hydro/search/normal.h — the normal distribution's inverse.
#pragma once

namespace hydro::search {

/// The standard normal value under which the share `u` lies; finite for every u in [0, 1), and
/// normal_quantile(u) = -normal_quantile(1 - u).
[[nodiscard]] double normal_quantile(double u);

}  // namespace hydro::search
