// hydro/run/study.h — `hydro tune` from job file to weights on disk, with everything that it
// keeps. What the command line and Python call.
#pragma once

#include <filesystem>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "hydro/base/clock.h"
#include "hydro/base/result.h"
#include "hydro/job/job.h"
#include "hydro/run/backend.h"
#include "hydro/run/edge.h"
#include "hydro/tune/state.h"

namespace hydro::run {

struct TuneRequest {
  std::filesystem::path job;
  std::vector<std::string> settings;  // "tune.num_samples=50"
  std::filesystem::path folder;       // empty: runs/NAME, then runs/NAME-2, ...
  std::int64_t process_start_ns = 0;  // monotonic: the makespan begins here
};

/// What happens on the way. Called from the thread that runs the study.
struct Listener {
  std::function<void(const job::Job&, const std::filesystem::path& folder)>
      opened;                                         // before any event
  std::function<void(const std::string& line)> says;  // warnings, with their newline
  Watcher event;
  std::function<void(const std::string& text)> logs =
      {};  // for the log alone: what the user's Python printed
};

struct StudyOutcome {
  job::Job job;
  std::filesystem::path folder;
  tune::State state;  // closed
};

/// Reads the job, prepares model and data, runs the study, writes best/config.yaml. A start
/// that fails before the study is opened leaves no folder behind.
///
/// Errors: everything of job, export, shrink, data; H06xx storage; H0650 stopped while
/// preparing. A study that ran
///         and delivers nothing is no error here: see tune::study_error().
[[nodiscard]] Result<StudyOutcome> tune_study(const TuneRequest& request,
                                              const Backend& backend,
                                              const Listener& listener,
                                              const Clock& clock,
                                              const std::stop_token& stop);

/// The error of a study that was opened, saying what of it can still be read.
[[nodiscard]] Error keeping_events(Error error, const std::filesystem::path& folder);

/// A stored study's state and job, for `show`. Commands that a dead process left open count as
/// lost.
struct StoredStudy {
  tune::State state;
  std::vector<search::Parameter> parameters;  // of job.yaml; empty when that cannot be read
  std::vector<std::string> lost;              // files that it left and that cannot be read
};

[[nodiscard]] Result<StoredStudy> read_study(const std::filesystem::path& folder);

}  // namespace hydro::run
