// bench/transfer_cases.h — what transfer_bench trains: a model's data, budget and optimizers,
// the learning rates, and the tables of factors that are compared.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/data/dataset.h"
#include "hydro/shrink/surrogate.h"
#include "hydro/worker/settings.h"

#include "tests/chain/wrong_tables.h"

namespace hydro::bench {

/// A table of factors at one S, as the study would have it or with one rule wrong.
struct Rule {
  std::string name;
  double scaling = 1;
  shrink::Parametrization parametrization = shrink::Parametrization::kMup;
  chain::Edit edit = {};
};

struct Setting {
  std::string name;
  worker::Optimizer optimizer;
  double first_rate = 0;
  std::vector<Rule> rules;
  worker::Schedule schedule = {};
};

/// What tells a right table from a wrong one: the curve itself up to its bottom, or where its
/// valley lies.
enum class Witness : std::uint8_t { kDistance, kValley };

struct Case {
  worker::Task task = worker::Task::kClassification;
  std::shared_ptr<const data::Loader> training = {};
  std::shared_ptr<const data::Loader> validation = {};
  std::int64_t batch = 64;
  std::int64_t steps = 200;
  std::uint64_t seeds = 3;
  std::size_t rates = 8;
  double grid = 2.5;  // each rate over the one before
  Witness witness = Witness::kDistance;
  std::vector<Setting> settings;

  [[nodiscard]] double rate(const Setting& setting, std::size_t place) const {
    return setting.first_rate * std::pow(grid, static_cast<double>(place));
  }
};

inline std::shared_ptr<const data::Loader> loader_of(data::Dataset set,
                                                     std::vector<data::Transform> transforms) {
  return std::make_shared<const data::Loader>(
      std::make_shared<const data::Dataset>(std::move(set)),
      transforms,
      data::Use::kTraining,
      1);
}

inline std::shared_ptr<const data::Loader> fashion(const std::string& split,
                                                   std::int64_t limit,
                                                   std::vector<data::Transform> transforms) {
  const std::filesystem::path folder = "/usr/share/datasets/fashion-mnist";
  const data::IdxSource source = {.images = folder / (split + "-images-idx3-ubyte.gz"),
                                  .labels = folder / (split + "-labels-idx1-ubyte.gz")};
  transforms.emplace_back(data::Normalize{.mean = {.286F}, .std = {.353F}});
  return loader_of(data::load_split({.source = source, .limit = limit}).value(),
                   std::move(transforms));
}

inline Rule mup(double scaling) {
  return {.name = "mup", .scaling = scaling};
}

inline Rule standard(double scaling) {
  return {.name = "standard",
          .scaling = scaling,
          .parametrization = shrink::Parametrization::kStandard};
}

inline worker::Schedule cosine() {
  worker::Schedule schedule;
  schedule.kind = worker::ScheduleKind::kCosine;
  return schedule;
}

/// An MLP on Fashion-MNIST.
inline Case mlp_case() {
  Case made;
  made.training = fashion("train", made.steps * made.batch, {});
  made.validation = fashion("t10k", 2000, {});
  made.settings = {{.name = "SGD with momentum .9",
                    .optimizer = {.momentum = .9},
                    .first_rate = 2e-4,
                    .rules = {mup(2),
                              mup(4),
                              standard(4),
                              {.name = "hidden SGD x S",
                               .scaling = 4,
                               .edit = chain::take_papers_hidden_rate}}},
                   {.name = "Adam",
                    .optimizer = {.kind = worker::OptimizerKind::kAdam},
                    .first_rate = 1e-5,
                    .rules = {mup(2),
                              mup(4),
                              standard(4),
                              {.name = "hidden Adam unscaled",
                               .scaling = 4,
                               .edit = chain::leave_hidden_adam_unscaled}}}};
  return made;
}

/// A language model on the bytes of a text; its last tenth is held out.
inline Case gpt_case(const std::filesystem::path& text) {
  constexpr std::int64_t kTokens = 64;
  auto [rest, tail] = data::split_off(
      data::load_split(
          {.source = data::TextSource{.path = text, .block = kTokens}, .limit = {}})
          .value(),
      .1,
      1);
  return {
      .task = worker::Task::kLanguageModel,
      .training = loader_of(std::move(rest), {}),
      .validation = loader_of(std::move(tail), {}),
      .batch = 32,
      .seeds = 2,
      .grid = 2,
      .settings = {{.name = "AdamW, decay .01, cosine",
                    .optimizer = {.kind = worker::OptimizerKind::kAdamW, .weight_decay = .01},
                    .first_rate = std::exp2(-12),
                    .rules = {mup(4), standard(4)},
                    .schedule = cosine()}}};
}

/// A convolution network on Fashion-MNIST.
inline Case resnet_case() {
  Case made{.steps = 140,
            .seeds = 2,
            .rates = 12,
            .grid = 2,
            .witness = Witness::kValley,
            .settings = {{.name = "SGD with momentum .9",
                          .optimizer = {.momentum = .9},
                          .first_rate = .00025,
                          .rules = {mup(4), standard(4)}}}};
  made.training = fashion("train", made.steps * made.batch, {data::Rgb{}});
  made.validation = fashion("t10k", 2000, {data::Rgb{}});
  return made;
}

/// Nothing for a name that is none of the three.
inline std::optional<Case> find_case(const std::string& name,
                                     const std::filesystem::path& text) {
  if (name == "mlp") {
    return mlp_case();
  }
  if (name == "gpt") {
    return gpt_case(text);
  }
  return name == "resnet" ? std::optional(resnet_case()) : std::nullopt;
}

}  // namespace hydro::bench
