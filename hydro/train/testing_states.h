// hydro/train/testing_states.h — trials of every optimizer that leave containers and enter
// others, for tests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/store/trial_state.h"
#include "hydro/train/container.h"
#include "hydro/train/testing.h"
#include "hydro/train/train.h"
#include "hydro/worker/messages.h"
#include "hydro/worker/settings.h"

namespace hydro::train::testing {

/// Settings of one kind; trial k of a container has the rate lr / (1 + k).
struct Recipe {
  const char* name;
  worker::OptimizerKind kind;
  double lr;
  double momentum = 0;
  double dampening = 0;
  bool nesterov = false;
  bool amsgrad = false;
  worker::ScheduleKind schedule = worker::ScheduleKind::kStep;
};

/// For the names of tests.
inline void PrintTo(const Recipe& recipe,  // NOLINT(readability-identifier-naming): gtest's
                    std::ostream* out) {
  *out << recipe.name;
}

/// Every optimizer with every average it may keep, and every schedule.
inline std::vector<Recipe> recipes() {
  using enum worker::OptimizerKind;
  using enum worker::ScheduleKind;
  return {{.name = "PlainSgd", .kind = kSgd, .lr = .01},
          {.name = "Momentum", .kind = kSgd, .lr = .01, .momentum = .9, .schedule = kCosine},
          {.name = "Damped", .kind = kSgd, .lr = .01, .momentum = .8, .dampening = .2},
          {.name = "Nesterov",
           .kind = kSgd,
           .lr = .005,
           .momentum = .9,
           .nesterov = true,
           .schedule = kLinear},
          {.name = "Adam", .kind = kAdam, .lr = .001},
          {.name = "AdamW", .kind = kAdamW, .lr = .001, .schedule = kConstant},
          {.name = "AmsGrad", .kind = kAdam, .lr = .001, .amsgrad = true, .schedule = kCosine}};
}

inline worker::TrialSettings settings_of(const Recipe& recipe, std::int64_t trial) {
  worker::TrialSettings settings;
  settings.optimizer = {.kind = recipe.kind,
                        .lr = recipe.lr / static_cast<double>(1 + trial),
                        .momentum = recipe.momentum,
                        .dampening = recipe.dampening,
                        .nesterov = recipe.nesterov,
                        .amsgrad = recipe.amsgrad,
                        .weight_decay = recipe.kind == worker::OptimizerKind::kAdam ? 0 : .01};
  // Three quarters of a long run come after the first decay.
  settings.schedule = {.kind = recipe.schedule,
                       .warmup = {.amount = 4},
                       .step_size = {.amount = 30},
                       .gamma = .5};
  settings.clip_norm = 2;
  settings.label_smoothing = trial == 1 ? .1 : 0;
  return settings;
}

/// Trials first .. first + count - 1 of a recipe, in a container that may run 200 steps.
inline worker::ContainerSpec spec_of(const Recipe& recipe,
                                     std::int64_t count,
                                     std::int64_t first = 0) {
  std::vector<worker::TrialSettings> trials;
  for (std::int64_t k = first; k < first + count; ++k) {
    trials.push_back(settings_of(recipe, k));
  }
  return spec_of(trials, 200, first);
}

inline void advance(Container& container, std::int64_t steps) {
  for (std::int64_t i = 0; i < steps; ++i) {
    static_cast<void>(container.advance().value());
  }
}

/// The trial on its way out of its container.
inline Traveller leaving(const Container& container, std::int64_t trial) {
  for (const worker::TrialSpec& spec : container.spec().trials) {
    if (spec.id == worker::TrialId{trial}) {
      return {.trial = spec,
              .state = std::make_shared<const store::TrialState>(container.state_of(spec.id))};
    }
  }
  HYDRO_CHECK(false, "no trial " + std::to_string(trial));
  return {};
}

/// Where the trial is in its container.
inline std::int64_t slot_of(const Container& container, std::int64_t trial) {
  const auto& trials = container.spec().trials;
  for (std::size_t k = 0; k < trials.size(); ++k) {
    if (trials[k].id == worker::TrialId{trial}) {
      return static_cast<std::int64_t>(k);
    }
  }
  HYDRO_CHECK(false, "no trial " + std::to_string(trial));
  return 0;
}

}  // namespace hydro::train::testing
