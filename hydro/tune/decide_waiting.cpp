#include "hydro/tune/decide_waiting.h"

#include <cstdint>
#include <optional>
#include <utility>
#include <variant>

#include "hydro/search/scheduler.h"
#include "hydro/search/verdict.h"
#include "hydro/tune/decide.h"
#include "hydro/tune/events.h"
#include "hydro/tune/judge.h"
#include "hydro/tune/state.h"
#include "hydro/worker/messages.h"

namespace hydro::tune {

using worker::TrialId;

std::optional<Record> promotion(const State& state) {
  const std::optional<search::Move> move = state.scheduler.next();
  if (!move || move->verdict.fate != search::Fate::kContinue) {
    return std::nullopt;
  }
  const TrialId id{move->trial};
  if (!state.trial(id).extracted) {
    return std::nullopt;
  }
  return Record{
      .body = TrialPromoted{.trial = id, .cause = reason_of(move->verdict, state.study().mode)},
      .reason = {}};
}

std::optional<Record> defeat(const State& state) {
  const std::optional<search::Move> move = state.scheduler.next();
  if (!move || move->verdict.fate != search::Fate::kStop ||
      state.trial(TrialId{move->trial}).status != TrialStatus::kPaused) {
    return std::nullopt;
  }
  return Record{.body = TrialStopped{.trial = TrialId{move->trial},
                                     .cause = reason_of(move->verdict, state.study().mode)},
                .reason = {}};
}

std::optional<Record> promote_beside(const State& state, std::int64_t most_together) {
  const std::int64_t step = state.trial(*state.unplanned.begin()).step;
  const auto promoted = static_cast<std::int64_t>(state.unplanned.size());
  if (step == 0 || promoted >= most_together) {
    return std::nullopt;
  }
  std::optional<Record> next = promotion(state);
  const bool together =
      next && state.trial(std::get<TrialPromoted>(next->body).trial).step == step;
  return together ? std::move(next) : std::nullopt;
}

std::optional<Record> end_waiting(const State& state) {
  if (state.paused.empty()) {
    return std::nullopt;
  }
  const TrialId id = *state.paused.begin();
  const search::Verdict standing = state.scheduler.standing(static_cast<std::int64_t>(id));
  return Record{
      .body = TrialStopped{.trial = id, .cause = reason_of(standing, state.study().mode)},
      .reason = "no trial can be promoted any more"};
}

}  // namespace hydro::tune
