// hydro/tune/state.h — the study as the fold of its events, with the indexes that keep
// decisions from scanning all trials. Only apply() writes it.
#pragma once

#include <compare>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/search/scheduler.h"
#include "hydro/search/verdict.h"
#include "hydro/tune/events.h"
#include "hydro/tune/phases.h"
#include "hydro/worker/messages.h"

namespace hydro::tune {

/// kInterrupted: was training when the study stopped; not kept until resume is built.
/// kPaused: waits at a rung, and may be promoted. kStopped: ended early, its value counts.
enum class TrialStatus : std::uint8_t {
  kWaiting,
  kRunning,
  kPaused,
  kFinished,
  kStopped,
  kFailed,
  kInterrupted
};

/// What follows from a trial's last report, as soon as its container stands still.
struct Judgement {
  search::Fate fate = search::Fate::kContinue;
  std::string cause;
};

struct Trial {
  TrialSuggested suggestion;
  TrialStatus status = TrialStatus::kWaiting;
  std::string cause;  // why it failed, was stopped or waits
  std::optional<worker::ContainerId> container;
  std::vector<worker::Report> reports;
  std::optional<std::int64_t> diverged_at;  // step
  std::int64_t milestone = 0;               // steps at which it is looked at next
  std::optional<Judgement> judgement;       // due at its milestone; nothing: it finishes there
  std::int64_t step = 0;                    // where it was paused; 0: never
  bool extracted = false;                   // its state waits outside any container
  std::int64_t begin_ns = 0;                // of its training since it last waited
  std::int64_t trained_ns = 0;              // before that
};

enum class ContainerStatus : std::uint8_t { kPlanned, kBound, kRunning, kIdle, kDissolved };

struct Container {
  worker::ContainerId id{};
  worker::TrialKind kind = worker::TrialKind::kSurrogate;
  std::vector<worker::TrialId> trials;
  std::vector<worker::TrialId> live;     // in training
  std::vector<worker::TrialId> leaving;  // no longer live, but still held by the worker
  ContainerStatus status = ContainerStatus::kPlanned;
  worker::SlotId slot{};
  std::int64_t step = 0;
};

struct Slot {
  std::optional<worker::CommandId> in_flight;
  std::optional<worker::ContainerId> active;  // the surrogate container that trains here
};

/// A command without an answer.
struct Pending {
  worker::SlotId slot{};
  OrderNote order;
  std::int64_t since_ns = 0;
};

enum class TargetStatus : std::uint8_t { kRunning, kFinished, kFailed, kInterrupted };

struct Target {
  worker::TrialId trial{};
  worker::ContainerId container{};
  TargetStatus status = TargetStatus::kRunning;
  std::string cause;
  bool exported = false;
  std::vector<worker::Report> reports;  // at S=1 those of the trial
};

struct Counts {
  std::int64_t total = 0;
  std::int64_t running = 0;
  std::int64_t paused = 0;
  std::int64_t finished = 0;
  std::int64_t stopped = 0;
  std::int64_t failed = 0;
  std::int64_t interrupted = 0;

  [[nodiscard]] std::int64_t ended() const { return finished + stopped + failed; }
};

/// What makes one ended trial better than another: the higher rung, then the value, then the
/// lower id. The best is the least.
struct Rank {
  std::int64_t minus_rung = 0;  // of schedulers without rungs all are equal
  double loss = 0;              // the value, negated where larger is better
  worker::TrialId trial{};

  auto operator<=>(const Rank&) const = default;
};

struct State {
  // Facts.
  std::optional<StudySettings> settings;  // nothing before the study is opened
  bool prepared = false;
  bool exhausted = false;
  bool stop_requested = false;
  std::optional<StudyClosed> closed;
  std::int64_t searcher_failures = 0;  // since its last suggestion
  std::string searcher_cause;          // of the last one
  std::optional<Error> export_error;
  std::vector<Trial> trials;          // by TrialId
  std::vector<Container> containers;  // by ContainerId
  std::vector<Target> targets;  // in the order of their starts; the last is the current one
  std::map<worker::CommandId, Pending> pending;
  std::vector<Interval> intervals;
  std::int64_t begin_ns = 0;
  std::int64_t last_ns = 0;
  std::int64_t last_seq = 0;
  std::int64_t commands = 0;  // issued so far; also the next id

  // Derived.
  std::vector<Slot> slots;
  std::deque<worker::ContainerId> waiting;  // planned, in starting order
  std::set<worker::ContainerId> parked;     // all trials ended, not dissolved
  std::set<Rank> ranking;                   // finished and stopped, best first
  std::set<worker::TrialId> unplanned;      // without a container
  std::set<worker::TrialId> paused;
  std::set<worker::TrialId> left_over;  // ended while they waited: their states are to go
  std::map<std::int64_t, std::int64_t> stopped_at;  // how many, by rung; 0: by no rung
  search::Scheduler scheduler;
  Counts counts;

  /// Requires: the study is open (BugError); the same for the two below and ids that exist
  [[nodiscard]] const StudySettings& study() const;
  [[nodiscard]] const Trial& trial(worker::TrialId id) const;
  [[nodiscard]] const Container& container(worker::ContainerId id) const;
  [[nodiscard]] bool all_suggested() const;
  /// The searcher failed too often in a row: what was suggested is all there is.
  [[nodiscard]] bool lost_searcher() const;
  /// The best trial so far: finite value, not failed; equal values: the lowest id.
  [[nodiscard]] std::optional<worker::TrialId> best() const;
  /// Of two values of the study's metric: whether `a` is the better one.
  [[nodiscard]] bool is_better(double a, double b) const;
  /// The finished target with the best value, whose weights are delivered; the first of equals.
  [[nodiscard]] const Target* delivered() const;
  /// At S=1 nothing is trained at full width: the best trial's own weights are the answer.
  [[nodiscard]] bool delivers_own_weights() const;
};

/// Folds one event into the state.
///
/// Requires: `event.seq` follows, ids exist and are new where they must be (BugError)
void apply(State& state, const Event& event);

/// Requires: the trial is planned (BugError)
[[nodiscard]] worker::ContainerId container_of(const Trial& trial);

/// Wall time in training up to `now_ns`; containers are shared.
[[nodiscard]] std::int64_t trained_ns(const Trial& trial, std::int64_t now_ns);

/// The study's metric in the last report that has it.
[[nodiscard]] std::optional<double> value_of(const std::vector<worker::Report>& reports,
                                             const std::string& metric);

/// What a launch of `container` sends to its worker.
[[nodiscard]] worker::ContainerSpec spec_of(const State& state, const Container& container);

/// On opening a stored study: what happened to the commands that have no answer. (A container
/// that was idle died with the process too; that becomes an event when resume is built.)
[[nodiscard]] std::vector<CommandLost> lost_commands(const State& state);

/// The event that an answer of a worker stands for.
[[nodiscard]] EventBody event_of(const worker::Answer& answer);

}  // namespace hydro::tune
