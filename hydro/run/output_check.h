// hydro/run/output_check.h — whether the loss of a task can take what a model returns.
#pragma once

#include "hydro/base/result.h"
#include "hydro/ir/graph.h"
#include "hydro/worker/settings.h"

namespace hydro::run {

/// Losses over classes normalise scores themselves.
///
/// Errors: H0255, the selected output is a softmax, with the user's line
[[nodiscard]] Result<void> check_output(const ir::Graph& graph, worker::Task task);

}  // namespace hydro::run
