// hydro/ir/cost.h — how much arithmetic a graph is: the measure of virtual time and of packing.
#pragma once

#include <cstdint>

#include "hydro/ir/graph.h"

namespace hydro::ir {

/// Multiply-adds of one forward pass for one sample, counted on convolutions and matrix
/// products; at least 1.
///
/// Requires: a batch dimension on some user input (else the whole example counts as one sample)
[[nodiscard]] std::int64_t multiply_adds(const Graph& graph);

}  // namespace hydro::ir
