#include <fmt/core.h>

#include "hydro/base/catalogue.h"
#include "hydro/base/result.h"
#include "hydro/cli/torch_backend.h"
#include "hydro/cli/verbs.h"
#include "hydro/run/check.h"
#include "hydro/run/check_report.h"
#include "hydro/run/signals.h"

namespace hydro::cli {
namespace {

/// A refusal's own exit code; a failed coordinate check counts as one.
ExitCode exit_of(const run::CheckReport& report) {
  if (!report.refusals.empty()) {
    return find_catalogue_row(report.refusals.front().id)->exit;
  }
  return report.coordinates.has_value() && !report.coordinates->passed ? ExitCode::kUsage
                                                                       : ExitCode::kDone;
}

}  // namespace

VerbResult check_verb(const CheckOptions& options) {
  const run::SignalStop stop;
  const run::CheckRequest request = {
      .job = options.job, .settings = options.settings, .coordinates = options.coordinates};
  HYDRO_TRY(const run::CheckReport report,
            run::check_job(request, TorchBackend(), stop.token()));
  fmt::print("{}",
             options.format == "json" ? run::check_json(report) : run::check_text(report));
  return exit_of(report);
}

}  // namespace hydro::cli
