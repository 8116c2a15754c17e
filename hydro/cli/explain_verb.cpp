#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "hydro/base/catalogue.h"
#include "hydro/base/result.h"
#include "hydro/base/text.h"
#include "hydro/cli/verbs.h"
#include "hydro/report/results.h"
#include "hydro/run/study.h"
#include "hydro/worker/messages.h"

namespace hydro::cli {
namespace {

std::vector<std::string> known_ids() {
  std::vector<std::string> ids;
  for (const CatalogueRow& row : catalogue()) {
    ids.emplace_back(row.id);
  }
  return ids;
}

VerbResult explain_trial(const std::string& folder, std::int64_t trial) {
  HYDRO_TRY(const run::StoredStudy study, run::read_study(folder));
  const auto count = static_cast<std::int64_t>(study.state.trials.size());
  if (trial < 0 || trial >= count) {
    return make_error("H0902", "there is no trial " + std::to_string(trial))
        .because("the study has suggested " + std::to_string(count) + " so far")
        .fix("trials count from 0; `hydro show " + printable(folder) + "` lists them");
  }
  fmt::print("{}",
             report::trial_story(study.state,
                                 worker::TrialId{trial},
                                 report::columns_of({.parameters = study.parameters})));
  return ExitCode::kDone;
}

/// "h302" and "302" are H0302.
std::string full_id(const std::string& code) {
  constexpr std::size_t kDigits = 4;
  const std::string digits =
      code.substr(code.starts_with('H') || code.starts_with('h') ? 1 : 0);
  const bool is_number = !digits.empty() && digits.size() <= kDigits &&
                         digits.find_first_not_of("0123456789") == std::string::npos;
  return is_number ? std::string("H").append(kDigits - digits.size(), '0').append(digits)
                   : code;
}

Error trial_missing(const std::string& folder) {
  return make_error("H0901", "which trial of `" + printable(folder) + "`?")
      .because("it is a folder, and a run has many trials")
      .fix("hydro explain " + printable(folder) + " 0; `hydro show` lists them");
}

}  // namespace

VerbResult explain_verb(const ExplainOptions& options) {
  if (options.trial.has_value()) {
    return explain_trial(options.code, *options.trial);
  }
  std::error_code ignored;
  if (std::filesystem::is_directory(options.code, ignored)) {
    return trial_missing(options.code);
  }
  const std::string code = full_id(options.code);
  if (code == "list") {
    for (const CatalogueRow& row : catalogue()) {
      fmt::print("{}  {}\n", row.id, row.title);
    }
    return ExitCode::kDone;
  }
  const CatalogueRow* row = find_catalogue_row(code);
  if (row == nullptr) {
    Error error = make_error("H0902", "there is no error code `" + printable(code) + "`");
    const std::string near = nearest(code, known_ids());
    return near.empty() ? error
                        : std::move(error).fix("did you mean `" + near +
                                               "`? `hydro explain list` prints all");
  }
  fmt::print("{}: {}\n\n{}\n\n   do: {}\n   exit code: {}\n",
             row->id,
             row->title,
             row->meaning,
             row->remedy,
             static_cast<int>(row->exit));
  return ExitCode::kDone;
}

}  // namespace hydro::cli
