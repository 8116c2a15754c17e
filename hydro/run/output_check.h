// hydro/run/output_check.h — whether the loss of a task can take what a model returns.
#pragma once

#include <string>

#include "hydro/base/result.h"
#include "hydro/ir/graph.h"
#include "hydro/worker/settings.h"

namespace hydro::run {

/// Losses over classes normalise scores themselves.
///
/// Errors: H0255, the selected output is a softmax, with the user's line
[[nodiscard]] Result<void> check_output(const ir::Graph& graph, worker::Task task);

/// Of five guesses among at most five classes one is always right: such a share is not
/// reported.
///
/// Errors: H0122
[[nodiscard]] Result<void> check_metric(const ir::Graph& graph, const std::string& metric);

}  // namespace hydro::run
