// hydro/worker/worker.h — who carries commands out (Worker) and where they run (Engine). No
// implementation.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <vector>

#include "hydro/worker/messages.h"

namespace hydro::worker {

using AnswerSink = std::function<void(Answer)>;

/// One worker serves one slot; its commands come one at a time, from one thread.
class Worker {
 public:
  Worker() = default;
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  virtual ~Worker() = default;

  /// Carries out one command: any number of Report and Diverged, then exactly one of Done,
  /// Stopped, Failed. Looks at `stop` at least once a step. Never throws but BugError.
  virtual void carry_out(const Command& command,
                         const std::stop_token& stop,
                         const AnswerSink& sink) = 0;
};

/// Makes the worker of a slot; called on the thread that will use it.
using WorkerFactory = std::function<std::unique_ptr<Worker>(SlotId)>;

class Engine {
 public:
  Engine() = default;
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;
  virtual ~Engine() = default;

  [[nodiscard]] virtual std::vector<SlotId> slots() const = 0;
  /// Queues a command behind the slot's others.
  virtual void submit(SlotId slot, Command command) = 0;
  /// The next answer of any slot; nothing after `patience`.
  [[nodiscard]] virtual std::optional<Answer> wait(std::chrono::milliseconds patience) = 0;
  /// Asks every running command to stop at its next step; what is queued answers Stopped.
  virtual void request_stop() = 0;
};

}  // namespace hydro::worker
