#include "hydro/run/edge.h"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <future>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/core.h>

#include "hydro/base/file.h"
#include "hydro/base/result.h"
#include "hydro/search/searcher.h"
#include "hydro/tune/decide.h"
#include "hydro/tune/events.h"
#include "hydro/tune/state.h"
#include "hydro/worker/messages.h"
#include "hydro/worker/worker.h"

namespace hydro::run {
namespace {

constexpr std::chrono::milliseconds kPatience{50};
/// While a searcher thinks its answer is looked for this often.
constexpr std::chrono::milliseconds kCuriosity{2};

/// A worker writes weights into a folder that exists.
Result<void> make_place_for(const worker::Order& order) {
  const auto* exporting = std::get_if<worker::Export>(&order);
  return exporting == nullptr
             ? Result<void>()
             : make_folder(std::filesystem::path(exporting->path).parent_path());
}

/// What a searcher learns of a trial; nothing while it goes on, and when the study was stopped.
std::optional<search::Outcome> outcome_of(const tune::State& state, worker::TrialId id) {
  const tune::Trial& trial = state.trial(id);
  search::Outcome outcome = {.k = static_cast<std::int64_t>(id),
                             .value = trial.reports.last(state.study().metric),
                             .step = trial.reports.empty() ? 0 : trial.reports.last_step()};
  switch (trial.status) {
    case tune::TrialStatus::kFinished:
      return outcome;
    case tune::TrialStatus::kFailed:
      outcome.ending = search::Ending::kFailed;
      outcome.value.reset();
      return outcome;
    case tune::TrialStatus::kStopped:
      outcome.ending = search::Ending::kStopped;
      return outcome;
    case tune::TrialStatus::kPaused:
    case tune::TrialStatus::kWaiting:
    case tune::TrialStatus::kRunning:
    case tune::TrialStatus::kInterrupted:
      return std::nullopt;
  }
  return std::nullopt;
}

bool is_of_searcher(const Error& error) {
  return error.id == "H0722" || error.id == "H0724" || error.id == "H0725";
}

std::string milliseconds_text(std::int64_t nanoseconds) {
  constexpr double kMillisecond = 1e-6;
  return fmt::format("{:.1f} ms", static_cast<double>(nanoseconds) * kMillisecond);
}

}  // namespace

Result<void> Edge::append(tune::EventBody body, const std::string& reason) {
  const tune::Event event = {.seq = state_.last_seq + 1,
                             .wall_ns = clock_.wall_ns(),
                             .mono_ns = clock_.mono_ns(),
                             .reason = reason,
                             .body = std::move(body)};
  HYDRO_TRY_VOID(journal_(event));
  tune::apply(state_, event);
  watcher_(state_, event);
  return tell_of_ended();
}

/// In the order of their ids among those that one event ended.
Result<void> Edge::tell_of_ended() {
  if (!teller_ || thought_.valid() || state_.counts.ended() == told_) {
    return {};
  }
  told_ = state_.counts.ended();
  std::vector<search::Outcome> outcomes;
  std::erase_if(untold_, [&](worker::TrialId id) {
    const std::optional<search::Outcome> outcome = outcome_of(state_, id);
    if (outcome.has_value()) {
      outcomes.push_back(*outcome);
    }
    return outcome.has_value();
  });
  for (const search::Outcome& outcome : outcomes) {
    if (Result<void> told = teller_(outcome); !told.has_value()) {
      HYDRO_TRY_VOID(note_failure(std::move(told).error()));
    }
  }
  return {};
}

/// Other errors are not the searcher's, and a stop is no failure.
Result<void> Edge::note_failure(Error error) {
  if (error.id == "H0650") {
    return {};
  }
  if (!is_of_searcher(error)) {
    return error;
  }
  const std::string cause = error.why.empty() ? error.what : error.what + "; " + error.why;
  return append(tune::SearcherFailed{.attempt = state_.searcher_failures + 1, .cause = cause},
                "it is started again and told what it knew");
}

/// Of the searcher alone: other threads may use all else meanwhile.
Thought Edge::think(const tune::Suggest& order) const {
  Thought thought;
  for (std::int64_t k = order.first; k < order.first + order.count; ++k) {
    Result<std::optional<tune::TrialSuggested>> suggestion = suggester_(k);
    if (!suggestion.has_value()) {
      thought.error = std::move(suggestion).error();
      return thought;
    }
    std::optional<tune::TrialSuggested> trial = *std::move(suggestion);
    if (!trial.has_value()) {
      thought.exhausted = true;
      return thought;
    }
    thought.suggested.push_back(*std::move(trial));
  }
  return thought;
}

Result<void> Edge::suggest(const tune::Suggest& order) {
  if (!teller_) {
    return take_up(think(order));
  }
  HYDRO_TRY_VOID(append(tune::SuggestionAsked{.first = order.first, .count = order.count}));
  thought_ = thinker_.run<Thought>([this, order] { return think(order); });
  if (while_it_thinks_ == WhileItThinks::kWait) {
    thought_.wait();
  }
  return hear_searcher();
}

/// The first event's reason says how long it thought.
Result<void> Edge::take_up(Thought thought) {
  for (tune::TrialSuggested& suggestion : thought.suggested) {
    if (teller_) {
      untold_.push_back(suggestion.id);
    }
    const std::string reason =
        state_.asked_ns
            ? "the searcher took " + milliseconds_text(clock_.mono_ns() - *state_.asked_ns)
            : "";
    HYDRO_TRY_VOID(append(std::move(suggestion), reason));
  }
  if (thought.error) {
    return note_failure(*std::move(thought.error));
  }
  return thought.exhausted ? append(tune::SuggestionsExhausted{}) : Result<void>();
}

/// Its answer, if it came; then it may be told what ended meanwhile.
Result<void> Edge::hear_searcher() {
  if (!thought_.valid() || state_.closed.has_value() ||
      thought_.wait_for(std::chrono::seconds(0)) != std::future_status::ready) {
    return {};
  }
  HYDRO_TRY_VOID(take_up(thought_.get()));
  return tell_of_ended();
}

Result<void> Edge::carry_out(const tune::Decision& decision, worker::Engine& engine) {
  if (const auto* order = std::get_if<tune::Suggest>(&decision)) {
    return suggest(*order);
  }
  if (const auto* record = std::get_if<tune::Record>(&decision)) {
    return append(record->body, record->reason);
  }
  return issue(std::get<tune::Issue>(decision), engine);
}

Result<void> Edge::issue(const tune::Issue& issue, worker::Engine& engine) {
  const tune::CommandIssued event = tune::issued(state_, issue);
  HYDRO_TRY_VOID(append(event, issue.reason));
  if (Result<void> made = make_place_for(issue.order); !made.has_value()) {
    return append(tune::CommandFailed{.command = event.id, .error = std::move(made).error()});
  }
  engine.submit(issue.slot, {.id = event.id, .order = issue.order});
  return {};
}

Result<void> Edge::note_stop(worker::Engine& engine, const std::stop_token& stop) {
  if (!stop.stop_requested() || state_.stop_requested || state_.closed.has_value()) {
    return {};
  }
  HYDRO_TRY_VOID(append(tune::StopRequested{}, "a signal"));
  engine.request_stop();
  return {};
}

Result<void> Edge::settle(worker::Engine& engine, const std::stop_token& stop) {
  // One decision an event: each is made on the state after all before it.
  for (;;) {
    HYDRO_TRY_VOID(note_stop(engine, stop));
    HYDRO_TRY_VOID(hear_searcher());
    const std::vector<tune::Decision> decisions = tune::decide(state_);
    if (decisions.empty()) {
      return {};
    }
    HYDRO_TRY_VOID(carry_out(decisions.front(), engine));
  }
}

Result<void> Edge::run(worker::Engine& engine, const std::stop_token& stop) {
  HYDRO_TRY_VOID(settle(engine, stop));
  while (!state_.closed.has_value()) {
    if (std::optional<worker::Answer> answer =
            engine.wait(thought_.valid() ? kCuriosity : kPatience)) {
      HYDRO_TRY_VOID(append(tune::event_of(*answer)));
    }
    HYDRO_TRY_VOID(settle(engine, stop));
  }
  return {};
}

}  // namespace hydro::run
