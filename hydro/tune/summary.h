// hydro/tune/summary.h — a study's results as data, from its state alone: what `show`,
// result.json, trials.csv and metrics.csv print.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/search/space.h"
#include "hydro/tune/events.h"
#include "hydro/tune/phases.h"
#include "hydro/tune/state.h"
#include "hydro/worker/messages.h"

namespace hydro::tune {

/// One row of trials.csv.
struct TrialRow {
  worker::TrialId id{};
  TrialStatus status = TrialStatus::kWaiting;
  std::string reason;  // why it failed, was stopped, waits or was interrupted
  search::Config config;
  std::optional<double> value;  // of the study's metric, last report
  double epochs = 0;
  double seconds = 0;  // wall time in training, containers shared
};

/// One row of metrics.csv.
struct MetricRow {
  worker::TrialId trial{};
  worker::TrialKind kind = worker::TrialKind::kSurrogate;
  std::int64_t step = 0;
  double epoch = 0;
  std::string metric;
  double value = 0;
};

struct TargetRow {
  worker::TrialId trial{};
  TargetStatus status = TargetStatus::kRunning;
  std::string reason;
  std::optional<double> value;
  std::optional<double> test;       // the study's metric on the test split
  std::optional<double> surrogate;  // the value of its trial in the search
  double epochs = 0;
};

/// Failed trials that have one cause.
struct FailureCause {
  std::string cause;
  std::int64_t count = 0;
  worker::TrialId first{};
};

struct Summary {
  std::string study;
  std::string state;  // "running", "finished", "interrupted", "failed"
  std::string metric;
  Mode mode = Mode::kMax;
  double scaling = 1;
  std::optional<TrialRow> best;     // of the search
  std::optional<TargetRow> target;  // delivered; nothing unless one finished
  std::vector<TargetRow> targets;   // all attempts
  Counts counts;
  std::map<std::int64_t, std::int64_t> stopped_at;  // how many, by rung; 0: by no rung
  std::vector<FailureCause> failures;               // most frequent first, then by first trial
  Latency latency;                                  // of a searcher that learns
  PhaseSeconds phases;                              // of an open study: up to its last event
};

[[nodiscard]] Summary summarize(const State& state);
/// By trial id.
[[nodiscard]] std::vector<TrialRow> trial_rows(const State& state);
/// Surrogates by trial, then targets in the order of their starts; inside in time order,
/// metrics by name.
[[nodiscard]] std::vector<MetricRow> metric_rows(const State& state);

/// "finished"
[[nodiscard]] std::string_view trial_status_name(TrialStatus status);
[[nodiscard]] std::string_view target_status_name(TargetStatus status);
/// "max"
[[nodiscard]] std::string_view mode_name(Mode mode);

/// "50 answers in 1.2 s, the longest 0.08 s"
[[nodiscard]] std::string latency_text(const Latency& latency);

/// Why a closed study delivers nothing, with causes and what is kept; nothing for a finished or
/// open one. Its catalogue row has the process exit code.
[[nodiscard]] std::optional<Error> study_error(const State& state);

}  // namespace hydro::tune
