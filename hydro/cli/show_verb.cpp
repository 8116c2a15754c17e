#include <vector>

#include <fmt/core.h>

#include "hydro/base/catalogue.h"
#include "hydro/base/result.h"
#include "hydro/cli/verbs.h"
#include "hydro/report/results.h"
#include "hydro/run/study.h"
#include "hydro/tune/summary.h"

namespace hydro::cli {

VerbResult show_verb(const ShowOptions& options) {
  HYDRO_TRY(const run::StoredStudy study, run::read_study(options.folder));
  const std::vector<report::Column> columns =
      report::columns_of({.parameters = study.parameters});
  if (options.format == "json") {
    fmt::print(
        "{}",
        report::result_json(tune::summarize(study.state), columns, "best/model.safetensors"));
  } else if (options.format == "csv") {
    fmt::print("{}", report::trials_csv(study.state, columns));
  } else {
    fmt::print("{}", report::show_text(study.state, columns, options.folder));
  }
  return ExitCode::kDone;
}

}  // namespace hydro::cli
