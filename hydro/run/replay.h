// hydro/run/replay.h — one trial of a stored study run again, alone, and whether it reports the
// same numbers: what `hydro replay` prints.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/run/backend.h"
#include "hydro/worker/messages.h"

namespace hydro::run {

/// A stacked trial rounds differently from one alone, and every step after that works on what
/// was rounded: its numbers agree within this share of the larger of the two, or of 1.
constexpr double kStackedTolerance = .02;

/// One number of one report; nothing where one of the runs has none.
struct ReplayedNumber {
  std::int64_t step = 0;
  std::string metric;
  std::optional<double> then;
  std::optional<double> now;
  bool agrees = false;
};

struct Replay {
  std::string study;
  worker::TrialId trial{};
  std::int64_t step = 0;  // reached again
  double epoch = 0;
  double tolerance = 0;  // 0: bit for bit
  std::vector<ReplayedNumber> numbers;
  std::string cause_then;  // why it diverged; empty: it did not
  std::string cause_now;

  [[nodiscard]] std::int64_t disagreeing() const;
  [[nodiscard]] bool agrees() const;
};

/// Every number of both runs, by step and metric. `tolerance` 0: bit for bit.
[[nodiscard]] std::vector<ReplayedNumber> compare_reports(
    const std::vector<worker::Report>& then,
    const std::vector<worker::Report>& now,
    double tolerance);

/// Trains the trial with the study's own model, data, seeds and settings to the step that it
/// had reached.
///
/// Errors: read_study()'s; H0632 model or data are no longer what the study read; H0633 no such
///         trial, or nothing to compare; what the job, the data and training may fail with;
///         H0650 stopped
[[nodiscard]] Result<Replay> replay_trial(const std::filesystem::path& folder,
                                          worker::TrialId id,
                                          const Backend& backend,
                                          const std::stop_token& stop);

}  // namespace hydro::run
