// hydro/ir/rewire.h — small moves that several passes share.
#pragma once

#include <vector>

#include "hydro/ir/graph.h"

namespace hydro::ir {

/// A map for rename_operands in which every value stands for itself.
[[nodiscard]] std::vector<ValueId> identity_renaming(const Graph& graph);
/// Nodes and outputs read renamed[v] where they read v; inputs stay.
void rename_uses(Graph& graph, const std::vector<ValueId>& renamed);
/// For each value whether one of `wanted` depends on it.
[[nodiscard]] std::vector<bool> needed_values(const Graph& graph,
                                              const std::vector<ValueId>& wanted);
/// For each value whether it depends on a parameter, so that a gradient may flow through it.
[[nodiscard]] std::vector<bool> reached_by_parameters(const Graph& graph);

}  // namespace hydro::ir
