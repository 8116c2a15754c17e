// hydro/ops/executor.h — a graph made ready to run (Program), and its run: rows resolved, axes
// marked, values freed after their last use. A Program is immutable and may be shared by
// threads; a run's state is in its Frame. What all runs on inputs of one shape have in common
// (masks, positions: nodes marked constant) is computed by the first and kept.
//
//   HYDRO_TRY(const Program program, compile(graph, K));
//   std::vector<at::Tensor> feeds = ...;           // parallel to program.graph.inputs
//   std::vector<at::Tensor> out = run(program, feeds, streams);   // parallel to
//   program.graph.outputs
//
// Feeds, K > 1: parameters and buffers [K, ...]; user inputs and constants as for one trial. K
// = 1: no axis. Results, K > 1: always [K, ...]. Buffers' next values carry no gradient.
// Gradients are recorded under torch's own (thread-local) mode: the caller gives leaves that
// require them, or holds a c10::NoGradGuard.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/fuse/trial_axis.h"
#include "hydro/ir/graph.h"
#include "hydro/ops/ops.h"
#include "hydro/ops/program_cache.h"
#include "hydro/ops/table.h"
#include "hydro/ops/torch.h"

namespace hydro::ops {

/// One node, resolved. `reuse`: see Call::reuse(). A constant node's results are computed once
/// for each shape of the inputs; `kept` are those that other nodes read. `dead`: values that no
/// later node reads.
struct Step {
  ir::NodeId node{};
  Run run = nullptr;
  bool reuse = false;
  bool constant = false;
  std::vector<ir::ValueId> kept;
  std::vector<ir::ValueId> dead;
};

struct Program {
  ir::Graph graph;
  std::int64_t trials = 1;
  fuse::Axes axes;
  std::vector<Step> steps;
  std::shared_ptr<ProgramCache> cache;  // also held by the program's copies
};

/// Requires: trials at least 1 (BugError)
/// Errors:   H0330, an op that libtorch does not have; H0332, one that draws random numbers and
///           has no row; both name op and the user's line
[[nodiscard]] Result<Program> compile(const ir::Graph& graph, std::int64_t trials);

/// Called after each node, while its operands and outputs are still in the frame.
using Observer = std::function<void(const ir::Node& node, const Frame& frame)>;

/// Runs the nodes in order and returns the graph's outputs.
///
/// Requires: one feed an input, one random key a trial (BugError)
/// Throws:   c10::Error from libtorch, as out of memory
[[nodiscard]] std::vector<at::Tensor> run(const Program& program,
                                          std::span<const at::Tensor> feeds,
                                          const RandomStreams& random,
                                          const Observer& observer = {});

/// Runs once, without gradients, and compares every node's results with the graph's types; a
/// dynamic dimension may have any size.
///
/// Errors: H0331, naming node and both shapes
[[nodiscard]] Result<void> check_shapes(const Program& program,
                                        std::span<const at::Tensor> feeds,
                                        const RandomStreams& random);

}  // namespace hydro::ops
