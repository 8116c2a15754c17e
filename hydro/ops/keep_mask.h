// hydro/ops/keep_mask.h — dropout's masks from Philox, many blocks at once; the same bits as
// fill_uniform().
#pragma once

#include <span>

#include "hydro/base/philox.h"

namespace hydro::ops {

/// Element i of the site's stream is `scale` where its uniform is at least `p`, else 0: scale =
/// 1 / (1 - p) keeps the mean.
///
/// Requires: 0 <= p <= 1 (BugError)
void fill_keep_mask(const DrawSite& site, double p, float scale, std::span<float> mask);
void fill_keep_mask(const DrawSite& site, double p, double scale, std::span<double> mask);

}  // namespace hydro::ops
