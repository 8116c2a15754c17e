// hydro/report/trial_table.h — a study's trials as a table that can be filtered and sorted, by
// the columns of trials.csv. Pure.
#pragma once

#include <string>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/report/results.h"
#include "hydro/tune/state.h"
#include "hydro/tune/summary.h"

namespace hydro::report {

/// Which trials, in which order.
struct Selection {
  std::vector<std::string> filters = {};  // "val_accuracy>0.8", "state=stopped": all must hold
  std::string sort = {};                  // a column, "-COLUMN": largest first; empty: by id
  bool reverse = false;
};

/// Compared as numbers where both sides are, else as text. A trial without a value in the
/// column fits no filter but `!=`, and comes last in any order. Equal ones stay by id. The
/// study's metric is another name of `value`.
///
/// Errors: H0903 no such column, or no filter
[[nodiscard]] Result<std::vector<tune::TrialRow>> select_trials(
    const tune::State& state, const std::vector<Column>& columns, const Selection& selection);

}  // namespace hydro::report
