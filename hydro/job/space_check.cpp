#include "hydro/job/space_check.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/base/text.h"
#include "hydro/job/distributions.h"
#include "hydro/job/job.h"
#include "hydro/job/node.h"
#include "hydro/job/reader.h"
#include "hydro/job/sections.h"
#include "hydro/job/transfer.h"
#include "hydro/search/searcher.h"
#include "hydro/search/space.h"
#include "hydro/worker/settings.h"

namespace hydro::job {
namespace {

using search::Config;
using search::Value;

constexpr std::string_view kDecayPath = "train.optimizer.weight_decay";

/// What the whole study shares: a distribution there is refused where it is read.
bool is_fixed(std::string_view key) {
  constexpr auto kKeys = std::to_array<std::string_view>(
      {"task", "mask", "mask_token", "epochs", "steps", "evaluate", "drop_last", "amp"});
  return std::ranges::find(kKeys, key) != kKeys.end();
}

Result<void> find_in_train(const Reader& reader,
                           const Node& train,
                           std::vector<FoundParameter>& found) {
  for (std::size_t i = 0; i < train.keys.size(); ++i) {
    if (!is_fixed(train.keys[i].text)) {
      HYDRO_TRY_VOID(find_parameters(
          reader, train.items[i], "train." + train.keys[i].text, Allowed::kAll, found));
    }
  }
  return {};
}

/// The values that show whether every value is good: all options, or both ends of a range.
std::vector<Config> probes_of(const search::Space& space, const search::Parameter& parameter) {
  std::vector<Config> probes;
  for (const Value& value : search::extremes(parameter.distribution)) {
    Config config{{parameter.path, value}};
    if (parameter.condition) {
      config.insert_or_assign(parameter.condition->parameter,
                              Value(parameter.condition->branch));
    }
    probes.push_back(complete_config(space, std::move(config)));
  }
  return probes;
}

// ---- What does not transfer across widths ----

Error not_transferable(const Reader& reader,
                       const FoundParameter& found,
                       std::string_view why) {
  return reader
      .error(*found.node,
             "H0120",
             "`" + found.parameter.path + "` is not transferable across width")
      .because(std::string(why));
}

/// Decay is judged beside its optimizer, by the prober.
Result<void> check_transfer(const Reader& reader, const std::vector<FoundParameter>& found) {
  for (const FoundParameter& it : found) {
    const Transfer transfer = transfer_of(it.parameter.path, worker::OptimizerKind::kAdamW);
    if (transfer.kind == TransferKind::kTargetOnly) {
      return not_transferable(reader, it, transfer.why);
    }
  }
  return {};
}

class Prober {
 public:
  Prober(const Reader& reader,
         const Node& train,
         const std::vector<FoundParameter>& found,
         const Job& job)
      : reader_(reader), train_(train), found_(found), job_(job) {}

  Result<void> probe(const Config& config, std::vector<Error>& warnings) const {
    const Node node = resolved_train(train_, config);
    HYDRO_TRY(const TrainValues values, read_train(reader_, node));
    for (const Error& warning : values.warnings) {
      if (std::ranges::find(warnings, warning.id, &Error::id) == warnings.end()) {
        warnings.push_back(warning);
      }
    }
    return job_.tune.scaling > 1 ? check_decay(node, config, values.settings.optimizer)
                                 : Result<void>();
  }

 private:
  /// L2 is a penalty on the loss: under SGD the fixed value is scaled by its factor, a searched
  /// one has no meaning at the other width; inside Adam there is no factor at all. Decoupled
  /// decay transfers.
  [[nodiscard]] Result<void> check_decay(const Node& node,
                                         const Config& config,
                                         const worker::Optimizer& optimizer) const {
    if (transfer_of(kDecayPath, optimizer.kind).kind != TransferKind::kTargetOnly) {
      return {};
    }
    if (config.contains(std::string(kDecayPath))) {
      const auto searched = std::ranges::find_if(found_, [&](const FoundParameter& it) {
        return it.parameter.path == kDecayPath && search::is_active(it.parameter, config);
      });
      HYDRO_CHECK(searched != found_.end());
      return not_transferable(reader_, *searched, transfer_of(kDecayPath, optimizer.kind).why);
    }
    if (optimizer.kind == worker::OptimizerKind::kAdam && optimizer.weight_decay > 0) {
      const Node* map = node.find("optimizer");
      const Node* decay = map->find("weight_decay");
      return reader_.error(decay != nullptr ? *decay : *map,
                           "H0121",
                           "weight decay of " + plain_number(optimizer.weight_decay) +
                               " inside adam at S = " + plain_number(job_.tune.scaling));
    }
    return {};
  }

  const Reader& reader_;
  const Node& train_;
  const std::vector<FoundParameter>& found_;
  const Job& job_;
};

// ---- What the searcher says ----

/// One parameter alone first: then its place is known.
Result<void> check_search(const Reader& reader,
                          const std::vector<FoundParameter>& found,
                          const Job& job) {
  for (const FoundParameter& it : found) {
    if (auto alone = make_plain_searcher(job.tune, {{it.parameter}}); !alone) {
      Error placed = reader.error(*it.node, alone.error().id, alone.error().what);
      placed.why = alone.error().why;
      return placed;
    }
  }
  if (auto whole = make_plain_searcher(job.tune, job.space); !whole) {
    return std::move(whole).error().at(reader.sources.front().name);
  }
  return {};
}

/// All samples would train the same; who wants that says so.
Result<void> check_search_has_a_space(const Reader& reader, const Node& root, const Job& job) {
  if (!job.space.parameters.empty() || job.tune.num_samples == 1 ||
      job.tune.search.kind == SearchKind::kGrid || !job.tune.dedup.value_or(true)) {
    return {};
  }
  const Node* given = find_path(root, "tune.num_samples");
  return reader.error(given == nullptr ? Node{} : *given,
                      "H0720",
                      "nothing to search: all " + std::to_string(job.tune.num_samples) +
                          " samples have the same hyperparameters");
}

Result<void> check_points(const Reader& reader,
                          const Node& root,
                          const Job& job,
                          std::int64_t samples) {
  const auto count = static_cast<std::int64_t>(job.tune.points.size());
  if (count <= samples) {
    return {};
  }
  return reader
      .error(*find_path(root, "tune.points_to_evaluate"),
             "H0721",
             std::to_string(count) + " points to evaluate, but only " +
                 std::to_string(samples) + (samples == 1 ? " sample" : " samples"))
      .because("the points are the first of the samples")
      .fix("raise tune.num_samples, or remove points");
}

/// Fewer configurations than samples.
void warn_of_repeats(const Reader& reader,
                     const Node& root,
                     const Job& job,
                     std::int64_t samples,
                     std::vector<Error>& warnings) {
  const std::int64_t points = search::configuration_count(job.space).value_or(samples);
  if (samples <= points) {
    return;
  }
  const Node* given = find_path(root, "tune.num_samples");
  const std::string what = std::to_string(samples) + " samples, only " +
                           std::to_string(points) +
                           (points == 1 ? " configuration" : " different configurations");
  Error warning = reader.error(given == nullptr ? Node{} : *given, "H0142", what);
  warnings.push_back(tries_each_once(job.tune, job.space)
                         ? std::move(warning)
                         : std::move(warning).because("some are trained several times"));
}

Result<void> check_models(const Reader& reader, const std::vector<FoundParameter>& found) {
  constexpr std::int64_t kMostModels = 1000;
  search::Space models;
  const FoundParameter* last = nullptr;
  for (const FoundParameter& it : found) {
    if (it.parameter.path.starts_with("model.")) {
      models.parameters.push_back(it.parameter);
      last = &it;
    }
  }
  const auto searcher = search::make_grid_searcher(std::move(models));
  if (searcher && (*searcher)->total() <= kMostModels) {
    return {};
  }
  return reader.error(
      *last->node, "H0111", "the space under `model.kwargs` has more than 1000 models");
}

/// Only our own searchers multiply.
search::Space with_choices_for_grids(search::Space space) {
  for (search::Parameter& parameter : space.parameters) {
    if (const auto* grid = std::get_if<search::Grid>(&parameter.distribution)) {
      parameter.distribution = search::Choice{grid->options};
    }
  }
  return space;
}

}  // namespace

Config complete_config(const search::Space& space, Config config) {
  for (const search::Parameter& parameter : space.parameters) {
    if (search::is_active(parameter, config)) {
      config.try_emplace(parameter.path, search::median(parameter.distribution));
    }
  }
  return config;
}

Result<std::unique_ptr<search::Searcher>> make_plain_searcher(const TuneSection& tune,
                                                              search::Space space) {
  switch (tune.search.kind) {
    case SearchKind::kGrid:
      return search::make_grid_searcher(std::move(space));
    case SearchKind::kSobol:
      return search::make_sobol_searcher(std::move(space), tune.seed, tune.num_samples);
    case SearchKind::kProcess:
      space = with_choices_for_grids(std::move(space));
      break;
    case SearchKind::kRandom:
      break;
  }
  return search::make_random_searcher(std::move(space), tune.seed, tune.num_samples);
}

bool tries_each_once(const TuneSection& tune, const search::Space& space) {
  return tune.dedup.value_or(!space.parameters.empty() &&
                             search::configuration_count(space).has_value());
}

Result<std::vector<FoundParameter>> find_space(const Reader& reader, const Node& root) {
  std::vector<FoundParameter> found;
  for (std::size_t i = 0; i < root.keys.size(); ++i) {
    const Node& section = root.items[i];
    if (root.keys[i].text == "train" && section.is_map()) {
      HYDRO_TRY_VOID(find_in_train(reader, section, found));
    }
    const Node* kwargs = root.keys[i].text == "model" ? section.find("kwargs") : nullptr;
    if (kwargs != nullptr) {
      HYDRO_TRY_VOID(find_parameters(reader, *kwargs, "model.kwargs", Allowed::kFinite, found));
    }
  }
  return found;
}

Node resolved_train(const Node& train, const Config& config) {
  Node out = train;
  for (std::size_t i = 0; i < train.keys.size(); ++i) {
    if (!is_fixed(train.keys[i].text)) {
      out.items[i] =
          substitute(train.items[i], "train." + train.keys[i].text, config, Allowed::kAll);
    }
  }
  return out;
}

Result<void> check_space(const Reader& reader,
                         const Node& root,
                         const std::vector<FoundParameter>& found,
                         const Job& job,
                         std::vector<Error>& warnings) {
  if (job.tune.scaling > 1) {
    HYDRO_TRY_VOID(check_transfer(reader, found));
  }
  const Prober prober(reader, *root.find("train"), found, job);
  HYDRO_TRY_VOID(prober.probe(complete_config(job.space, {}), warnings));
  for (const FoundParameter& it : found) {
    for (const Config& config : probes_of(job.space, it.parameter)) {
      HYDRO_TRY_VOID(prober.probe(config, warnings));
    }
  }
  HYDRO_TRY_VOID(check_models(reader, found));
  HYDRO_TRY_VOID(check_search(reader, found, job));
  HYDRO_TRY_VOID(check_search_has_a_space(reader, root, job));
  const std::int64_t samples = make_plain_searcher(job.tune, job.space).value()->total();
  HYDRO_TRY_VOID(check_points(reader, root, job, samples));
  warn_of_repeats(reader, root, job, samples, warnings);
  return {};
}

}  // namespace hydro::job
