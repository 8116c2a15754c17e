#include <vector>

#include <fmt/core.h>

#include "hydro/base/catalogue.h"
#include "hydro/base/result.h"
#include "hydro/cli/verbs.h"
#include "hydro/report/results.h"
#include "hydro/report/trial_table.h"
#include "hydro/run/study.h"
#include "hydro/tune/summary.h"

namespace hydro::cli {

VerbResult show_verb(const ShowOptions& options) {
  HYDRO_TRY(const run::StoredStudy study, run::read_study(options.folder));
  const std::vector<report::Column> columns =
      report::columns_of({.parameters = study.parameters});
  HYDRO_TRY(
      const std::vector<tune::TrialRow> trials,
      report::select_trials(
          study.state,
          columns,
          {.filters = options.filters, .sort = options.sort, .reverse = options.reverse}));
  const tune::Summary summary = tune::summarize(study.state);
  if (options.format == "json") {
    fmt::print("{}", report::show_json(summary, trials, columns, "best/model.safetensors"));
  } else if (options.format == "csv") {
    fmt::print("{}", report::trials_csv(trials, columns));
  } else {
    fmt::print("{}", report::show_text(summary, trials, columns, options.folder));
  }
  return ExitCode::kDone;
}

}  // namespace hydro::cli
