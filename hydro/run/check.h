// hydro/run/check.h — `hydro check`: everything that `tune` would refuse, found without
// training.
#pragma once

#include <filesystem>
#include <stop_token>
#include <string>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/run/backend.h"
#include "hydro/run/check_report.h"

namespace hydro::run {

struct CheckRequest {
  std::filesystem::path job;
  std::vector<std::string> settings;
  bool coordinates = false;  // also the full coordinate check
};

/// Exports into a temporary folder, which is removed again. A refusal found after the job file
/// was read is in the report; an error of the job file itself is returned.
[[nodiscard]] Result<CheckReport> check_job(const CheckRequest& request,
                                            const Backend& backend,
                                            const std::stop_token& stop);

}  // namespace hydro::run
