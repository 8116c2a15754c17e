// hydro/tune/decide_target.h — the part of decide() about full-size models and the study's end.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hydro/tune/decide.h"
#include "hydro/tune/events.h"
#include "hydro/tune/state.h"
#include "hydro/worker/messages.h"

namespace hydro::tune {

[[nodiscard]] Record close_study(Outcome outcome,
                                 std::string error = {},
                                 std::string cause = {});

/// Why a trained trial has no value, or nothing.
[[nodiscard]] std::optional<std::string> fault_of(const std::vector<worker::Report>& reports,
                                                  const std::string& metric);

/// A finished delivery or weights that cannot be written end the study, whatever else could be
/// done.
[[nodiscard]] std::optional<Record> decide_end(const State& state);

/// Requires: nothing else is left to do, no command is open
[[nodiscard]] Decision decide_target(const State& state);

}  // namespace hydro::tune
