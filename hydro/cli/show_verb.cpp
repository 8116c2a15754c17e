#include <utility>

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
  HYDRO_TRY(run::StoredStudy study, run::read_study(options.folder));
  report::Shown shown = {.summary = tune::summarize(study.state),
                         .trials = {},
                         .columns = report::columns_of({.parameters = study.parameters}),
                         .lost = std::move(study.lost)};
  HYDRO_TRY(
      shown.trials,
      report::select_trials(
          study.state,
          shown.columns,
          {.filters = options.filters, .sort = options.sort, .reverse = options.reverse}));
  if (options.format == "json") {
    fmt::print("{}", report::show_json(shown, "best/model.safetensors"));
  } else if (options.format == "csv") {
    fmt::print("{}", report::trials_csv(shown.trials, shown.columns));
  } else {
    fmt::print("{}", report::show_text(shown, options.folder));
  }
  return ExitCode::kDone;
}

}  // namespace hydro::cli
