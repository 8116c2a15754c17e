// hydro/tune/events.h — what happened in a study, in order: the only truth. State is their fold
// (state.h), the store keeps them, a scenario test is a list of them. An event type is one
// struct here, its fields in event_fields.h and one fold in apply.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/search/scheduler.h"
#include "hydro/search/space.h"
#include "hydro/search/stop_rules.h"
#include "hydro/worker/messages.h"
#include "hydro/worker/settings.h"

namespace hydro::tune {

enum class Mode : std::uint8_t { kMax, kMin };
enum class Outcome : std::uint8_t { kFinished, kInterrupted, kFailed };

/// When configurations are asked for: all before any training, or one by one as slots fall
/// free, for searchers that learn from what ended.
enum class SuggestAhead : std::uint8_t { kAll, kNone };

/// What decisions read of the job file and the machine.
struct StudySettings {
  std::string name;
  std::string metric;
  Mode mode = Mode::kMax;
  std::int64_t trials = 0;    // how many are suggested in all
  std::int64_t slots = 1;     // slots are numbered from 0
  int surrogate_threads = 1;  // of one slot
  int target_threads = 1;     // of a lone target: all cores
  std::int64_t fusion = 1;    // most trials a container may hold; `auto` on a CPU is 1
  std::optional<std::int64_t> max_concurrent_trials;
  double scaling = 1;  // S; at 1 the best trial's own weights are delivered
  bool drop_last = true;
  bool evaluate_test = false;  // the target, after its last step
  // A target that ends worse than its own surrogate: the next best is trained too, once.
  bool retry_worse_target = true;
  search::SchedulerSettings scheduler;
  search::StopRule stop;  // ends a trial at an evaluation, whatever the scheduler says
  SuggestAhead suggest_ahead = SuggestAhead::kAll;
  std::uint64_t seed = 0;
  std::uint64_t data_seed = 0;
  std::string weights;  // file that the delivered weights are written to
};

/// `process_start_ns`: monotonic; the makespan begins there.
struct StudyOpened {
  static constexpr std::string_view kType = "study_opened";
  StudySettings settings;
  std::int64_t process_start_ns = 0;
};

/// Models, data and checks are ready: training may begin.
struct Prepared {
  static constexpr std::string_view kType = "prepared";
};

struct TrialSuggested {
  static constexpr std::string_view kType = "trial_suggested";
  worker::TrialId id{};
  search::Config config;
  std::string model;         // graph key of the surrogate
  std::string target_model;  // graph key at full width
  std::int64_t batch_size = 0;
  worker::Budget budget;  // the same for surrogate and target
  worker::TrialSettings settings;
  double cost_per_sample = 1;
};

/// A searcher that learns thinks about `count` configurations from `first` on.
struct SuggestionAsked {
  static constexpr std::string_view kType = "suggestion_asked";
  std::int64_t first = 0;
  std::int64_t count = 0;
};

/// The searcher has no more, though fewer than `StudySettings::trials` came.
struct SuggestionsExhausted {
  static constexpr std::string_view kType = "suggestions_exhausted";
};

struct PlannedContainer {
  worker::ContainerId id{};
  std::vector<worker::TrialId> trials;
};

/// The packing of all trials that had no container; they start in this order, promoted ones
/// before those that never ran.
struct ContainersPlanned {
  static constexpr std::string_view kType = "containers_planned";
  std::vector<PlannedContainer> containers;
};

enum class Verb : std::uint8_t {
  kLaunch,
  kRun,
  kDrop,
  kDissolve,
  kExport,
  kExtract,
  kInsert,
  kDiscard
};

/// An order without what the state knows anyway (a launch's ContainerSpec is spec_of(state,
/// container)).
struct OrderNote {
  Verb verb = Verb::kLaunch;
  worker::ContainerId container{};
  worker::TrialId trial{};  // kDrop, kExport, kExtract, kInsert, kDiscard
  std::int64_t to = 0;      // kRun
  std::string path;         // kExport
};

/// Recorded before the command's effect starts.
struct CommandIssued {
  static constexpr std::string_view kType = "command_issued";
  worker::CommandId id{};
  worker::SlotId slot{};
  OrderNote order;
};

struct Reported {
  static constexpr std::string_view kType = "reported";
  worker::CommandId command{};
  worker::Report report;
};

/// A trial's loss or gradient was not finite; `cause` has no number that differs between equal
/// causes.
struct TrialDiverged {
  static constexpr std::string_view kType = "trial_diverged";
  worker::CommandId command{};
  worker::TrialId trial{};
  std::int64_t step = 0;
  std::string cause;
};

struct CommandDone {
  static constexpr std::string_view kType = "command_done";
  worker::CommandId command{};
  std::int64_t step = 0;
};

struct CommandStopped {
  static constexpr std::string_view kType = "command_stopped";
  worker::CommandId command{};
  std::int64_t step = 0;
};

/// The container is gone, with all its trials that had not ended.
struct CommandFailed {
  static constexpr std::string_view kType = "command_failed";
  worker::CommandId command{};
  Error error;
};

/// On open: the process died before the answer came. The container is gone.
struct CommandLost {
  static constexpr std::string_view kType = "command_lost";
  worker::CommandId command{};
};

struct TrialFinished {
  static constexpr std::string_view kType = "trial_finished";
  worker::TrialId trial{};
};

/// The scheduler or a stop rule ended it; its value counts.
struct TrialStopped {
  static constexpr std::string_view kType = "trial_stopped";
  worker::TrialId trial{};
  std::string cause;
};

/// It waits at a rung; its state is taken out of its container.
struct TrialPaused {
  static constexpr std::string_view kType = "trial_paused";
  worker::TrialId trial{};
  std::string cause;
};

/// A waiting trial goes on, in a container of its own time.
struct TrialPromoted {
  static constexpr std::string_view kType = "trial_promoted";
  worker::TrialId trial{};
  std::string cause;
};

struct TrialFailed {
  static constexpr std::string_view kType = "trial_failed";
  worker::TrialId trial{};
  std::string cause;
};

/// `trial` is to be delivered. A new container: it is trained at full width there. Its own: it
/// is exported.
struct TargetStarted {
  static constexpr std::string_view kType = "target_started";
  worker::TrialId trial{};
  worker::ContainerId container{};
};

struct TargetFinished {
  static constexpr std::string_view kType = "target_finished";
  worker::TrialId trial{};
};

struct TargetFailed {
  static constexpr std::string_view kType = "target_failed";
  worker::TrialId trial{};
  std::string cause;
};

/// The searcher gave no answer; `attempt` counts failures without a suggestion between them.
struct SearcherFailed {
  static constexpr std::string_view kType = "searcher_failed";
  std::int64_t attempt = 1;
  std::string cause;
};

struct StopRequested {
  static constexpr std::string_view kType = "stop_requested";
};

/// `error`: catalogue id when the outcome is not kFinished.
struct StudyClosed {
  static constexpr std::string_view kType = "study_closed";
  Outcome outcome = Outcome::kFinished;
  std::string error;
  std::string cause;
};

using EventBody = std::variant<StudyOpened,
                               Prepared,
                               TrialSuggested,
                               SuggestionsExhausted,
                               ContainersPlanned,
                               CommandIssued,
                               Reported,
                               TrialDiverged,
                               CommandDone,
                               CommandStopped,
                               CommandFailed,
                               CommandLost,
                               TrialFinished,
                               TrialStopped,
                               TrialPaused,
                               TrialPromoted,
                               TrialFailed,
                               TargetStarted,
                               TargetFinished,
                               TargetFailed,
                               StopRequested,
                               StudyClosed,
                               SearcherFailed,
                               SuggestionAsked>;

/// Wall and monotonic time are for people and phases; no decision reads them.
struct Event {
  std::int64_t seq = 0;  // from 1, no gaps
  std::int64_t wall_ns = 0;
  std::int64_t mono_ns = 0;
  std::string reason;  // why the study decided so; may be empty
  EventBody body;
};

}  // namespace hydro::tune
