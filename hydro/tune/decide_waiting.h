// hydro/tune/decide_waiting.h — the part of decide() about trials that wait at a rung.
#pragma once

#include <cstdint>
#include <optional>

#include "hydro/tune/decide.h"
#include "hydro/tune/state.h"

namespace hydro::tune {

/// The scheduler's next promotion, once the trial's state waits outside its container.
[[nodiscard]] std::optional<Record> promotion(const State& state);

/// One more for the container that a promoted trial is about to get.
///
/// Requires: a trial has no container (BugError)
[[nodiscard]] std::optional<Record> promote_beside(const State& state,
                                                   std::int64_t most_together);

/// The end of a waiting trial that lost against its bracket.
[[nodiscard]] std::optional<Record> defeat(const State& state);

/// Nothing runs and no one can be promoted: what still waits has lost, one after the other.
[[nodiscard]] std::optional<Record> end_waiting(const State& state);

}  // namespace hydro::tune
