// hydro/engine/virtual_order.h — an engine whose answers come in the order of virtual time, the
// work that was done, and not of arrival: same slots, same decisions, however fast each was.
//
// Every slot carries a virtual time. A run of k trials from one step to another takes k times
// the cost of those steps, anything else takes none; a command starts when its slot is free and
// what led to it has happened. An answer is passed on once every busy slot has shown its next
// one, so a fast slot waits for the slowest. Ties: by trial, then by slot.
// Source: DESIGN "Deterministic mode".
#pragma once

#include <functional>
#include <memory>

#include "hydro/worker/messages.h"
#include "hydro/worker/worker.h"

namespace hydro::engine {

/// What one step costs one trial of a container, in any unit: multiply-adds.
using StepCost = std::function<double(const worker::ContainerSpec&)>;

/// After a stop request answers come as they arrive: nothing is decided on them.
[[nodiscard]] std::unique_ptr<worker::Engine> make_virtual_order(
    std::unique_ptr<worker::Engine> engine, StepCost cost);

}  // namespace hydro::engine
