// hydro/tune/container_fold.h — the part of apply() about containers, slots and targets: who is
// where. Each checks what its event promised (BugError).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "hydro/tune/events.h"
#include "hydro/tune/state.h"
#include "hydro/worker/messages.h"

namespace hydro::tune {

/// The place of an id in a list that is numbered without gaps.
template <class Id>
std::size_t index_of(Id id) {
  return static_cast<std::size_t>(id);
}

[[nodiscard]] Container& container_at(State& state, worker::ContainerId id);
[[nodiscard]] Slot& slot_at(State& state, worker::SlotId id);
[[nodiscard]] Target& current_target(State& state);

/// Requires: the next id (BugError)
Container& new_container(State& state, Container container);
/// A planned container takes its place among those that wait; promoted trials start before
/// those that never ran.
void add_container(State& state, const PlannedContainer& plan);
/// It is launched there.
void bind(State& state, Container& container, worker::SlotId slot, std::int64_t now_ns);
/// The trial trains no longer; the worker still holds it until it is dropped or extracted.
void take_out(State& state, worker::TrialId id);
/// A container with nothing to train or to extract waits for its end, and its slot takes the
/// next.
void park_if_done(State& state, Container& container);
/// It is no more.
void lose_container(State& state, const Container& container);
/// What a command that failed or was lost takes with it: all trials of its container that had
/// not ended get `status`; a target keeps the cause for its verdict.
void lose_all(State& state,
              const OrderNote& order,
              TrialStatus status,
              const std::string& cause,
              std::int64_t now_ns);
/// The container's trials that train, or were paused there, get `status`.
void end_live(State& state,
              const Container& container,
              TrialStatus status,
              const std::string& cause,
              std::int64_t now_ns);
/// Its container is cleared away when another target follows.
void end_target(State& state, TargetStatus status);

}  // namespace hydro::tune
