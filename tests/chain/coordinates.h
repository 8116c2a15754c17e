// tests/chain/coordinates.h — the full coordinate check of exported models, with right tables
// and wrong ones.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hydro/ir/model.h"
#include "hydro/shrink/coordinates.h"
#include "hydro/shrink/surrogate.h"
#include "hydro/train/train.h"
#include "hydro/worker/settings.h"

#include "tests/chain/chain.h"
#include "tests/chain/real_data.h"
#include "tests/chain/wrong_tables.h"

namespace hydro::chain {

struct Net {
  std::string archive;
  RealData data;
  double momentum_lr = 0;  // of SGD with momentum .9; plain SGD takes 5 times as much
  double adam_lr = 0;
  std::int64_t batch_size = 64;
};

inline worker::TrialSettings settings_of(const Net& net, const std::string& optimizer) {
  worker::TrialSettings settings;
  if (optimizer == "sgd" || optimizer == "momentum") {
    const bool is_plain = optimizer == "sgd";
    settings.optimizer = {.lr = net.momentum_lr * (is_plain ? 5 : 1),
                          .momentum = is_plain ? 0 : .9};
  } else {
    settings.optimizer = {.kind = *worker::find_optimizer(optimizer), .lr = net.adam_lr};
  }
  return settings;
}

/// The check of a study at S=4: the model itself against 4 times narrower, where a wrong table
/// leaves the former as it is.
class CoordinateCheck {
 public:
  CoordinateCheck(Net net,
                  const std::string& optimizer,
                  shrink::Parametrization parametrization = shrink::Parametrization::kMup)
      : net_(std::move(net)),
        settings_(settings_of(net_, optimizer)),
        model_(archive_of(net_.archive).model),
        options_{
            .scaling = 4, .parametrization = parametrization, .saving = shrink::Saving::kAny},
        plan_(shrink::plan_coordinates(model_, options_).value()) {
    EXPECT_EQ(plan_.wide, 1);
    EXPECT_EQ(plan_.narrow, 4);
    shrink::Options wide = options_;
    wide.scaling = 1;
    wide_ = measure(shrunk(model_, wide));
  }

  [[nodiscard]] const shrink::Surrogate& narrow() const { return narrow_; }

  shrink::CoordinateVerdict verdict(const Edit& edit = {}) {
    narrow_ = shrunk(model_, options_);
    if (edit) {
      edit(narrow_);
    }
    const shrink::CoordinateMeasure measured = measure(narrow_);
    const bool is_sgd = settings_.optimizer.kind == worker::OptimizerKind::kSgd;
    const auto pairs = shrink::pair_layers(
        narrow_,
        wide_,
        measured,
        plan_,
        is_sgd ? shrink::QueriesAndKeys::kPrinted : shrink::QueriesAndKeys::kJudged);
    using Losses = std::vector<double>;
    const bool compares = shrink::starts_at_zero(narrow_);
    return shrink::judge_coordinates(pairs,
                                     compares ? wide_.first_losses : Losses(),
                                     compares ? measured.first_losses : Losses(),
                                     shrink::Band());
  }

 private:
  [[nodiscard]] shrink::CoordinateMeasure measure(const shrink::Surrogate& surrogate) const {
    return train::measure_coordinates(surrogate,
                                      *net_.data.loader,
                                      {.settings = settings_,
                                       .task = net_.data.task,
                                       .seeds = 6,
                                       .batch_size = net_.batch_size})
        .value();
  }

  Net net_;
  worker::TrialSettings settings_;
  ir::Model model_;
  shrink::Options options_;
  shrink::CoordinatePlan plan_;
  shrink::CoordinateMeasure wide_;
  shrink::Surrogate narrow_;
};

inline std::string text_of(const shrink::CoordinateVerdict& verdict) {
  std::string text = "hidden mean " + std::to_string(verdict.hidden_mean) + "\n";
  for (const shrink::JudgedLayer& layer : verdict.layers) {
    text += layer.layer + " " + std::string(shrink::role_name(layer.role)) + " update x" +
            std::to_string(layer.update_ratio) + " activation x" +
            std::to_string(layer.activation_ratio) +
            (layer.judged() ? "\n" : " not judged: " + layer.not_judged_because + "\n");
  }
  for (const shrink::Miss& miss : verdict.misses) {
    text += "failed: " + miss.what + " x" + std::to_string(miss.value) + "\n";
  }
  return text;
}

/// The judged layers of these roles, in order.
inline std::vector<std::string> layers_of(const shrink::CoordinateVerdict& verdict,
                                          const std::vector<shrink::Role>& roles) {
  std::vector<std::string> names;
  for (const shrink::JudgedLayer& layer : verdict.layers) {
    if (layer.judged() && std::ranges::find(roles, layer.role) != roles.end()) {
      names.push_back(layer.layer);
    }
  }
  return names;
}

inline std::vector<std::string> missed(const shrink::CoordinateVerdict& verdict) {
  std::vector<std::string> names;
  for (const shrink::Miss& miss : verdict.misses) {
    names.push_back(miss.what);
  }
  return names;
}

/// The check fails and names each of `layers`.
inline void expect_misses(const shrink::CoordinateVerdict& found,
                          const std::vector<std::string>& layers) {
  EXPECT_FALSE(found.passed);
  EXPECT_FALSE(layers.empty());
  for (const std::string& layer : layers) {
    EXPECT_THAT(missed(found), ::testing::Contains(layer)) << text_of(found);
  }
}

}  // namespace hydro::chain
