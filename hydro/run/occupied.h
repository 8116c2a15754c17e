// hydro/run/occupied.h — why a folder cannot take a new study: which one it holds.
#pragma once

#include <filesystem>

#include "hydro/base/result.h"
#include "hydro/job/job.h"

namespace hydro::run {

/// `error`, when it says that `folder` holds a study (H0615), with whose study that is (of this
/// very job, of other settings, another), how it stands and what to do. Reads only.
[[nodiscard]] Error explain_occupied(const job::Job& job,
                                     const std::filesystem::path& folder,
                                     Error error);

}  // namespace hydro::run
