// hydro/report/results.h — a study's results as files and text: result.json, trials.csv,
// metrics.csv, the summary that ends a run and `show`. Pure: state in, text out. Forms fixed in
// INTERFACE section 4.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "hydro/search/space.h"
#include "hydro/tune/state.h"
#include "hydro/tune/summary.h"
#include "hydro/worker/messages.h"

namespace hydro::report {

/// The columns of hyperparameters: path and the short name people know, in the job's order.
struct Column {
  std::string path;
  std::string name;
};

[[nodiscard]] std::vector<Column> columns_of(const search::Space& space);

/// `weights`: path of the delivered weights relative to the run's folder.
[[nodiscard]] std::string result_json(const tune::Summary& summary,
                                      const std::vector<Column>& columns,
                                      const std::string& weights);

/// What `hydro show` prints of a study.
struct Shown {
  tune::Summary summary;
  std::vector<tune::TrialRow> trials;  // of the table
  std::vector<Column> columns;
  std::vector<std::string> lost;  // files that the study left and that cannot be read
};

/// The same, with the trials under "trial_table": objects with the columns of trials.csv; of a
/// searcher that learns the time it took, and what is lost.
[[nodiscard]] std::string show_json(const Shown& shown, const std::string& weights);
[[nodiscard]] std::string trials_csv(const std::vector<tune::TrialRow>& trials,
                                     const std::vector<Column>& columns);
[[nodiscard]] std::string metrics_csv(const tune::State& state);

/// The lines that end `hydro tune`. `folder`: the run's, as the user would type it.
[[nodiscard]] std::string summary_text(const tune::Summary& summary,
                                       const std::vector<Column>& columns,
                                       const std::string& folder);
/// The summary and a table of the trials; those that wait are one line.
[[nodiscard]] std::string show_text(const Shown& shown, const std::string& folder);

/// What a trial was given, what it reported, why it waits, stopped or failed, and what became
/// of its target.
///
/// Requires: the trial exists (BugError)
[[nodiscard]] std::string trial_story(const tune::State& state,
                                      worker::TrialId id,
                                      const std::vector<Column>& columns);

/// " (5 at rung 1, 1 at rung 3)"; nothing where no rung stopped a trial.
[[nodiscard]] std::string rungs_text(const std::map<std::int64_t, std::int64_t>& stopped_at);

/// "lr 0.1, momentum 0.9"
[[nodiscard]] std::string config_text(const search::Config& config,
                                      const std::vector<Column>& columns);

}  // namespace hydro::report
