#include "hydro/tune/decide_target.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "hydro/base/result.h"
#include "hydro/tune/compact.h"
#include "hydro/tune/decide.h"
#include "hydro/tune/events.h"
#include "hydro/tune/judge.h"
#include "hydro/tune/state.h"
#include "hydro/worker/messages.h"

namespace hydro::tune {
namespace {

using worker::ContainerId;
using worker::SlotId;
using worker::TrialId;

std::optional<TrialId> next_best(const State& state) {
  for (const Rank& rank : state.ranking) {
    if (std::ranges::count(state.targets, rank.trial, &Target::trial) == 0) {
      return rank.trial;
    }
  }
  return std::nullopt;
}

/// At S=1; a trial that was stopped early is trained anew.
bool keeps_weights(const State& state, TrialId id) {
  return state.delivers_own_weights() && state.trial(id).status == TrialStatus::kFinished &&
         state.containers.contains(container_of(state.trial(id)));
}

Record start_target(const State& state, TrialId trial, std::string reason) {
  return {.body = TargetStarted{.trial = trial,
                                .container = keeps_weights(state, trial)
                                                 ? container_of(state.trial(trial))
                                                 : ContainerId{state.planned_containers}},
          .reason = std::move(reason)};
}

/// After the last trial, or after a target that failed.
Record start_or_give_up(const State& state) {
  const std::optional<TrialId> trial = next_best(state);
  const bool own_weights_failed = !state.targets.empty() && !state.targets.back().full_width;
  if (trial && !own_weights_failed && state.targets.size() < kTargetAttempts) {
    return start_target(
        state,
        *trial,
        state.targets.empty() ? "best value" : "next best value after a failed target");
  }
  if (state.targets.empty()) {
    return close_study(Outcome::kFailed, "H0640");
  }
  return close_study(Outcome::kFailed, "H0641", state.targets.back().cause);
}

/// Of a training that ended without a fault (BugError).
double final_value(const State& state, const Reports& reports) {
  const std::optional<double> value = reports.last(state.study().metric);
  HYDRO_CHECK(value.has_value(), "a finished training has no " + state.study().metric);
  return *value;
}

/// Smaller differences come and go with the initial weights; docs/decisions/0003.
bool is_clearly_better(const State& state, double a, double b) {
  constexpr double kNoise = 0.01;
  return state.is_better(a, b) && std::abs(a - b) > kNoise * std::abs(a);
}

/// The next best configuration, if the first target is clearly worse than its own surrogate. A
/// wider model is better in its own right, so this says that the surrogate's value was luck, or
/// that its hyperparameters do not transfer.
std::optional<Record> start_another(const State& state) {
  if (!state.study().retry_worse_target || state.delivers_own_weights() ||
      state.stop_requested || state.targets.size() != 1 ||
      state.targets.front().status != TargetStatus::kFinished) {
    return std::nullopt;
  }
  const Target& target = state.targets.front();
  const double wide = final_value(state, target.reports);
  const double narrow = final_value(state, state.trial(target.trial).reports);
  const std::optional<TrialId> next = next_best(state);
  if (!next || !is_clearly_better(state, narrow, wide)) {
    return std::nullopt;
  }
  return start_target(state, *next, "the first target is worse than its own surrogate");
}

Decision continue_target(const State& state, const Target& target) {
  if (!target.cause.empty()) {
    return Record{.body = TargetFailed{.trial = target.trial, .cause = target.cause},
                  .reason = {}};
  }
  const Container& container = state.container(target.container);
  const SlotId slot = container.slot;
  const int threads = state.study().target_threads;
  if (container.status == ContainerStatus::kPlanned) {
    return Issue{.slot = slot,
                 .order = worker::Launch{.spec = spec_of(state, container), .threads = threads},
                 .reason = {}};
  }
  const std::int64_t end = state.trial(target.trial).common->budget.steps;
  if (container.step < end) {
    return Issue{.slot = slot,
                 .order = worker::Run{.container = container.id, .to = end, .threads = threads},
                 .reason = {}};
  }
  if (const auto fault = fault_of(target.reports, state.study().metric)) {
    return Record{.body = TargetFailed{.trial = target.trial, .cause = *fault}, .reason = {}};
  }
  if (const Target* earlier = state.delivered(); earlier != nullptr) {
    if (!state.is_better(final_value(state, target.reports),
                         final_value(state, earlier->reports))) {
      return Record{.body = TargetFinished{.trial = target.trial},
                    .reason = "the earlier target is better"};
    }
  }
  return Issue{.slot = slot,
               .order = worker::Export{.container = container.id,
                                       .trial = target.trial,
                                       .path = state.study().weights},
               .reason = {}};
}

}  // namespace

Record close_study(Outcome outcome, std::string error, std::string cause) {
  return {
      .body =
          StudyClosed{.outcome = outcome, .error = std::move(error), .cause = std::move(cause)},
      .reason = {}};
}

std::optional<Record> decide_end(const State& state) {
  if (state.export_error) {
    return close_study(Outcome::kFailed, state.export_error->id, state.export_error->what);
  }
  if (state.targets.empty()) {
    return std::nullopt;
  }
  const Target& target = state.targets.back();
  if (target.status != TargetStatus::kRunning && state.delivered() != nullptr) {
    return start_another(state) ? std::nullopt : std::optional(close_study(Outcome::kFinished));
  }
  if (target.status == TargetStatus::kRunning && target.exported) {
    return Record{.body = TargetFinished{.trial = target.trial},
                  .reason = "its weights are on disk"};
  }
  return std::nullopt;
}

Decision decide_target(const State& state) {
  if (state.targets.empty() || state.targets.back().status == TargetStatus::kFailed) {
    return start_or_give_up(state);
  }
  if (std::optional<Record> another = start_another(state)) {
    return *std::move(another);
  }
  return continue_target(state, state.targets.back());
}

}  // namespace hydro::tune
