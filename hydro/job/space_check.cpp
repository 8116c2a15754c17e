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
#include "hydro/search/searcher.h"
#include "hydro/search/space.h"
#include "hydro/worker/settings.h"

namespace hydro::job {
namespace {

using search::Config;
using search::Distribution;
using search::Value;

constexpr std::string_view kDecayPath = "train.optimizer.weight_decay";

/// What the whole study shares: a distribution there is refused where it is read.
bool is_fixed(std::string_view key) {
  constexpr auto kKeys = std::to_array<std::string_view>(
      {"task", "epochs", "steps", "evaluate", "drop_last", "amp"});
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

struct Ends {
  template <class D>
  std::vector<Value> operator()(const D& d) const {
    return {d.low, d.high};
  }

  std::vector<Value> operator()(const search::RandInt& d) const { return {d.low, d.high - 1}; }

  std::vector<Value> operator()(const search::Choice& d) const { return d.options; }

  std::vector<Value> operator()(const search::Grid& d) const { return d.options; }
};

/// The values that show whether every value is good: all options, or both ends of a range.
std::vector<Config> probes_of(const search::Space& space, const search::Parameter& parameter) {
  std::vector<Config> probes;
  for (const Value& value : std::visit(Ends{}, parameter.distribution)) {
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
                       const std::string& why) {
  return reader
      .error(*found.node,
             "H0120",
             "`" + found.parameter.path + "` is not transferable across width")
      .because(why);
}

bool names_dropout(const std::string& path) {
  return path.starts_with("model.") &&
         path.substr(path.rfind('.') + 1).find("drop") != std::string::npos;
}

Result<void> check_transfer(const Reader& reader, const std::vector<FoundParameter>& found) {
  for (const FoundParameter& it : found) {
    if (it.parameter.path == "train.label_smoothing") {
      return not_transferable(
          reader,
          it,
          "the best label smoothing of a narrow model says nothing about a wide one");
    }
    if (names_dropout(it.parameter.path)) {
      return not_transferable(
          reader, it, "wide models need more regularisation than narrow ones");
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
    if (optimizer.kind == worker::OptimizerKind::kAdamW) {
      return {};
    }
    if (config.contains(std::string(kDecayPath))) {
      const auto searched = std::ranges::find_if(found_, [&](const FoundParameter& it) {
        return it.parameter.path == kDecayPath && search::is_active(it.parameter, config);
      });
      HYDRO_CHECK(searched != found_.end());
      return not_transferable(
          reader_,
          *searched,
          "the best L2 penalty of a narrow model says nothing about a wide one; a fixed one "
          "is scaled, and the decoupled decay of adamw may be searched");
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

Result<std::unique_ptr<search::Searcher>> searcher_of(const TuneSection& tune,
                                                      search::Space space) {
  return tune.search == SearchKind::kGrid
             ? search::make_grid_searcher(std::move(space))
             : search::make_random_searcher(std::move(space), tune.seed, tune.num_samples);
}

/// One parameter alone first: then its place is known.
Result<void> check_search(const Reader& reader,
                          const std::vector<FoundParameter>& found,
                          const Job& job) {
  for (const FoundParameter& it : found) {
    if (auto alone = searcher_of(job.tune, {{it.parameter}}); !alone) {
      Error placed = reader.error(*it.node, alone.error().id, alone.error().what);
      placed.why = alone.error().why;
      return placed;
    }
  }
  if (auto whole = searcher_of(job.tune, job.space); !whole) {
    return std::move(whole).error().at(reader.sources.front().name);
  }
  return {};
}

/// How many configurations there are; nothing for a continuous space.
std::optional<std::int64_t> point_count(const search::Space& space) {
  const auto grid = search::make_grid_searcher(space);
  if (!grid.has_value()) {
    return std::nullopt;
  }
  return grid.value()->total();
}

/// Random search does not look at what it drew before.
void warn_of_repeats(const Reader& reader,
                     const Node& root,
                     const Job& job,
                     std::vector<Error>& warnings) {
  const std::int64_t samples =
      searcher_of(job.tune, job.space).value()->total().value_or(job.tune.num_samples);
  const std::int64_t points = point_count(job.space).value_or(samples);
  if (samples <= points) {
    return;
  }
  const Node* given = find_path(root, "tune.num_samples");
  const std::string what = std::to_string(samples) + " samples, only " +
                           std::to_string(points) +
                           (points == 1 ? " configuration" : " different configurations");
  warnings.push_back(reader.error(given == nullptr ? Node{} : *given, "H0142", what));
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

}  // namespace

Config complete_config(const search::Space& space, Config config) {
  for (const search::Parameter& parameter : space.parameters) {
    if (search::is_active(parameter, config)) {
      config.try_emplace(parameter.path, search::median(parameter.distribution));
    }
  }
  return config;
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
  warn_of_repeats(reader, root, job, warnings);
  return {};
}

}  // namespace hydro::job
