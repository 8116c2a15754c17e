#include "hydro/job/job.h"

#include <array>
#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hydro/base/file.h"
#include "hydro/base/result.h"
#include "hydro/job/distributions.h"
#include "hydro/job/node.h"
#include "hydro/job/overrides.h"
#include "hydro/job/points.h"
#include "hydro/job/reader.h"
#include "hydro/job/scheduler_section.h"
#include "hydro/job/schema.h"
#include "hydro/job/sections.h"
#include "hydro/job/space_check.h"
#include "hydro/job/yaml.h"

namespace hydro::job {
namespace {

/// Becomes a folder below runs/.
Result<void> read_name(const Reader& reader, const Node& node, const Row<Job>& row, Job& out) {
  constexpr std::string_view kLetters =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
  constexpr std::size_t kLongest = 100;
  const bool good = node.is_scalar() && !node.text.empty() && node.text.size() <= kLongest &&
                    node.text.find_first_not_of(kLetters) == std::string::npos &&
                    node.text[0] != '.' && node.text[0] != '-';
  if (!good) {
    return reader.wrong(node, row.key, row.type);
  }
  out.name = node.text;
  return {};
}

/// Sections have readers of their own, called in the order of what they need.
Result<void> read_section_later(const Reader& /*reader*/,
                                const Node& /*node*/,
                                const Row<Job>& /*row*/,
                                Job& /*out*/) {
  return {};
}

constexpr auto kRows = std::to_array<Row<Job>>({
    {"name",
     "letters, digits, `.`, `_` and `-`, at most 100",
     "",
     "of the study; default the file's name",
     &read_name},
    {"model", "a mapping", "", "what is trained", &read_section_later},
    {"data", "a mapping", "", "on what", &read_section_later},
    {"train", "a mapping", "", "how", &read_section_later},
    {"tune", "a mapping", "", "how the best way is searched", &read_section_later},
    {"resources", "a mapping", "", "with what machine", &read_section_later},
});

std::string default_name(const std::string& file_name) {
  std::string name = std::filesystem::path(file_name).stem().string();
  std::erase_if(name, [](char c) {
    return std::string_view("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")
               .find(c) == std::string_view::npos;
  });
  return name.empty() || name[0] == '-' ? "study" : name;
}

Result<Document> read_document(std::string_view text,
                               const std::string& file_name,
                               const ParseOptions& options) {
  Document document;
  document.sources.push_back(
      {.name = file_name, .text = std::string(text.substr(0, kLargestJob + 1))});
  HYDRO_TRY(document.root, parse_yaml(document.sources, 0));
  for (const std::string& assignment : options.overrides) {
    HYDRO_TRY_VOID(apply_override(document, assignment));
  }
  return document;
}

/// Empty sections may be left out.
Node optional_section(const Node& root, std::string_view key) {
  const Node* section = root.find(key);
  return section != nullptr && !section->is_null() ? *section : make_map();
}

Result<void> read_root(const Reader& reader, const Node& root, Job& job) {
  HYDRO_TRY_VOID(read_rows(reader, root, "the job", std::span<const Row<Job>>(kRows), job));
  for (const std::string_view key : {"model", "data", "train"}) {
    if (root.find(key) == nullptr) {
      return make_error("H0106", "section `" + std::string(key) + "` is missing")
          .at(reader.sources.front().name);
    }
  }
  return {};
}

/// The base configuration decides what all configurations share.
Result<void> read_sections(const Reader& reader, const Node& root, Job& job) {
  HYDRO_TRY(job.model, read_model(reader, *root.find("model")));
  HYDRO_TRY(job.data, read_data(reader, *root.find("data")));
  const Node train = resolved_train(*root.find("train"), complete_config(job.space, {}));
  HYDRO_TRY(const TrainValues values, read_train(reader, train));
  job.train = static_cast<const TrainSection&>(values);
  HYDRO_TRY_VOID(check_task(reader, *root.find("data"), job.data, job.train.task));
  const Node tune = optional_section(root, "tune");
  const Reported reported{.task = job.train.task,
                          .of_bytes = job.data.val.value_or(job.data.train).is_text()};
  HYDRO_TRY(job.tune, read_tune(reader, tune, reported, job.warnings));
  if (const Node* points = tune.find("points_to_evaluate"); points != nullptr) {
    HYDRO_TRY(job.tune.points, read_points(reader, *points, job.space, job.tune.seed));
  }
  if (job.space.parameters.empty() && tune.find("num_samples") == nullptr) {
    job.tune.num_samples = 1;
  }
  HYDRO_TRY(job.resources, read_resources(reader, optional_section(root, "resources")));
  return {};
}

void complete(const Reader& reader, Node& root, const Job& job) {
  root.add("name", make_scalar(job.name));
  root.set("tune", optional_section(root, "tune"));
  root.set("resources", optional_section(root, "resources"));
  complete_model(reader, *root.find("model"));
  complete_data(reader, *root.find("data"));
  complete_train(*root.find("train"));
  complete_tune(*root.find("tune"), job.tune);
  complete_resources(*root.find("resources"));
}

/// Every model's arguments have a JSON form.
Result<void> check_kwargs(const Reader& reader, const Node& root) {
  const Node* kwargs = root.find("model")->find("kwargs");
  return kwargs == nullptr ? Result<void>() : [&]() -> Result<void> {
    HYDRO_TRY_VOID(to_json(reader, *kwargs));
    return {};
  }();
}

}  // namespace

Result<Job> parse_job(std::string_view text,
                      const std::string& file_name,
                      const ParseOptions& options) {
  Job job;
  job.name = default_name(file_name);
  HYDRO_TRY(job.document, read_document(text, file_name, options));
  const Reader reader{.sources = job.document.sources, .folder = options.folder};
  const Node& root = job.document.root;
  HYDRO_TRY_VOID(read_root(reader, root, job));
  HYDRO_TRY(const std::vector<FoundParameter> found, find_space(reader, root));
  for (const FoundParameter& it : found) {
    job.space.parameters.push_back(it.parameter);
  }
  HYDRO_TRY_VOID(read_sections(reader, root, job));
  HYDRO_TRY_VOID(check_kwargs(reader, root));
  std::vector<Error> warnings;
  HYDRO_TRY_VOID(check_space(reader, root, found, job, warnings));
  job.warnings.insert(job.warnings.end(), warnings.begin(), warnings.end());
  HYDRO_TRY_VOID(check_scheduler(job));
  complete(reader, job.document.root, job);
  return job;
}

Result<Job> load_job(const std::filesystem::path& path,
                     std::span<const std::string> overrides) {
  auto text = hydro::read_text(path, kLargestJob);
  if (!text) {
    if (text.error().id == "H0602") {
      return make_error("H0101", "the job file has more than 1 MB").at(path.string());
    }
    return make_error("H0100", "the job file cannot be read")
        .at(path.string())
        .because(text.error().why);
  }
  ParseOptions options;
  options.folder = std::filesystem::absolute(path).lexically_normal().parent_path();
  options.overrides.assign(overrides.begin(), overrides.end());
  return parse_job(*text, path.string(), options);
}

std::vector<KnownKey> known_keys() {
  std::vector<KnownKey> keys;
  list_rows("the job", std::span<const Row<Job>>(kRows), keys);
  for (const auto list :
       {&list_model, &list_data, &list_transforms, &list_train, &list_tune, &list_resources}) {
    list(keys);
  }
  return keys;
}

}  // namespace hydro::job
