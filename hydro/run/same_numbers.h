// hydro/run/same_numbers.h — what a value of a graph was before ops that only lay its numbers
// out anew.
#pragma once

#include "hydro/ir/graph.h"

namespace hydro::run {

/// The value that the numbers of `value` come from: behind views, casts and permutations.
[[nodiscard]] ir::ValueId origin_of(const ir::Graph& graph, ir::ValueId value);

}  // namespace hydro::run
