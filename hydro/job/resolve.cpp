// From a job and a configuration to one trial's settings, and the files that say what was run.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/job/distributions.h"
#include "hydro/job/job.h"
#include "hydro/job/node.h"
#include "hydro/job/reader.h"
#include "hydro/job/sections.h"
#include "hydro/job/space_check.h"
#include "hydro/job/yaml.h"
#include "hydro/search/searcher.h"
#include "hydro/search/space.h"
#include "hydro/worker/settings.h"

namespace hydro::job {
namespace {

using search::Config;

Result<void> check_config(const search::Space& space, const Config& config) {
  for (const search::Parameter& parameter : space.parameters) {
    if (!search::is_active(parameter, config)) {
      continue;
    }
    const auto value = config.find(parameter.path);
    if (value == config.end()) {
      return make_error("H0124", "the configuration has no value for `" + parameter.path + "`");
    }
    if (!search::contains(parameter.distribution, value->second)) {
      return make_error("H0124",
                        "`" + parameter.path + "` cannot be " + search::to_text(value->second));
    }
  }
  return {};
}

/// The document's paths are absolute: no folder is needed to read it again.
const std::filesystem::path& no_folder() {
  static const std::filesystem::path root = "/";
  return root;
}

Node resolved_model(const Job& job, const Config& config) {
  Node model = *job.document.root.find("model");
  if (Node* kwargs = model.find("kwargs"); kwargs != nullptr) {
    *kwargs = substitute(*kwargs, "model.kwargs", config, Allowed::kFinite);
  }
  return model;
}

Result<std::string> kwargs_of(const Job& job, const Config& config) {
  const Node model = resolved_model(job, config);
  const Node* kwargs = model.find("kwargs");
  return kwargs == nullptr
             ? Result<std::string>("{}")
             : to_json({.sources = job.document.sources, .folder = no_folder()}, *kwargs);
}

/// Only what the user wrote has a place.
// NOLINTNEXTLINE(misc-no-recursion): trees are at most 32 levels deep
void add_defaults(const Node& node,
                  const std::string& path,
                  std::vector<DefaultValue>& defaults) {
  const bool opens = node.is_map() && !node.items.empty();
  if (node.place.line == 0 && !opens) {
    defaults.push_back({.path = path, .value = to_flow(node)});
    return;
  }
  for (std::size_t i = 0; i < node.items.size(); ++i) {
    std::string step = path.empty() ? "" : path + '.';
    step += node.is_map() ? node.keys[i].text : std::to_string(i);
    add_defaults(node.items[i], step, defaults);
  }
}

/// Of all configurations of the space.
struct BatchSizes {
  std::int64_t smallest = 0;
  std::int64_t largest = 0;
};

BatchSizes batch_sizes(const Job& job) {
  const search::Parameter* searched = job.space.find("train.batch_size");
  const Config base = median_config(job);
  const std::int64_t median = resolve(job, base).value().batch_size;
  BatchSizes sizes{.smallest = median, .largest = median};
  for (const search::Value& value : searched == nullptr
                                        ? std::vector<search::Value>()
                                        : search::extremes(searched->distribution)) {
    Config config = base;
    config.insert_or_assign(searched->path, value);
    const std::int64_t size = resolve(job, config).value().batch_size;
    sizes = {.smallest = std::min(sizes.smallest, size),
             .largest = std::max(sizes.largest, size)};
  }
  return sizes;
}

}  // namespace

Result<ResolvedTrial> resolve(const Job& job, const Config& config) {
  HYDRO_TRY_VOID(check_config(job.space, config));
  const Reader reader{.sources = job.document.sources, .folder = no_folder()};
  HYDRO_TRY(const TrainValues values,
            read_train(reader, resolved_train(*job.document.root.find("train"), config)));
  HYDRO_TRY(std::string kwargs, kwargs_of(job, config));
  return ResolvedTrial{.settings = values.settings,
                       .batch_size = values.batch_size,
                       .kwargs = std::move(kwargs)};
}

Config median_config(const Job& job) {
  return complete_config(job.space, {});
}

std::vector<std::string> model_variants(const Job& job) {
  search::Space models;
  std::ranges::copy_if(
      job.space.parameters,
      std::back_inserter(models.parameters),
      [](const search::Parameter& parameter) { return parameter.path.starts_with("model."); });
  const auto searcher = search::make_grid_searcher(std::move(models)).value();
  std::vector<std::string> variants{kwargs_of(job, median_config(job)).value()};
  for (std::int64_t k = 0; k < searcher->total(); ++k) {
    const std::optional<Config> config = searcher->ask(k).value();
    std::string kwargs = kwargs_of(job, config.value()).value();
    if (std::ranges::find(variants, kwargs) == variants.end()) {
      variants.push_back(std::move(kwargs));
    }
  }
  return variants;
}

std::int64_t largest_batch_size(const Job& job) {
  return batch_sizes(job).largest;
}

std::int64_t most_evaluations(const Job& job, std::int64_t samples) {
  const BatchSizes sizes = batch_sizes(job);
  std::int64_t most = 0;
  for (const std::int64_t size : {sizes.smallest, sizes.largest}) {
    const worker::Budget given = budget(job.train, samples, size);
    most = std::max(most, worker::evaluation_at(given, given.steps));
  }
  return most;
}

std::int64_t first_report(const Job& job, std::int64_t samples) {
  const BatchSizes sizes = batch_sizes(job);
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  for (const std::int64_t size : {sizes.smallest, sizes.largest}) {
    const worker::Budget given = budget(job.train, samples, size);
    const bool by_steps = given.evaluate_every > 0;
    least = std::min({least, given.steps, by_steps ? given.evaluate_every : given.steps});
  }
  return least;
}

std::unique_ptr<search::Searcher> make_searcher(const Job& job) {
  const bool grid = job.tune.search.kind == SearchKind::kGrid;
  auto searcher = make_plain_searcher(job.tune, job.space).value();
  if (!job.tune.points.empty()) {
    searcher = search::with_points(std::move(searcher), job.tune.points);
  }
  // A grid has no repeats of its own, and remembering all of it would cost memory.
  const bool once = grid ? !job.tune.points.empty() : tries_each_once(job.tune, job.space);
  return once ? search::without_repeats(std::move(searcher), job.space) : std::move(searcher);
}

bool tries_each_once(const Job& job) {
  return tries_each_once(job.tune, job.space);
}

std::vector<DefaultValue> defaults_used(const Job& job) {
  std::vector<DefaultValue> defaults;
  add_defaults(job.document.root, {}, defaults);
  return defaults;
}

std::string resolved_yaml(const Job& job) {
  return to_yaml(job.document.root);
}

std::string best_config_yaml(const Job& job, const Config& config) {
  Node train = resolved_train(*job.document.root.find("train"), config);
  complete_train(train);
  Node best = make_map();
  best.set("model", resolved_model(job, config));
  best.set("train", std::move(train));
  return to_yaml(best);
}

}  // namespace hydro::job
