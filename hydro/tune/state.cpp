#include "hydro/tune/state.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/tune/events.h"
#include "hydro/worker/messages.h"

namespace hydro::tune {

const StudySettings& State::study() const {
  HYDRO_CHECK(settings.has_value(), "the study is not open");
  return *settings;
}

const Trial& State::trial(worker::TrialId id) const {
  const auto index = static_cast<std::size_t>(id);
  HYDRO_CHECK(index < trials.size(), "trial " + std::to_string(index));
  return trials[index];
}

const Container& State::container(worker::ContainerId id) const {
  const auto found = containers.find(id);
  HYDRO_CHECK(found != containers.end(),
              "container " + std::to_string(static_cast<std::int64_t>(id)));
  return found->second;
}

bool State::all_suggested() const {
  return settings &&
         (exhausted || static_cast<std::int64_t>(trials.size()) >= settings->trials);
}

bool State::lost_searcher() const {
  constexpr std::int64_t kAttempts = 3;
  return searcher_failures >= kAttempts;
}

std::optional<worker::TrialId> State::best() const {
  return ranking.empty() ? std::nullopt : std::optional(ranking.begin()->trial);
}

bool State::is_better(double a, double b) const {
  return study().mode == Mode::kMax ? a > b : a < b;
}

const Target* State::delivered() const {
  const Target* best = nullptr;
  const auto value = [this](const Target& target) {
    const std::optional<double> last = target.reports.last(study().metric);
    HYDRO_CHECK(last.has_value(), "a finished target has no " + study().metric);
    return *last;
  };
  for (const Target& target : targets) {
    if (target.status == TargetStatus::kFinished &&
        (best == nullptr || is_better(value(target), value(*best)))) {
      best = &target;
    }
  }
  return best;
}

bool State::delivers_own_weights() const {
  return settings && settings->scaling == 1;
}

worker::ContainerId container_of(const Trial& trial) {
  HYDRO_CHECK(trial.container.has_value(), "the trial has no container");
  return *trial.container;
}

std::int64_t trained_ns(const Trial& trial, std::int64_t now_ns) {
  const bool runs = trial.status == TrialStatus::kRunning;
  return trial.trained_ns + (runs ? now_ns - trial.begin_ns : 0);
}

worker::ContainerSpec spec_of(const State& state, const Container& container) {
  HYDRO_CHECK(state.settings && !container.trials.empty(),
              "a container holds a trial of an open study");
  const bool target = container.kind == worker::TrialKind::kTarget;
  const Common& common = *state.trial(container.trials.front()).common;
  worker::ContainerSpec spec{.id = container.id,
                             .kind = container.kind,
                             .model = target ? common.target_model : common.model,
                             .batch_size = common.batch_size,
                             .budget = common.budget,
                             .drop_last = state.study().drop_last,
                             .study_seed = state.study().seed,
                             .data_seed = state.study().data_seed,
                             .evaluate_test = state.study().evaluate_test && target,
                             .step = container.step,
                             .trials = {}};
  for (const worker::TrialId id : container.trials) {
    spec.trials.push_back({.id = id, .settings = state.trial(id).settings});
  }
  return spec;
}

std::vector<CommandLost> lost_commands(const State& state) {
  std::vector<CommandLost> lost;
  lost.reserve(state.pending.size());
  for (const auto& [id, pending] : state.pending) {
    lost.push_back({.command = id});
  }
  return lost;
}

EventBody event_of(const worker::Answer& answer) {
  return std::visit(
      [&answer](const auto& body) -> EventBody {
        using Body = std::remove_cvref_t<decltype(body)>;
        if constexpr (std::is_same_v<Body, worker::Report>) {
          return Reported{.command = answer.command, .report = body};
        } else if constexpr (std::is_same_v<Body, worker::Diverged>) {
          return TrialDiverged{.command = answer.command,
                               .trial = body.trial,
                               .step = body.step,
                               .cause = body.reason};
        } else if constexpr (std::is_same_v<Body, worker::Done>) {
          return CommandDone{.command = answer.command, .step = body.step};
        } else if constexpr (std::is_same_v<Body, worker::Stopped>) {
          return CommandStopped{.command = answer.command, .step = body.step};
        } else {
          return CommandFailed{.command = answer.command, .error = body.error};
        }
      },
      answer.body);
}

}  // namespace hydro::tune
