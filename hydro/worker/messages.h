// hydro/worker/messages.h — what goes to a worker and what comes back: values only, no
// pointers, so that a worker may be a thread, a process or a machine away.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/worker/settings.h"

namespace hydro::worker {

enum class TrialId : std::int64_t {};
enum class ContainerId : std::int64_t {};
enum class CommandId : std::int64_t {};
enum class SlotId : std::int32_t {};  // one place where a container runs: a core, a device

enum class TrialKind : std::uint8_t { kSurrogate, kTarget };

struct TrialSpec {
  TrialId id{};
  TrialSettings settings;
};

/// Everything that decides a container's numbers. Trials share all but `TrialSpec`.
struct ContainerSpec {
  ContainerId id{};
  TrialKind kind =
      TrialKind::kSurrogate;  // a target draws its random numbers under the name "target"
  std::string model;          // key of the graph: archive, S, parametrization
  std::int64_t batch_size = 0;
  Budget budget;
  bool drop_last = true;
  std::uint64_t study_seed = 0;
  std::uint64_t data_seed = 0;
  bool evaluate_test = false;  // after the last step, on the test split
  std::int64_t step = 0;       // over 0: its trials wait, extracted at this step
  std::vector<TrialSpec> trials;
};

/// Builds the container: weights drawn, buffers filled, step 0; or, at a later step, each
/// trial's waiting state restored.
struct Launch {
  ContainerSpec spec;
  int threads = 1;
};

/// Trains every live trial up to `to` steps, reporting each evaluation.
struct Run {
  ContainerId container{};
  std::int64_t to = 0;
  int threads = 1;
};

/// Forgets one trial, or the whole container.
struct Drop {
  ContainerId container{};
  TrialId trial{};
};

/// Takes the trial out of its container with its whole state, which waits under its id until a
/// container takes it in again.
struct Extract {
  ContainerId container{};
  TrialId trial{};
};

/// Puts a waiting trial into an idle container of the same key that stands at the same step.
struct Insert {
  ContainerId container{};
  TrialSpec trial;
};

/// Forgets the state of a waiting trial.
struct Discard {
  TrialId trial{};
};

struct Dissolve {
  ContainerId container{};
};

/// Writes the trial's full state dict as safetensors to `path` (temporary file, fsync, rename).
struct Export {
  ContainerId container{};
  TrialId trial{};
  std::string path;
};

using Order = std::variant<Launch, Run, Drop, Extract, Insert, Discard, Dissolve, Export>;

struct Command {
  CommandId id{};
  Order order;
};

/// Metrics of one trial at one evaluation. `train_loss` is the mean over the steps since the
/// last report.
struct Report {
  TrialId trial{};
  std::int64_t step = 0;
  double epoch = 0;
  std::map<std::string, double>
      metrics;  // "train_loss", "val_loss", "val_accuracy", "val_top5", "test_*"
};

/// A trial's loss or gradient was not finite at `step`; it was masked, its siblings went on.
struct Diverged {
  TrialId trial{};
  std::int64_t step = 0;
  std::string reason;
};

/// Closes a command. `step`: the container's step.
struct Done {
  std::int64_t step = 0;
};

/// Closes a command that was cut short by a stop request; the container stands at `step`.
struct Stopped {
  std::int64_t step = 0;
};

/// Closes a command that failed; the container is gone.
struct Failed {
  Error error;
};

struct Answer {
  CommandId command{};
  std::variant<Report, Diverged, Done, Stopped, Failed> body;
};

}  // namespace hydro::worker
