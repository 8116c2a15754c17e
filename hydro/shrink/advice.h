// hydro/shrink/advice.h — what `check` tells about a surrogate: warnings, and the refusal of
// one that saves too little.
#pragma once

#include <string>
#include <vector>

#include "hydro/ir/model.h"
#include "hydro/shrink/scales.h"
#include "hydro/shrink/surrogate.h"

namespace hydro::shrink {

/// Narrow classes, widths that could not be followed and what they cost, constants of the
/// target equal to a width.
[[nodiscard]] std::vector<std::string> warnings_of(const ir::Model& target,
                                                   const Surrogate& surrogate,
                                                   const ScalePlan& scales);

/// Errors: H0302, with a table of the largest parameters and what pins or holds them
[[nodiscard]] Result<void> check_saving(const Surrogate& surrogate, const Options& options);

}  // namespace hydro::shrink
