// hydro/ir/known_arguments.h — what the passes take for granted of the ops that they interpret.
// A graph comes from an untrusted file, schemas included, so this is checked once, before the
// first pass that relies on it.
#pragma once

#include "hydro/base/result.h"
#include "hydro/ir/graph.h"

namespace hydro::ir {

/// Errors: H0250 an argument that the passes read is absent or of another kind, or an output is
/// no tensor.
[[nodiscard]] Result<void> check_known_arguments(const Graph& graph, const Node& node);

}  // namespace hydro::ir
