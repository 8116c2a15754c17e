// hydro/job/points.h — `points_to_evaluate`: configurations that are tried first.
#pragma once

#include <cstdint>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/job/job.h"
#include "hydro/job/node.h"
#include "hydro/job/reader.h"
#include "hydro/search/space.h"

namespace hydro::job {

/// The list at `node`; a hyperparameter is named by its path or its short name, and one that a
/// point leaves out is drawn by chance.
///
/// Errors: H0105 no list of mappings; H0721 an unknown name, a value outside the space, or a
/// hyperparameter of an option that the point does not choose
[[nodiscard]] Result<std::vector<search::Config>> read_points(const Reader& reader,
                                                              const Node& node,
                                                              const search::Space& space,
                                                              std::uint64_t seed);

}  // namespace hydro::job
