#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "hydro/base/bytes.h"
#include "hydro/base/file.h"
#include "hydro/base/result.h"
#include "hydro/base/text.h"
#include "hydro/ir/cost.h"
#include "hydro/ir/model.h"
#include "hydro/job/job.h"
#include "hydro/pt2/archive.h"
#include "hydro/run/export_process.h"
#include "hydro/run/material.h"
#include "hydro/run/output_check.h"
#include "hydro/search/scheduler.h"
#include "hydro/shrink/surrogate.h"

namespace hydro::run {
namespace {

constexpr std::uint64_t kArchiveLimit = std::uint64_t{4} << 30U;

shrink::Parametrization parametrization_of(job::Parametrization wanted) {
  switch (wanted) {
    case job::Parametrization::kPaper:
      return shrink::Parametrization::kPaper;
    case job::Parametrization::kStandard:
      return shrink::Parametrization::kStandard;
    case job::Parametrization::kMup:
      break;
  }
  return shrink::Parametrization::kMup;
}

ExportRequest export_request(const job::Job& job,
                             const Folders& folders,
                             const std::string& kwargs,
                             const std::filesystem::path& output) {
  ExportRequest request = {
      .target = job.model.export_target,
      .args = job.model.args,
      .kwargs = kwargs,
      .inputs = {},
      .forward = job.model.forward,
      .initialization =
          job.model.initialization == job::Initialization::kStandard ? "standard" : "recorded",
      .folder = folders.job,
      .interpreter = job.model.python,
      .output = output};
  for (const job::InputSpec& input : job.model.inputs) {
    request.inputs.push_back(input.text());
  }
  return request;
}

/// A refusal of the exporter, at the line of the job file that names what it is about. What
/// failed inside the user's Python has its place there.
Error pointed(const job::Job& job, Error error) {
  if (error.id == "H0203" && !error.where.empty()) {
    error.why = "it is not in " + std::exchange(error.where, {});
  }
  if (!error.where.empty()) {
    return error;
  }
  if (error.id == "H0801" || error.id == "H0803") {
    return job::point_at(job, "model.python", std::move(error));
  }
  const bool names_callable = error.id == "H0201" || error.id == "H0202" || error.id == "H0203";
  return names_callable ? job::point_at_callable(job, std::move(error)) : error;
}

Result<std::string> export_pointed(const job::Job& job,
                                   const ExportRequest& request,
                                   const std::stop_token& stop) {
  Result<std::string> said = export_model(request, stop);
  if (!said.has_value()) {
    return pointed(job, std::move(said).error());
  }
  return said;
}

/// What the job decides is shown there: a given archive that cannot be opened, and which output
/// to train on.
Result<pt2::Archive> read_pointed(const job::Job& job, const std::filesystem::path& path) {
  Result<pt2::Archive> archive = pt2::read_archive(path, {.output = job.model.output});
  if (archive.has_value()) {
    return archive;
  }
  const std::string source = job.model.file.empty() ? "model.export" : "model.file";
  Error error = std::move(archive).error();
  if (error.id == "H0254") {
    return job::point_at(job, source, std::move(error));
  }
  return error.id == "H0247"
             ? job::point_at(
                   job, job.model.output.empty() ? source : "model.output", std::move(error))
             : error;
}

Result<void> copy_archive(const std::filesystem::path& from, const std::filesystem::path& to) {
  HYDRO_TRY(const Bytes bytes, read_file(from, kArchiveLimit));
  return write_file_durably(to, bytes);
}

std::string graph_key(const std::string& fingerprint, const job::Job& job, double scaling) {
  constexpr const char* kNames[] = {"mup", "paper", "standard"};
  return fingerprint.substr(0, 16) + "/S" + plain_number(scaling) + "/" +
         kNames[static_cast<std::size_t>(job.tune.parametrization)];
}

/// What to do about a warning of the shrinking that only says what is the matter.
std::string remedy_of(const std::string& warning, const job::Job& job) {
  return warning.find(" narrower than 8") == std::string::npos
             ? ""
             : "; lower `tune.scaling` (now " + plain_number(job.tune.scaling) +
                   ") or set `tune.min_width: 8`";
}

Result<Architecture> read_architecture(const job::Job& job,
                                       const std::string& kwargs,
                                       const std::filesystem::path& path) {
  HYDRO_TRY(pt2::Archive archive, read_pointed(job, path));
  HYDRO_TRY_VOID(check_output(archive.model.train, job.train.task));
  if (Result<void> checked = check_metric(archive.model.eval, job.tune.metric); !checked) {
    return job::point_at(job, "tune.metric", std::move(checked).error());
  }
  HYDRO_TRY(const shrink::Options narrow, shrink_options(job, job.tune.scaling));
  HYDRO_TRY(const shrink::Options full, shrink_options(job, 1));
  Architecture out;
  out.kwargs = kwargs;
  out.manifest = std::move(archive.manifest);
  out.model = std::make_shared<const ir::Model>(std::move(archive.model));
  HYDRO_TRY(shrink::Surrogate surrogate, shrink::shrink(*out.model, narrow));
  HYDRO_TRY(shrink::Surrogate target, shrink::shrink(*out.model, full));
  for (std::string& warning : surrogate.warnings) {
    warning += remedy_of(warning, job);
  }
  out.cost_per_sample = static_cast<double>(ir::multiply_adds(surrogate.model.train));
  out.surrogate = std::make_shared<const shrink::Surrogate>(std::move(surrogate));
  out.target = std::make_shared<const shrink::Surrogate>(std::move(target));
  out.surrogate_key = graph_key(out.manifest.fingerprint, job, job.tune.scaling);
  out.target_key = graph_key(out.manifest.fingerprint, job, 1);
  return out;
}

/// The label names an architecture only beside others.
void add(Material& material, Architecture architecture, std::size_t variants) {
  architecture.label = variants > 1 ? architecture.kwargs : "";
  material.architectures.push_back(std::move(architecture));
}

}  // namespace

const Architecture& Material::architecture(const std::string& kwargs) const {
  const auto found = std::ranges::find(architectures, kwargs, &Architecture::kwargs);
  HYDRO_CHECK(found != architectures.end(), "no architecture for kwargs " + kwargs);
  return *found;
}

std::int64_t evaluations_of(const job::Job& job, const Material& material) {
  return job::most_evaluations(job, material.loaders.training->dataset().size);
}

Result<search::SchedulerSettings> scheduler_of(const job::Job& job, const Material& material) {
  return job::scheduler_settings(job, evaluations_of(job, material));
}

std::vector<std::string> Material::warnings() const {
  std::vector<std::string> out;
  const auto add = [&out](const std::vector<std::string>& texts) {
    for (const std::string& text : texts) {
      if (std::ranges::find(out, text) == out.end()) {
        out.push_back(text);
      }
    }
  };
  for (const Architecture& architecture : architectures) {
    add(architecture.manifest.warnings);
    add(architecture.surrogate->warnings);
  }
  return out;
}

std::string archive_name(std::size_t index) {
  return index == 0 ? "model.pt2" : "model-" + std::to_string(index) + ".pt2";
}

Result<shrink::Options> shrink_options(const job::Job& job, double scaling) {
  shrink::Options options = {.scaling = scaling,
                             .min_width = job.tune.min_width,
                             .parametrization = parametrization_of(job.tune.parametrization),
                             .roles = {},
                             .zero_query = job.tune.zero_query};
  for (const auto& [pattern, name] : job.model.roles) {
    const std::optional<shrink::Role> role = shrink::find_role(name);
    HYDRO_CHECK(role.has_value(), "the job file let role `" + name + "` pass");
    options.roles.emplace(pattern, *role);
  }
  return options;
}

Result<Material> prepare_models(const job::Job& job,
                                const Folders& folders,
                                const std::stop_token& stop) {
  Material material;
  const std::vector<std::string> variants = job::model_variants(job);
  for (std::size_t i = 0; i < variants.size(); ++i) {
    const std::filesystem::path path = folders.run / archive_name(i);
    // An archive is read where the user put it, so that a refusal names the user's own file.
    const bool is_given = !job.model.file.empty();
    if (!is_given) {
      HYDRO_TRY(const std::string said,
                export_pointed(job, export_request(job, folders, variants[i], path), stop));
      material.exporter_said += said;
    }
    HYDRO_TRY(Architecture architecture,
              read_architecture(job, variants[i], is_given ? job.model.file : path));
    if (is_given) {
      HYDRO_TRY_VOID(copy_archive(job.model.file, path));
    }
    add(material, std::move(architecture), variants.size());
  }
  return material;
}

Result<Material> read_models(const job::Job& job, const std::filesystem::path& folder) {
  Material material;
  const std::vector<std::string> variants = job::model_variants(job);
  for (std::size_t i = 0; i < variants.size(); ++i) {
    HYDRO_TRY(Architecture architecture,
              read_architecture(job, variants[i], folder / archive_name(i)));
    add(material, std::move(architecture), variants.size());
  }
  return material;
}

}  // namespace hydro::run
