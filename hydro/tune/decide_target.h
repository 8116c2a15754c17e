// hydro/tune/decide_target.h — the part of decide() about full-size models and the study's end.
#pragma once

#include <optional>
#include <string>

#include "hydro/tune/decide.h"
#include "hydro/tune/events.h"
#include "hydro/tune/state.h"

namespace hydro::tune {

[[nodiscard]] Record close_study(Outcome outcome,
                                 std::string error = {},
                                 std::string cause = {});

/// A finished delivery or weights that cannot be written end the study, whatever else could be
/// done.
[[nodiscard]] std::optional<Record> decide_end(const State& state);

/// Requires: nothing else is left to do, no command is open
[[nodiscard]] Decision decide_target(const State& state);

}  // namespace hydro::tune
