#include "hydro/run/export_process.h"

#include <cstddef>
#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "hydro/base/catalogue.h"
#include "hydro/base/json.h"
#include "hydro/base/result.h"
#include "hydro/base/text.h"
#include "hydro/run/installation.h"
#include "hydro/run/process.h"

namespace hydro::run {
namespace {

namespace fs = std::filesystem;

/// The exporter runs in the job's folder, so that every path is given whole.
std::vector<std::string> command_line(const ExportRequest& request,
                                      const std::string& interpreter) {
  std::vector<std::string> arguments = {interpreter,
                                        "-m",
                                        "hydro.export",
                                        request.target,
                                        "--args",
                                        request.args,
                                        "--kwargs",
                                        request.kwargs,
                                        "--forward",
                                        request.forward,
                                        "--initialization",
                                        request.initialization,
                                        "--json",
                                        "-o",
                                        fs::absolute(request.output).string()};
  for (const std::string& input : request.inputs) {
    arguments.insert(arguments.end(), {"--input", input});
  }
  if (!request.folder.empty()) {
    arguments.insert(arguments.end(), {"--folder", fs::absolute(request.folder).string()});
  }
  return arguments;
}

std::string last_line(const std::string& text) {
  const std::size_t end = text.find_last_not_of("\n\r ");
  if (end == std::string::npos) {
    return {};
  }
  const std::size_t newline = text.find_last_of('\n', end);
  const std::size_t start = newline == std::string::npos ? 0 : newline + 1;
  return text.substr(start, end + 1 - start);
}

std::string field(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>()
                                                     : std::string();
}

/// The exporter's last words are one JSON object; anything else means that it died.
Error refusal(const ProcessResult& result) {
  const std::string line = last_line(result.errors);
  const Result<Json> object = parse_json(line, "H0260", "the exporter");
  if (object.has_value() && object->is_object() &&
      find_catalogue_row(field(*object, "id")) != nullptr) {
    Error error =
        make_error(field(*object, "id"), field(*object, "what")).at(field(*object, "where"));
    error.why = field(*object, "why");
    if (const std::string remedy = field(*object, "do"); !remedy.empty()) {
      error.remedy = remedy;
    }
    return error;
  }
  constexpr int kSignalled = 128;
  const std::string how =
      result.exit_code > kSignalled
          ? "was killed by signal " + std::to_string(result.exit_code - kSignalled)
          : "ended with code " + std::to_string(result.exit_code);
  return make_error("H0260", "the exporter " + how).because(printable(line));
}

/// Nothing where there is no such file.
std::optional<fs::file_time_type> last_write(const fs::path& path) {
  std::error_code missing;
  const fs::file_time_type time = fs::last_write_time(path, missing);
  return missing ? std::nullopt : std::optional(time);
}

}  // namespace

Result<std::string> export_model(const ExportRequest& request, const std::stop_token& stop) {
  HYDRO_TRY(const Installation installation, find_installation());
  const fs::path interpreter = fs::absolute(
      request.interpreter.empty() ? installation.interpreter : request.interpreter);
  const ProcessRequest process = {
      .arguments = command_line(request, interpreter.string()),
      .environment = {{"PYTHONPATH", python_path(installation)}, {"PYTHONUNBUFFERED", "1"}},
      .folder = request.folder};
  const auto before = last_write(request.output);
  HYDRO_TRY(ProcessResult result, run_process(process, stop));
  if (result.stopped) {
    return make_error("H0650", "stopped while the model was being exported");
  }
  if (result.exit_code != 0) {
    return refusal(result);
  }
  if (const auto after = last_write(request.output); !after || after == before) {
    return make_error("H0260",
                      "the exporter ended without writing `" + request.output.string() + "`")
        .because("the user's code may have ended the interpreter");
  }
  return std::move(result.output) + result.errors;
}

}  // namespace hydro::run
