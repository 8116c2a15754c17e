// hydro/train/node_run.h — one node of a program, run once more outside the program's own run.
// One trial. Nothing random may depend on it.
#pragma once

#include "hydro/ir/graph.h"
#include "hydro/ops/executor.h"
#include "hydro/ops/ops.h"

namespace hydro::train {

/// The node's outputs from its operands in `frame`, into it. Requires: the program has one
/// trial (BugError)
void run_again(const ops::Program& program, const ir::Node& node, ops::Frame& frame);

}  // namespace hydro::train
