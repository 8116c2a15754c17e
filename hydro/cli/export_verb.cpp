#include <filesystem>
#include <string>

#include <fmt/core.h>

#include "hydro/base/catalogue.h"
#include "hydro/base/result.h"
#include "hydro/cli/verbs.h"
#include "hydro/run/export_process.h"
#include "hydro/run/signals.h"

namespace hydro::cli {

VerbResult export_verb(const ExportOptions& options) {
  run::SignalStop stop;
  const run::ExportRequest request = {.target = options.target,
                                      .args = options.args,
                                      .kwargs = options.kwargs,
                                      .inputs = options.inputs,
                                      .forward = options.forward,
                                      .initialization = options.initialization,
                                      .folder = std::filesystem::current_path(),
                                      .interpreter = options.python,
                                      .output = std::filesystem::absolute(options.output)};
  fmt::print(stderr, "running the Python of {}\n", options.target);
  HYDRO_TRY(const std::string said, run::export_model(request, stop.token()));
  fmt::print(stderr, "{}", said);
  fmt::print("wrote {}\n", options.output);
  return ExitCode::kDone;
}

}  // namespace hydro::cli
