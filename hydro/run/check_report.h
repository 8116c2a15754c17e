// hydro/run/check_report.h — what `hydro check` says, as data and as text or JSON. Pure.
// The JSON form is fixed (INTERFACE section 4).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/job/job.h"
#include "hydro/job/transfer.h"
#include "hydro/search/preview.h"
#include "hydro/search/scheduler.h"
#include "hydro/search/space.h"
#include "hydro/shrink/coordinates.h"
#include "hydro/shrink/surrogate.h"

namespace hydro::run {

/// One architecture of the study; `label` is empty when there is only one.
struct CheckedModel {
  std::string label;
  shrink::Surrogate surrogate;
};

/// Trials that may share containers.
struct CheckedGroup {
  std::string model;
  std::int64_t batch_size = 0;
  std::int64_t trials = 0;
  std::int64_t containers = 0;
};

/// What the scheduler is expected to do.
struct CheckedScheduler {
  search::SchedulerSettings settings;
  std::int64_t trials = 0;
  search::Preview preview;
};

struct CheckReport {
  std::string study;
  double scaling = 1;
  std::vector<CheckedModel> models;
  search::Space space;
  std::vector<job::Transfer> transfers;  // one a parameter of the space
  std::vector<job::DefaultValue> defaults;
  std::vector<CheckedGroup> groups;
  std::optional<CheckedScheduler> scheduler;
  std::optional<shrink::CoordinateVerdict> coordinates;
  std::vector<std::string> warnings;
  std::vector<Error> refusals;
};

/// Refusals stand alone, but for the warnings behind them; the JSON form has everything.
[[nodiscard]] std::string check_text(const CheckReport& report);
[[nodiscard]] std::string check_json(const CheckReport& report);

}  // namespace hydro::run
