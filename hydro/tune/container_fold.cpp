#include "hydro/tune/container_fold.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "hydro/base/result.h"
#include "hydro/tune/events.h"
#include "hydro/tune/state.h"
#include "hydro/tune/trial_fold.h"
#include "hydro/worker/messages.h"

namespace hydro::tune {
namespace {

using worker::ContainerId;
using worker::SlotId;
using worker::TrialId;
using worker::TrialKind;

void leave_slot(State& state, const Container& container) {
  Slot& slot = slot_at(state, container.slot);
  if (slot.active == container.id) {
    slot.active.reset();
  }
}

bool holds_paused(const State& state, const Container& container) {
  return std::ranges::any_of(container.leaving, [&state](TrialId id) {
    return state.trial(id).status == TrialStatus::kPaused;
  });
}

/// Promoted trials start before those that never ran.
void enqueue(State& state, const Container& container) {
  auto place = state.waiting.end();
  if (container.step > 0) {
    place = std::ranges::find_if(
        state.waiting, [&state](ContainerId id) { return state.container(id).step == 0; });
  }
  state.waiting.insert(place, container.id);
}

}  // namespace

Container& container_at(State& state, ContainerId id) {
  const auto found = state.containers.find(id);
  HYDRO_CHECK(found != state.containers.end(), "container " + std::to_string(index_of(id)));
  return found->second;
}

Slot& slot_at(State& state, SlotId id) {
  HYDRO_CHECK(index_of(id) < state.slots.size(), "slot " + std::to_string(index_of(id)));
  return state.slots[index_of(id)];
}

Target& current_target(State& state) {
  HYDRO_CHECK(!state.targets.empty(), "no target was started");
  return state.targets.back();
}

void park_if_done(State& state, Container& container) {
  if (container.live.empty() && container.status == ContainerStatus::kIdle &&
      !holds_paused(state, container)) {
    state.parked.insert(container.id);
    leave_slot(state, container);
  }
}

void lose_container(State& state, const Container& container) {
  state.parked.erase(container.id);
  leave_slot(state, container);
  const ContainerId id = container.id;
  state.containers.erase(id);
}

void take_out(State& state, TrialId id) {
  Container& container = container_at(state, container_of(trial_at(state, id)));
  std::erase(container.live, id);
  container.leaving.push_back(id);
  park_if_done(state, container);
}

void end_target(State& state, TargetStatus status) {
  Target& target = current_target(state);
  target.status = status;
  const auto container = state.containers.find(target.container);
  if (container != state.containers.end()) {
    container->second.live.clear();
    park_if_done(state, container->second);
  }
}

Container& new_container(State& state, Container container) {
  HYDRO_CHECK(index_of(container.id) == static_cast<std::size_t>(state.planned_containers),
              "containers are numbered without gaps");
  ++state.planned_containers;
  return state.containers.emplace(container.id, std::move(container)).first->second;
}

void bind(State& state, Container& container, SlotId slot, std::int64_t now_ns) {
  HYDRO_CHECK(container.status == ContainerStatus::kPlanned, "a container is launched once");
  container.status = ContainerStatus::kBound;
  container.slot = slot;
  if (container.kind == TrialKind::kTarget) {
    return;
  }
  HYDRO_CHECK(!state.waiting.empty(), "no container waits");
  HYDRO_CHECK(state.waiting.front() == container.id, "containers start in order");
  state.waiting.erase(state.waiting.begin());
  slot_at(state, slot).active = container.id;
  for (const TrialId id : container.trials) {
    start_trial(state, id, now_ns);
  }
}

void add_container(State& state, const PlannedContainer& plan) {
  HYDRO_CHECK(!plan.trials.empty(), "a container holds a trial");
  const Container& container = new_container(state,
                                             {.id = plan.id,
                                              .trials = plan.trials,
                                              .live = plan.trials,
                                              .leaving = {},
                                              .step = state.trial(plan.trials.front()).step});
  enqueue(state, container);
  for (const TrialId id : plan.trials) {
    Trial& trial = trial_at(state, id);
    HYDRO_CHECK(!trial.container, "a trial is in one container");
    HYDRO_CHECK(trial.step == container.step, "its trials stand at one step");
    trial.container = plan.id;
    trial.had_company = trial.had_company || plan.trials.size() > 1;
    state.unplanned.erase(id);
  }
}

void end_live(State& state,
              const Container& container,
              TrialStatus status,
              const std::string& cause,
              std::int64_t now_ns) {
  if (container.kind == TrialKind::kTarget) {
    Target& target = current_target(state);
    target.cause = cause;
    if (status == TrialStatus::kInterrupted) {
      target.status = TargetStatus::kInterrupted;
    }
    return;
  }
  for (const TrialId id : container.live) {
    end_trial(state, id, status, cause, now_ns);
  }
  for (const TrialId id : container.leaving) {
    if (state.trial(id).status == TrialStatus::kPaused) {
      end_trial(state, id, status, cause, now_ns);  // its state was still here
    }
  }
}

void lose_all(State& state,
              const OrderNote& order,
              TrialStatus status,
              const std::string& cause,
              std::int64_t now_ns) {
  if (order.verb == Verb::kDiscard) {
    return;  // it is about no container
  }
  const Container& container = container_at(state, order.container);
  end_live(state, container, status, cause, now_ns);
  lose_container(state, container);
}

}  // namespace hydro::tune
