// hydro/train/recurrent_contributions.h — what changes of the weights of a recurrent node give
// to its gates: of the input weights by each layer's inputs, of the hidden ones by its states
// before each step.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "hydro/ir/graph.h"
#include "hydro/ops/executor.h"
#include "hydro/ops/ops.h"
#include "hydro/ops/torch.h"
#include "hydro/shrink/coordinates.h"

namespace hydro::train {

[[nodiscard]] bool is_recurrent(const ir::Node& node);

/// Of those weights that `weights` names, layer by layer; dropout between layers is left out.
/// Requires: is_recurrent(node), no projections
[[nodiscard]] std::vector<shrink::LayerMeasure> measure_recurrent(
    const ops::Program& program,
    const ir::Node& node,
    const ops::Frame& frame,
    const std::set<std::string>& weights,
    const std::function<at::Tensor(const std::string& weight)>& change_of);

}  // namespace hydro::train
