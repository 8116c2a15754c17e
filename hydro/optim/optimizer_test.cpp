#include "hydro/optim/optimizer.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "hydro/base/result.h"
#include "hydro/base/safetensors.h"
#include "hydro/optim/flat_layout.h"
#include "hydro/optim/testing.h"
#include "hydro/worker/settings.h"

namespace hydro::optim {
namespace {

using testing::distance;
using testing::tensor_of;
using testing::wave;
using worker::OptimizerKind;

constexpr std::int64_t kSteps = 50;
const std::vector<std::string> kNames = {"a", "b", "c"};
const std::vector<std::vector<std::int64_t>> kShapes = {{4, 3}, {3}, {2, 2, 2, 3}};
const std::vector<WidthFactors> kPlain(3);
const std::vector<WidthFactors> kNarrow = {{0.5, 2.0, 4.0}, {0.25, 4.0, 2.0}, {}};

struct Case {
  std::string name;
  worker::Optimizer settings;
};

// As testdata/make_torch_steps.py has them.
std::vector<Case> cases() {
  using enum OptimizerKind;
  return {
      {"sgd", {.lr = .1}},
      {"sgd_decay", {.lr = .1, .weight_decay = .05}},
      {"sgd_momentum", {.lr = .05, .momentum = .9}},
      {"sgd_dampened", {.lr = .05, .momentum = .8, .dampening = .3, .weight_decay = .01}},
      {"sgd_still", {.lr = 0, .momentum = .9}},
      {"sgd_width", {.lr = .05, .momentum = .9, .weight_decay = .02}},
      {"sgd_nesterov", {.lr = .02, .momentum = .95, .nesterov = true, .weight_decay = .01}},
      {"adam", {.kind = kAdam, .lr = .01}},
      {"adam_l2",
       {.kind = kAdam, .lr = .02, .beta1 = .8, .beta2 = .95, .eps = 1e-6, .weight_decay = .1}},
      {"adam_amsgrad", {.kind = kAdam, .lr = .01, .beta1 = .5, .beta2 = .9, .amsgrad = true}},
      {"adam_width", {.kind = kAdam, .lr = .01, .eps = 1e-3}},
      {"adamw", {.kind = kAdamW, .lr = .01, .weight_decay = .1}},
      {"adamw_amsgrad",
       {.kind = kAdamW,
        .lr = .03,
        .beta1 = .7,
        .beta2 = .99,
        .amsgrad = true,
        .weight_decay = .3}},
      {"adamw_still", {.kind = kAdamW, .lr = 0, .weight_decay = .1}},
      {"adamw_width", {.kind = kAdamW, .lr = .01, .eps = 1e-3, .weight_decay = .2}},
  };
}

SafeTensorFile golden() {
  return read_safetensors(std::filesystem::path(HYDRO_SOURCE_DIR) /
                          "hydro/optim/testdata/torch_steps.safetensors")
      .value();
}

std::vector<WidthFactors> factors_of(const std::string& name) {
  return name.ends_with("_width") ? kNarrow : kPlain;
}

/// K trials of one container fed with the golden gradients.
class Replay {
 public:
  Replay(const std::vector<worker::Optimizer>& trials, const std::vector<WidthFactors>& factors)
      : layout_(kShapes, static_cast<std::int64_t>(trials.size()), at::kFloat),
        weights_(layout_.make_buffer()),
        optimizer_(layout_, trials, factors) {
    for (std::size_t i = 0; i < kNames.size(); ++i) {
      layout_.view(weights_, i).copy_(tensor_of(file_, "start." + kNames[i]));
    }
  }

  void step(std::int64_t t) {
    std::vector<at::Tensor> gradients;
    for (std::size_t i = 0; i < kNames.size(); ++i) {
      const at::Tensor one = tensor_of(file_, "gradient." + kNames[i])[t];
      gradients.push_back(layout_.match(one.expand_as(layout_.view(weights_, i)), i));
    }
    optimizer_.step(weights_,
                    gradients,
                    std::vector<TrialStep>(static_cast<std::size_t>(layout_.trials())));
  }

  /// The largest difference of `trial` from torch's case after step t, over each tensor's
  /// largest weight.
  [[nodiscard]] double error(const std::string& name,
                             std::int64_t trial,
                             std::int64_t t) const {
    double worst = 0;
    for (std::size_t i = 0; i < kNames.size(); ++i) {
      const at::Tensor expected = tensor_of(file_, name + "." + kNames[i])[t];
      const double largest = expected.abs().max().item<double>();
      worst = std::max(worst, distance(layout_.view(weights_, i, trial), expected) / largest);
    }
    return worst;
  }

 private:
  SafeTensorFile file_ = golden();
  FlatLayout layout_;
  at::Tensor weights_;
  Optimizer optimizer_;
};

class AgainstTorch : public ::testing::TestWithParam<Case> {};

TEST_P(AgainstTorch, EveryOfFiftyStepsAgrees) {
  Replay replay({GetParam().settings}, factors_of(GetParam().name));
  for (std::int64_t t = 0; t < kSteps; ++t) {
    replay.step(t);
    ASSERT_LE(replay.error(GetParam().name, 0, t), 1e-6) << "step " << t;
  }
}

INSTANTIATE_TEST_SUITE_P(Optimizer,
                         AgainstTorch,
                         ::testing::ValuesIn(cases()),
                         [](const auto& one) { return one.param.name; });

/// Cases that may share a container: equal kind, nesterov, amsgrad and width factors.
std::vector<std::vector<Case>> containers() {
  std::map<std::string, std::vector<Case>> groups;
  for (const Case& one : cases()) {
    const auto& s = one.settings;
    const bool narrow = one.name.ends_with("_width");
    const std::array<int, 4> key = {
        static_cast<int>(s.kind), int{s.nesterov}, int{s.amsgrad}, int{narrow}};
    groups[std::to_string(key[0]) + std::to_string(key[1]) + std::to_string(key[2]) +
           std::to_string(key[3])]
        .push_back(one);
  }
  std::vector<std::vector<Case>> found;
  for (auto& [key, group] : groups) {
    found.push_back(std::move(group));
  }
  return found;
}

TEST(Optimizer, MixesTrialsOfUnlikeNumbersInOneContainer) {
  for (const auto& group : containers()) {
    std::vector<worker::Optimizer> settings;
    for (const Case& one : group) {
      settings.push_back(one.settings);
    }
    settings.push_back(settings.front());
    Replay replay(settings, factors_of(group.front().name));
    for (std::int64_t t = 0; t < kSteps; ++t) {
      replay.step(t);
      for (std::size_t k = 0; k < group.size(); ++k) {
        ASSERT_LE(replay.error(group[k].name, static_cast<std::int64_t>(k), t), 1e-6)
            << group[k].name << t;
      }
    }
  }
}

/// One tensor of two pieces and more, one step with Adam.
at::Tensor large_step(std::int64_t trials, const std::vector<TrialStep>& steps, int threads) {
  const FlatLayout layout({{{300, 700}}}, trials, at::kFloat);
  const at::Tensor weights = layout.make_buffer();
  const std::vector<worker::Optimizer> settings(static_cast<std::size_t>(trials),
                                                {.kind = OptimizerKind::kAdam, .lr = .1});
  Optimizer optimizer(layout, settings, {WidthFactors{}});
  const int before = at::get_num_threads();
  at::set_num_threads(threads);
  const at::Tensor gradient = wave({300, 700}, .2).expand_as(layout.view(weights, 0));
  optimizer.step(weights, std::vector{layout.match(gradient, 0)}, steps);
  at::set_num_threads(before);
  return layout.view(weights, 0);
}

TEST(Optimizer, GivesTheSameBitsOnAnyNumberOfThreads) {
  EXPECT_TRUE(large_step(1, {{}}, 1).equal(large_step(1, {{}}, 2)));
}

TEST(Optimizer, LeavesATrialThatIsNotLiveAlone) {
  const at::Tensor weights = large_step(3, {{}, {.live = false}, {}}, 1);
  EXPECT_EQ(weights[1].abs().max().item<float>(), 0);
  EXPECT_TRUE(weights[0].equal(large_step(1, {{}}, 1)));
  EXPECT_TRUE(weights[2].equal(weights[0]));
}

TEST(Optimizer, LeavesATensorWithoutGradientAlone) {
  const FlatLayout layout(kShapes, 1, at::kFloat);
  const at::Tensor weights = layout.make_buffer();
  Optimizer optimizer(layout, {{.lr = .1}}, kPlain);
  const at::Tensor gradient = at::ones({3});
  optimizer.step(
      weights, std::vector{at::Tensor(), gradient, at::Tensor()}, std::vector<TrialStep>(1));
  EXPECT_EQ(layout.view(weights, 0).abs().max().item<float>(), 0);
  EXPECT_EQ(distance(layout.view(weights, 1), gradient * -.1), 0);
}

/// A schedule sets the rate anew at every step; what the width asks for stays.
TEST(Optimizer, AScheduledRateKeepsTheWidthFactors) {
  const FlatLayout layout(kShapes, 1, at::kFloat);
  const at::Tensor weights = layout.make_buffer();
  Optimizer optimizer(layout, {{.lr = .1}}, kNarrow);
  std::vector<at::Tensor> gradients;
  for (std::size_t i = 0; i < kNarrow.size(); ++i) {
    gradients.push_back(layout.match(at::ones_like(layout.view(weights, i)), i));
  }
  for (const double scheduled : {1., .5, .25}) {
    optimizer.step(weights, gradients, std::vector{TrialStep{.lr_factor = scheduled}});
  }
  for (std::size_t i = 0; i < kNarrow.size(); ++i) {
    const at::Tensor moved = layout.view(weights, i);
    EXPECT_LE(distance(moved, at::full_like(moved, -.175 * kNarrow[i].lr)), 1e-7) << i;
  }
}

TEST(Optimizer, RefusesUnlikeKindsInOneContainer) {
  const FlatLayout layout(kShapes, 2, at::kFloat);
  EXPECT_THROW(Optimizer(layout, {{.lr = .1}, {.kind = OptimizerKind::kAdam}}, kPlain),
               BugError);
}

}  // namespace
}  // namespace hydro::optim
