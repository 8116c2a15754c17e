// hydro/tune/state.h — the study as the fold of its events, with the indexes that keep
// decisions from scanning all trials. Only apply() writes it.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/search/scheduler.h"
#include "hydro/search/verdict.h"
#include "hydro/tune/compact.h"
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

/// What trials of one kind have in common.
struct Common {
  std::string model;         // graph key of the surrogate
  std::string target_model;  // graph key at full width
  std::int64_t batch_size = 0;
  worker::Budget budget;
  double cost_per_sample = 1;

  bool operator<(const Common& other) const {
    const auto key = [](const Common& common) {
      return std::tie(common.model,
                      common.target_model,
                      common.batch_size,
                      common.budget.steps,
                      common.budget.steps_per_epoch,
                      common.budget.evaluate_every,
                      common.cost_per_sample);
    };
    return key(*this) < key(other);
  }
};

struct Trial {
  worker::TrialId id{};
  Pool<Common>::Shared common;
  CompactConfig config;
  worker::TrialSettings settings;
  std::string cause;  // why it failed, was stopped or waits, or is about to
  std::optional<worker::ContainerId> container;
  Reports reports;
  std::optional<std::int64_t> diverged_at;  // step
  std::int64_t milestone = 0;               // steps at which it is looked at next
  TrialStatus status = TrialStatus::kWaiting;
  // What its last report brings at the milestone; nothing: it finishes there.
  std::optional<search::Fate> judgement;
  bool extracted = false;       // its state waits outside any container
  bool had_company = false;     // other trials shared a container with it
  std::int64_t step = 0;        // where it was paused; 0: never
  std::int64_t begin_ns = 0;    // of its training since it last waited
  std::int64_t trained_ns = 0;  // before that
};

enum class ContainerStatus : std::uint8_t { kPlanned, kBound, kRunning, kIdle };

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
  Phase phase = Phase::kSurrogates;
  std::int64_t since_ns = 0;
};

enum class TargetStatus : std::uint8_t { kRunning, kFinished, kFailed, kInterrupted };

struct Target {
  worker::TrialId trial{};
  worker::ContainerId container{};
  TargetStatus status = TargetStatus::kRunning;
  std::string cause;
  bool exported = false;
  bool full_width = true;  // else the trial itself is delivered
  Reports reports;         // at S=1 those of the trial
};

/// How long a searcher that learns took to answer.
struct Latency {
  std::int64_t answers = 0;
  std::int64_t total_ns = 0;
  std::int64_t longest_ns = 0;
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

/// Targets are the best trials of a study, the first and the next best after failures.
constexpr std::size_t kTargetAttempts = 4;

struct State {
  // Facts.
  std::optional<StudySettings> settings;  // nothing before the study is opened
  bool prepared = false;
  bool exhausted = false;
  bool stop_requested = false;
  std::optional<StudyClosed> closed;
  std::optional<std::int64_t> asked_ns;  // the searcher thinks, since then
  Latency latency;
  std::int64_t searcher_failures = 0;  // since its last suggestion
  std::string searcher_cause;          // of the last one
  std::optional<Error> export_error;
  std::vector<Trial> trials;  // by TrialId
  std::unordered_map<worker::ContainerId, Container>
      containers;                       // those that are not dissolved
  std::int64_t planned_containers = 0;  // in all; also the next id
  std::vector<Target> targets;  // in the order of their starts; the last is the current one
  std::map<worker::CommandId, Pending> pending;
  PhaseClock phases;
  std::int64_t last_ns = 0;
  std::int64_t last_seq = 0;
  std::int64_t commands = 0;  // issued so far; also the next id

  // Held once for all trials.
  Pool<Common> commons;
  Pool<Names> names;

  // Derived.
  std::vector<Slot> slots;
  std::vector<worker::ContainerId> waiting;  // planned, in starting order
  std::set<worker::ContainerId> parked;      // all trials ended, not dissolved
  std::set<Rank> ranking;                    // the best of the finished and stopped, best first
  std::set<worker::TrialId> unplanned;       // without a container
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

/// What a launch of `container` sends to its worker.
[[nodiscard]] worker::ContainerSpec spec_of(const State& state, const Container& container);

/// On opening a stored study: what happened to the commands that have no answer. (A container
/// that was idle died with the process too; that becomes an event when resume is built.)
[[nodiscard]] std::vector<CommandLost> lost_commands(const State& state);

/// The event that an answer of a worker stands for.
[[nodiscard]] EventBody event_of(const worker::Answer& answer);

}  // namespace hydro::tune
