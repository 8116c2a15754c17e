// hydro/tune/trial_fold.h — the part of apply() about one trial on its way through rungs: what
// a report means, waiting, going on, ending. Requires throughout: the trial exists (BugError).
#pragma once

#include <cstdint>
#include <string>

#include "hydro/tune/events.h"
#include "hydro/tune/state.h"
#include "hydro/worker/messages.h"

namespace hydro::tune {

[[nodiscard]] Trial& trial_at(State& state, worker::TrialId id);

/// A trial comes into being, for the scheduler too.
void add_trial(State& state, const TrialSuggested& suggested);

/// Its training begins, or goes on after it waited.
void start_trial(State& state, worker::TrialId id, std::int64_t now_ns);

/// Keeps the report and what follows from it.
void report_of(State& state, const worker::Report& report, std::int64_t now_ns);

/// A running or waiting trial is over.
void end_trial(State& state,
               worker::TrialId id,
               TrialStatus status,
               std::string cause,
               std::int64_t now_ns);

void pause_trial(State& state, worker::TrialId id, std::string cause, std::int64_t now_ns);

/// Requires: the scheduler's next move promotes it, and its state was extracted (BugError)
void promote_trial(State& state, worker::TrialId id, std::string cause);

}  // namespace hydro::tune
