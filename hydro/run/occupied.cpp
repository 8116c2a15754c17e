#include "hydro/run/occupied.h"

#include <filesystem>
#include <string>
#include <utility>

#include "hydro/base/file.h"
#include "hydro/base/result.h"
#include "hydro/base/text.h"
#include "hydro/job/job.h"
#include "hydro/run/study.h"
#include "hydro/tune/summary.h"

namespace hydro::run {
namespace {

namespace fs = std::filesystem;

/// job.yaml is the resolved job and, behind it, comments.
bool is_of_job(const job::Job& job, const fs::path& folder) {
  const Result<std::string> text = read_text(folder / "job.yaml");
  return text.has_value() && text->starts_with(job::resolved_yaml(job) + "# ");
}

std::string kind_of(const job::Job& job, const fs::path& folder, const std::string& name) {
  if (is_of_job(job, folder)) {
    return "a study of this same job";
  }
  return name == job.name ? "a study of this name with other settings"
                          : "another study, `" + printable(name) + "`";
}

std::string remedy_of(const std::string& state, const std::string& folder) {
  const std::string fresh =
      "give a new folder with -o, or leave -o out to get a fresh one under runs/";
  const std::string show = "`hydro show " + folder + "` ";
  if (state == "running") {
    return show + "reads it meanwhile; for a study beside it " + fresh;
  }
  return state == "finished"
             ? show + "prints its results; to run again " + fresh
             : show +
                   "prints what it kept; it cannot be continued in this version: to start "
                   "again " +
                   fresh;
}

}  // namespace

Error explain_occupied(const job::Job& job, const fs::path& folder, Error error) {
  if (error.id != "H0615") {
    return error;
  }
  const Result<StoredStudy> stored = read_study(folder);
  if (!stored.has_value()) {
    return error;
  }
  const tune::Summary summary = tune::summarize(stored->state);
  error.what = "`" + folder.string() + "` holds " + kind_of(job, folder, summary.study) + ": " +
               summary.state;
  return std::move(error).fix(remedy_of(summary.state, folder.string()));
}

}  // namespace hydro::run
