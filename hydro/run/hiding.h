// hydro/run/hiding.h — what `task: masked_language_model` hides tokens by: the job's numbers,
// and the mask that the tokenizer has.
#pragma once

#include <cstdint>
#include <optional>

#include "hydro/base/result.h"
#include "hydro/data/dataset.h"
#include "hydro/job/job.h"

namespace hydro::run {

/// Nothing for other tasks. `most` is how many tokens every model of the job knows.
///
/// Errors: H0401, H0424 the tokenizer's; H0428 it has no mask and the job names none
[[nodiscard]] Result<std::optional<data::Masking>> masking_of(const job::Job& job,
                                                              std::int64_t most);

}  // namespace hydro::run
