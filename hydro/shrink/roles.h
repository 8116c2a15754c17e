// hydro/shrink/roles.h — what each parameter is to the width, found from how the graph uses it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "hydro/ir/model.h"
#include "hydro/shrink/analysis.h"
#include "hydro/shrink/sizes.h"
#include "hydro/shrink/surrogate.h"

namespace hydro::shrink {

/// What the weight is to the width in this use.
[[nodiscard]] Role role_of(const WeightUse& use, const Sizes& sizes);

/// One plan a trainable entry, in state order: role, readout, shapes and ratios filled, no
/// factors or laws yet.
///
/// Errors: H0303 an override that matches no parameter, H0306 a weight used in two roles, H0308
/// an override that contradicts the graph
[[nodiscard]] Result<std::vector<ParameterPlan>> plan_roles(const ir::Model& model,
                                                            const Analysis& analysis,
                                                            const Sizes& sizes,
                                                            const Options& options);

}  // namespace hydro::shrink
