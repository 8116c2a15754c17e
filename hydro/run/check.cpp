#include "hydro/run/check.h"

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/base/text.h"
#include "hydro/job/job.h"
#include "hydro/job/transfer.h"
#include "hydro/plan/containers.h"
#include "hydro/run/backend.h"
#include "hydro/run/check_report.h"
#include "hydro/run/coordinate_check.h"
#include "hydro/run/early_statistics.h"
#include "hydro/run/external_searcher.h"
#include "hydro/run/material.h"
#include "hydro/search/preview.h"
#include "hydro/search/scheduler.h"
#include "hydro/search/searcher.h"
#include "hydro/search/space.h"
#include "hydro/worker/messages.h"

namespace hydro::run {
namespace {

namespace fs = std::filesystem;

/// Takes the archives while they are looked at.
class TemporaryFolder {
 public:
  [[nodiscard]] static Result<TemporaryFolder> make() {
    std::error_code error;
    const fs::path parent = fs::temp_directory_path(error);
    std::string pattern = (parent / "hydro-check-XXXXXX").string();
    if (!error && ::mkdtemp(pattern.data()) == nullptr) {
      error = std::error_code(errno, std::generic_category());
    }
    if (error) {
      return make_error("H0603", "cannot make a folder for temporary files")
          .because(error.message())
          .fix("name a folder that exists and has space by TMPDIR");
    }
    return TemporaryFolder(pattern);
  }

  TemporaryFolder(TemporaryFolder&& other) noexcept
      : path_(std::exchange(other.path_, fs::path())) {}

  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;

  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }

  [[nodiscard]] const fs::path& path() const { return path_; }

 private:
  explicit TemporaryFolder(fs::path path) : path_(std::move(path)) {}

  fs::path path_;
};

Result<void> add_groups(CheckReport& report,
                        const job::Job& job,
                        const Material& material,
                        std::int64_t samples) {
  const std::unique_ptr<search::Searcher> searcher = job::make_searcher(job);
  std::map<std::string, CheckedGroup> groups;
  for (std::int64_t k = 0; k < searcher->total(); ++k) {
    HYDRO_TRY(const std::optional<search::Config> config, searcher->ask(k));
    if (!config.has_value()) {
      break;
    }
    HYDRO_TRY(const job::ResolvedTrial trial, job::resolve(job, *config));
    const Architecture& architecture = material.architecture(trial.kwargs);
    const plan::Candidate candidate = {
        .id = worker::TrialId{k},
        .model = architecture.surrogate_key,
        .batch_size = trial.batch_size,
        .budget = job::budget(job.train, samples, trial.batch_size),
        .settings = trial.settings,
        .cost_per_sample = architecture.cost_per_sample};
    CheckedGroup& group = groups[plan::container_key(candidate)];
    group.model = architecture.label;
    group.batch_size = trial.batch_size;
    ++group.trials;
  }
  const std::int64_t limit =
      job.tune.fusion.kind == job::Fusion::Kind::kLimit ? job.tune.fusion.limit : 1;
  for (auto& [key, group] : groups) {
    group.containers = (group.trials + limit - 1) / limit;
    report.groups.push_back(std::move(group));
  }
  return {};
}

Result<void> add_scheduler(CheckReport& report, const job::Job& job, const Material& material) {
  HYDRO_TRY(const search::SchedulerSettings settings, scheduler_of(job, material));
  const std::int64_t trials = job::make_searcher(job)->total();
  report.scheduler = {
      .settings = settings, .trials = trials, .preview = search::preview(settings, trials)};
  return {};
}

std::string only_first_judged(const Material& material) {
  return "the coordinate check judges one of " + std::to_string(material.architectures.size()) +
         " architectures, " + printable(material.architectures.front().label) +
         "; judge another by --set model.kwargs.NAME=VALUE";
}

/// Fills the report as far as nothing is refused; the refusal comes back.
Result<void> examine(CheckReport& report,
                     const job::Job& job,
                     const CheckRequest& request,
                     const Backend& backend,
                     const std::stop_token& stop) {
  HYDRO_TRY(const TemporaryFolder folder, TemporaryFolder::make());
  const Folders folders = {.job = fs::absolute(request.job).parent_path(),
                           .run = folder.path()};
  HYDRO_TRY_VOID(open_searcher(job, folders.job, stop));
  HYDRO_TRY(Material material, prepare_models(job, folders, stop));
  for (const Architecture& architecture : material.architectures) {
    report.models.push_back(
        {.label = architecture.label, .surrogate = *architecture.surrogate});
    report.warnings.insert(report.warnings.end(),
                           architecture.surrogate->warnings.begin(),
                           architecture.surrogate->warnings.end());
    HYDRO_TRY_VOID(backend.check_shapes(*architecture.surrogate));
  }
  HYDRO_TRY(material.loaders, prepare_data(job, material.architectures));
  const std::vector<std::string> early = early_reports(job, material);
  report.warnings.insert(report.warnings.end(), early.begin(), early.end());
  HYDRO_TRY_VOID(add_scheduler(report, job, material));
  HYDRO_TRY_VOID(add_groups(report, job, material, material.loaders.training->dataset().size));
  if (request.coordinates && job.tune.scaling > 1) {
    if (material.architectures.size() > 1) {
      report.warnings.push_back(only_first_judged(material));
    }
    HYDRO_TRY(report.coordinates,
              check_coordinates(job,
                                material.architectures.front(),
                                *material.loaders.training,
                                backend,
                                CheckForm::kFull,
                                stop));
  }
  return {};
}

}  // namespace

Result<CheckReport> check_job(const CheckRequest& request,
                              const Backend& backend,
                              const std::stop_token& stop) {
  HYDRO_TRY(const job::Job job, job::load_job(request.job, request.settings));
  CheckReport report;
  report.study = job.name;
  report.scaling = job.tune.scaling;
  report.space = job.space;
  for (const search::Parameter& parameter : job.space.parameters) {
    report.transfers.push_back(job::transfer_of(job, parameter));
  }
  report.defaults = job::defaults_used(job);
  for (const Error& warning : job.warnings) {
    const std::string place = warning.where.empty() ? "" : " (" + warning.where + ")";
    report.warnings.push_back(warning.what + place + ": " + warning.remedy);
  }
  if (Result<void> examined = examine(report, job, request, backend, stop);
      !examined.has_value()) {
    report.refusals.push_back(std::move(examined).error());
  }
  return report;
}

}  // namespace hydro::run
