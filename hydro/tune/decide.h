// hydro/tune/decide.h — what to do next, from the state alone. Pure; idempotent: what was
// issued or recorded is in the state and is not decided again.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "hydro/tune/events.h"
#include "hydro/tune/state.h"
#include "hydro/worker/messages.h"

namespace hydro::tune {

/// Ask the searcher for configurations first .. first + count - 1: each becomes a
/// TrialSuggested, or the searcher ends and SuggestionsExhausted follows.
struct Suggest {
  std::int64_t first = 0;
  std::int64_t count = 0;
};

/// A verdict that needs no one's help: append it.
struct Record {
  EventBody body;
  std::string reason;
};

/// Append issued(state, issue), then hand the order to the slot under that id.
struct Issue {
  worker::SlotId slot{};
  worker::Order order;
  std::string reason;
};

using Decision = std::variant<Suggest, Record, Issue>;

/// How much decide() looked at: its cost, countable in tests.
struct Effort {
  std::int64_t looked_at = 0;
};

/// What holds after the last event. The decisions of one call do not depend on each other: the
/// edge may carry out all in order, or the first and ask again.
[[nodiscard]] std::vector<Decision> decide(const State& state, Effort* effort = nullptr);

[[nodiscard]] CommandIssued issued(const State& state, const Issue& issue);

}  // namespace hydro::tune
