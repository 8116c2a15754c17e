// hydro/run/edge.h — the study's edge: keeps every event before anything follows from it, folds
// it, asks what to do next, carries that out, and turns answers into events. The only writer of
// the state.
#pragma once

#include <cstdint>
#include <functional>
#include <future>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "hydro/base/clock.h"
#include "hydro/base/result.h"
#include "hydro/run/aside.h"
#include "hydro/search/searcher.h"
#include "hydro/tune/decide.h"
#include "hydro/tune/events.h"
#include "hydro/tune/state.h"
#include "hydro/worker/messages.h"
#include "hydro/worker/worker.h"

namespace hydro::run {

/// Keeps one event; it counts as acknowledged when this returns.
using Journal = std::function<Result<void>(const tune::Event&)>;
/// The k-th configuration as an event, or nothing when the searcher has no more.
using Suggester = std::function<Result<std::optional<tune::TrialSuggested>>(std::int64_t k)>;
/// Hears how each trial ended; none for a searcher that does not learn.
using Teller = std::function<Result<void>(const search::Outcome&)>;
/// Told of every event after it was folded: progress, log.
using Watcher = std::function<void(const tune::State&, const tune::Event&)>;

/// What a study does while a searcher that learns thinks. kGoOn: all that runs goes on, and
/// what ends meanwhile is told after the answer. kWait: nothing, so that the answer comes at
/// the same place among the events however long it took; for deterministic studies.
enum class WhileItThinks : std::uint8_t { kGoOn, kWait };

/// What a searcher had to say to one question.
struct Thought {
  std::vector<tune::TrialSuggested> suggested;
  bool exhausted = false;
  std::optional<Error> error;
};

class Edge {
 public:
  Edge(Journal journal,
       Suggester suggester,
       Watcher watcher,
       const Clock& clock,
       Teller teller = {},
       WhileItThinks while_it_thinks = WhileItThinks::kGoOn)
      : journal_(std::move(journal)),
        suggester_(std::move(suggester)),
        teller_(std::move(teller)),
        watcher_(std::move(watcher)),
        clock_(clock),
        while_it_thinks_(while_it_thinks) {}

  /// Gives the event its number and times, keeps it, folds it.
  [[nodiscard]] Result<void> append(tune::EventBody body, const std::string& reason = {});
  /// Runs the study until it is closed. At a stop request running commands are told to stop at
  /// their next step.
  ///
  /// A searcher that fails (H0722 to H0725) is an event, and asked again.
  ///
  /// Errors: the journal's, and the suggester's others; the study stays as it was last kept,
  /// commands in flight are the engine's to stop
  [[nodiscard]] Result<void> run(worker::Engine& engine, const std::stop_token& stop);

  [[nodiscard]] const tune::State& state() const { return state_; }

 private:
  [[nodiscard]] Result<void> carry_out(const tune::Decision& decision, worker::Engine& engine);
  [[nodiscard]] Result<void> issue(const tune::Issue& issue, worker::Engine& engine);
  [[nodiscard]] Result<void> suggest(const tune::Suggest& order);
  [[nodiscard]] Thought think(const tune::Suggest& order) const;
  [[nodiscard]] Result<void> take_up(Thought thought);
  [[nodiscard]] Result<void> hear_searcher();
  [[nodiscard]] Result<void> settle(worker::Engine& engine, const std::stop_token& stop);
  [[nodiscard]] Result<void> note_stop(worker::Engine& engine, const std::stop_token& stop);
  [[nodiscard]] Result<void> tell_of_ended();
  [[nodiscard]] Result<void> note_failure(Error error);

  Journal journal_;
  Suggester suggester_;
  Teller teller_;
  Watcher watcher_;
  const Clock& clock_;
  tune::State state_;
  std::vector<worker::TrialId> untold_;  // suggested, and the searcher does not know the end
  std::int64_t told_ = 0;                // ended trials when it was last told
  WhileItThinks while_it_thinks_;
  std::future<Thought> thought_;  // valid while the searcher thinks
  Aside thinker_;                 // last: it ends before what it uses
};

}  // namespace hydro::run
