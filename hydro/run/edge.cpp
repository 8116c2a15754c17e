#include "hydro/run/edge.h"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "hydro/base/file.h"
#include "hydro/base/result.h"
#include "hydro/tune/decide.h"
#include "hydro/tune/events.h"
#include "hydro/tune/state.h"
#include "hydro/worker/messages.h"
#include "hydro/worker/worker.h"

namespace hydro::run {
namespace {

constexpr std::chrono::milliseconds kPatience{50};

/// A worker writes weights into a folder that exists.
Result<void> make_place_for(const worker::Order& order) {
  const auto* exporting = std::get_if<worker::Export>(&order);
  return exporting == nullptr
             ? Result<void>()
             : make_folder(std::filesystem::path(exporting->path).parent_path());
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
  return {};
}

Result<void> Edge::suggest(const tune::Suggest& order) {
  for (std::int64_t k = order.first; k < order.first + order.count; ++k) {
    HYDRO_TRY(std::optional<tune::TrialSuggested> suggestion, suggester_(k));
    if (!suggestion.has_value()) {
      return append(tune::SuggestionsExhausted{});
    }
    HYDRO_TRY_VOID(append(*std::move(suggestion)));
  }
  return {};
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

Result<void> Edge::settle(worker::Engine& engine) {
  // One decision an event: each is made on the state after all before it.
  for (std::vector<tune::Decision> decisions = tune::decide(state_); !decisions.empty();
       decisions = tune::decide(state_)) {
    HYDRO_TRY_VOID(carry_out(decisions.front(), engine));
  }
  return {};
}

Result<void> Edge::run(worker::Engine& engine, const std::stop_token& stop) {
  HYDRO_TRY_VOID(settle(engine));
  while (!state_.closed.has_value()) {
    if (stop.stop_requested() && !state_.stop_requested) {
      HYDRO_TRY_VOID(append(tune::StopRequested{}, "a signal"));
      engine.request_stop();
      HYDRO_TRY_VOID(settle(engine));
      continue;
    }
    if (std::optional<worker::Answer> answer = engine.wait(kPatience)) {
      HYDRO_TRY_VOID(append(tune::event_of(*answer)));
      HYDRO_TRY_VOID(settle(engine));
    }
  }
  return {};
}

}  // namespace hydro::run
