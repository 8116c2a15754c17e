// hydro/shrink/readouts.h — which products with a weight are readouts: they start at zero.
#pragma once

#include <set>

#include "hydro/ir/graph.h"
#include "hydro/ir/model.h"
#include "hydro/shrink/analysis.h"

namespace hydro::shrink {

/// The nodes from which the user output is reached through no further weight and through no op
/// that passes no gradient, or an endless one, where all that it reads is zero: a rectified
/// readout that starts at zero would stay there (SqueezeNet ends in one).
[[nodiscard]] std::set<ir::NodeId> readout_nodes(const ir::Model& model,
                                                 Side side,
                                                 const Analysis& analysis);

}  // namespace hydro::shrink
