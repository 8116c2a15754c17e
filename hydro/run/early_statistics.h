// hydro/run/early_statistics.h — first reports that come before batch norms know the data.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hydro/ir/graph.h"
#include "hydro/job/job.h"
#include "hydro/run/material.h"

namespace hydro::run {

/// A warning when the first evaluation, after `steps` steps, would use running statistics that
/// are still largely what they started as: fewer than 3 / momentum steps (30 at a momentum of
/// .1), so that over 5 % of the start is left. Trials are then compared by chance.
[[nodiscard]] std::optional<std::string> early_statistics(const ir::Graph& train,
                                                          std::int64_t steps);

/// The same for every architecture of a study, each warning once.
[[nodiscard]] std::vector<std::string> early_reports(const job::Job& job,
                                                     const Material& material);

}  // namespace hydro::run
