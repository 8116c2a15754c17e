// hydro/job/optimizer_section.h — `train.optimizer` and `train.schedule`.
#pragma once

#include <vector>

#include "hydro/base/result.h"
#include "hydro/job/node.h"
#include "hydro/job/reader.h"
#include "hydro/job/schema.h"
#include "hydro/worker/settings.h"

namespace hydro::job {

/// Requires: no distribution is left in `node`
[[nodiscard]] Result<worker::Optimizer> read_optimizer(const Reader& reader, const Node& node);
[[nodiscard]] Result<worker::Schedule> read_schedule(const Reader& reader, const Node& node);

/// Appends the tables of every optimizer and schedule.
void list_optimizers(std::vector<KnownKey>& keys);

/// Adds the defaults of every option whose name is written out.
void complete_optimizer(Node& node);
void complete_schedule(Node& node);

}  // namespace hydro::job
