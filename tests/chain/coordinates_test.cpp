// The coordinate check on real images: the right table passes for every optimizer, each wrong
// one fails and names the layers. Learning rates: at most a quarter of the optimum. Source:
// DESIGN "Coordinate check"; transfer-measured.md.
#include "hydro/shrink/coordinates.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hydro/data/dataset.h"
#include "hydro/ir/graph.h"
#include "hydro/shrink/surrogate.h"
#include "hydro/train/train.h"
#include "hydro/worker/settings.h"

#include "tests/chain/chain.h"

namespace hydro::chain {
namespace {

using shrink::Parametrization;
using shrink::Role;
using ::testing::Contains;
using ::testing::ElementsAreArray;
using ::testing::Not;
using worker::OptimizerKind;

/// Changes a right table into a wrong one.
using Edit = std::function<void(shrink::Surrogate&)>;

struct Net {
  std::string archive;
  std::vector<data::Transform> transforms;
  double momentum_lr = 0;  // of SGD with momentum .9; plain SGD takes 5 times as much
  double adam_lr = 0;
};

Net mlp() {
  return {"mlp784", {data::Normalize{{.286F}, {.353F}}}, .002, 1e-4};
}

Net resnet18() {
  return {
      "tv-resnet18",
      {data::Resize{.height = 32, .width = 32}, data::Rgb{}, data::Normalize{{.286F}, {.353F}}},
      .002,
      1e-4};
}

worker::TrialSettings settings_of(const Net& net, const std::string& optimizer) {
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

data::Loader images(const Net& net) {
  const std::filesystem::path folder = "/usr/share/datasets/fashion-mnist";
  const data::IdxSource source = {folder / "t10k-images-idx3-ubyte.gz",
                                  folder / "t10k-labels-idx1-ubyte.gz"};
  auto loaded = data::load_split({.source = source, .limit = 256});
  auto set = std::make_shared<const data::Dataset>(
      std::move(loaded).value());  // shared with the loader
  return {set, net.transforms, data::Use::kTraining, 1};
}

/// The narrowest of the two width dimensions; kernel sizes lie behind them.
std::int64_t narrowest_width(const shrink::ParameterPlan& plan) {
  std::int64_t narrowest = std::numeric_limits<std::int64_t>::max();
  for (std::size_t i = 0; i < 2; ++i) {
    if (plan.surrogate_shape[i] != plan.shape[i]) {
      narrowest = std::min(narrowest, plan.surrogate_shape[i]);
    }
  }
  return narrowest;
}

struct Measured {
  shrink::Surrogate surrogate;
  train::CoordinateRun run;
};

Measured measure(const Net& net,
                 const shrink::Options& options,
                 const worker::TrialSettings& settings,
                 const Edit& edit) {
  Measured measured = {.surrogate = shrunk(archive_of(net.archive).model, options), .run = {}};
  if (edit) {
    edit(measured.surrogate);
  }
  measured.run =
      train::measure_coordinates(
          measured.surrogate, images(net), {.settings = settings, .seeds = 6, .batch_size = 64})
          .value();
  return measured;
}

/// The full check of `net` as for a study at S=8, with the table of `parametrization`, edited.
shrink::CoordinateVerdict verdict(const Net& net,
                                  const std::string& optimizer,
                                  Parametrization parametrization = Parametrization::kMup,
                                  const Edit& edit = {}) {
  const shrink::Band band;
  shrink::Options options = {.scaling = 8, .parametrization = parametrization};
  options.saving = shrink::Saving::kAny;
  const auto widths =
      shrink::coordinate_widths(archive_of(net.archive).model, options, band.narrowest).value();
  const worker::TrialSettings settings = settings_of(net, optimizer);
  options.scaling = widths.wide;
  const Measured wide = measure(net, options, settings, edit);
  options.scaling = widths.narrow;
  const Measured narrow = measure(net, options, settings, edit);
  std::vector<shrink::LayerPair> pairs;
  for (std::size_t i = 0; i < narrow.run.layers.size(); ++i) {
    const train::LayerUpdate& low = narrow.run.layers[i];
    const auto& plans = narrow.surrogate.parameters;
    const auto plan = std::ranges::find(plans, low.layer, &shrink::ParameterPlan::name);
    pairs.push_back({.layer = low.layer,
                     .role = plan->role,
                     .narrow_width = narrowest_width(*plan),
                     .wide_update = wide.run.layers[i].update,
                     .narrow_update = low.update,
                     .wide_activation = wide.run.layers[i].activation,
                     .narrow_activation = low.activation});
  }
  return shrink::judge_coordinates(pairs, wide.run.first_losses, narrow.run.first_losses, band);
}

std::string text_of(const shrink::CoordinateVerdict& verdict) {
  std::string text = "hidden mean " + std::to_string(verdict.hidden_mean) + "\n";
  for (const shrink::JudgedLayer& layer : verdict.layers) {
    text += layer.layer + " " + std::string(shrink::role_name(layer.role)) + " update x" +
            std::to_string(layer.update_ratio) + " activation x" +
            std::to_string(layer.activation_ratio) + (layer.judged ? "\n" : " not judged\n");
  }
  for (const std::string& each : verdict.failed) {
    text += "failed: " + each + "\n";
  }
  return text;
}

/// The judged layers of these roles, in order.
std::vector<std::string> layers_of(const shrink::CoordinateVerdict& verdict,
                                   const std::vector<Role>& roles) {
  std::vector<std::string> names;
  for (const shrink::JudgedLayer& layer : verdict.layers) {
    if (layer.judged && std::ranges::find(roles, layer.role) != roles.end()) {
      names.push_back(layer.layer);
    }
  }
  return names;
}

std::vector<std::string> failed_layers(const shrink::CoordinateVerdict& verdict) {
  std::vector<std::string> names;
  for (const shrink::JudgedLayer& layer : verdict.layers) {
    if (std::ranges::find(verdict.failed, layer.layer) != verdict.failed.end()) {
      names.push_back(layer.layer);
    }
  }
  return names;
}

void expect_passes(const Net& net, const std::string& optimizer) {
  const shrink::CoordinateVerdict found = verdict(net, optimizer);
  EXPECT_TRUE(found.passed) << optimizer << "\n" << text_of(found);
  EXPECT_TRUE(found.losses_equal);
  EXPECT_FALSE(layers_of(found, {Role::kHidden}).empty());
  EXPECT_FALSE(layers_of(found, {Role::kInput}).empty());
  EXPECT_FALSE(layers_of(found, {Role::kOutput}).empty());
}

/// Every judged layer of `roles` is named, and no other when `others_pass`.
void expect_names(const shrink::CoordinateVerdict& found, const std::vector<Role>& roles) {
  EXPECT_FALSE(found.passed);
  const std::vector<std::string> failed = failed_layers(found);
  const std::vector<std::string> wanted = layers_of(found, roles);
  EXPECT_FALSE(wanted.empty());
  for (const std::string& layer : wanted) {
    EXPECT_THAT(failed, Contains(layer)) << text_of(found);
  }
}

void leave_hidden_adam_unscaled(shrink::Surrogate& surrogate) {
  for (shrink::ParameterPlan& plan : surrogate.parameters) {
    if (plan.role == Role::kHidden) {
      plan.adam.lr = 1;
      plan.adamw.lr = 1;
    }
  }
}

void take_multipliers_out(shrink::Surrogate& surrogate) {
  for (ir::Graph* graph : {&surrogate.model.train, &surrogate.model.eval}) {
    std::vector<ir::Node> nodes(graph->nodes().begin(), graph->nodes().end());
    for (ir::Node& node : nodes) {
      if (node.op == "aten.mul.Tensor" && node.position < 0) {
        node.argument("other") = 1.0;
      }
    }
    graph->set_nodes(std::move(nodes));
  }
}

class RightTable : public ::testing::TestWithParam<std::string> {};

TEST_P(RightTable, PassesOnAnMlp) {
  expect_passes(mlp(), GetParam());
}

TEST_P(RightTable, PassesOnResNet18) {
  expect_passes(resnet18(), GetParam());
}

INSTANTIATE_TEST_SUITE_P(Optimizers,
                         RightTable,
                         ::testing::Values("sgd", "momentum", "adam", "adamw"),
                         [](const auto& row) { return row.param; });

TEST(WrongTable, StandardFailsOnAnMlp) {
  for (const char* optimizer : {"sgd", "adamw"}) {
    expect_names(verdict(mlp(), optimizer, Parametrization::kStandard), {Role::kHidden});
  }
}

TEST(WrongTable, StandardFailsOnResNet18) {
  for (const char* optimizer : {"momentum", "adamw"}) {
    expect_names(verdict(resnet18(), optimizer, Parametrization::kStandard), {Role::kOutput});
  }
}

TEST(WrongTable, ThePapersHiddenRateFailsUnderSgd) {
  expect_names(verdict(mlp(), "sgd", Parametrization::kPaper), {Role::kHidden});
  expect_names(verdict(resnet18(), "momentum", Parametrization::kPaper), {Role::kHidden});
}

TEST(WrongTable, HiddenAdamLeftUnscaledFails) {
  for (const Net& net : {mlp(), resnet18()}) {
    expect_names(verdict(net, "adam", Parametrization::kMup, leave_hidden_adam_unscaled),
                 {Role::kHidden});
  }
}

TEST(WrongTable, WithoutTheReadoutsMultiplierFails) {
  for (const Net& net : {mlp(), resnet18()}) {
    expect_names(verdict(net, "momentum", Parametrization::kMup, take_multipliers_out),
                 {Role::kOutput});
  }
}

}  // namespace
}  // namespace hydro::chain
