// hydro/shrink/multipliers.h — products with a constant that a surrogate has and its target has
// not.
#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "hydro/ir/graph.h"

namespace hydro::shrink {

/// Of one operand of a node.
struct OperandFactor {
  std::string argument;
  std::size_t place = 0;  // where that argument is a list
  double factor = 1;
};

/// By node of one graph.
struct Multipliers {
  std::map<ir::NodeId, OperandFactor> operands;
  std::map<ir::NodeId, double> results;  // of a node's first output
};

/// Puts an `aten.mul.Tensor` in front of or behind each node named, at positions -1, -2, ...:
/// the positions of all others stay.
void insert_multipliers(ir::Graph& graph, const Multipliers& wanted);

}  // namespace hydro::shrink
