#include "hydro/engine/thread_engine.h"

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/worker/messages.h"
#include "hydro/worker/worker.h"

namespace hydro::engine {
namespace {

using worker::Answer;
using worker::Command;
using worker::SlotId;

/// First in, first out; a taker may wait.
template <class T>
class Queue {
 public:
  void push(T item) {
    {
      const std::scoped_lock lock(mutex_);
      items_.push_back(std::move(item));
    }
    changed_.notify_one();
  }

  /// Nothing once `closed` is requested and the queue is empty.
  std::optional<T> take(const std::stop_token& closed) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, closed, [this] { return !items_.empty(); });
    return pop();
  }

  /// Nothing after `patience`.
  std::optional<T> take_within(std::chrono::milliseconds patience) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, patience, [this] { return !items_.empty(); });
    return pop();
  }

 private:
  /// REQUIRES: lock is held
  std::optional<T> pop() {
    if (items_.empty()) {
      return std::nullopt;
    }
    std::optional<T> item(std::move(items_.front()));
    items_.pop_front();
    return item;
  }

  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<T> items_;
};

bool closes(const Answer& answer) {
  return !std::holds_alternative<worker::Report>(answer.body) &&
         !std::holds_alternative<worker::Diverged>(answer.body);
}

Answer failed(worker::CommandId command, const std::string& why) {
  return {.command = command,
          .body = worker::Failed{.error = make_error("H0999", "a worker failed").because(why)}};
}

/// What one slot's thread does. The worker is made with the first command, so that a factory's
/// failure has a command to answer.
class SlotLoop {
 public:
  SlotLoop(SlotId slot, const worker::WorkerFactory& factory, Queue<Answer>& answers)
      : slot_(slot), factory_(factory), answers_(answers) {}

  void run(Queue<Command>& commands,
           const std::stop_token& closed,
           const std::stop_token& stop) {
    while (const std::optional<Command> command = commands.take(closed)) {
      if (stop.stop_requested()) {
        answers_.push({.command = command->id, .body = worker::Stopped{.step = 0}});
      } else {
        carry_out(*command, stop);
      }
    }
  }

 private:
  // A task boundary: what escapes a worker ends its command, not the process.
  void carry_out(const Command& command, const std::stop_token& stop) {
    bool closed = false;
    const auto sink = [this, &closed](Answer answer) {
      HYDRO_CHECK(!closed, "a worker answered after its last answer");
      closed = closes(answer);
      answers_.push(std::move(answer));
    };
    std::string fault = "it returned without an answer";
    try {
      if (!worker_) {
        worker_ = factory_(slot_);
        HYDRO_CHECK(worker_ != nullptr, "the factory made no worker");
      }
      worker_->carry_out(command, stop, sink);
    } catch (const std::exception& error) {
      fault = error.what();
    }
    if (!closed) {
      answers_.push(failed(command.id, fault));
    }
  }

  SlotId slot_;
  const worker::WorkerFactory& factory_;
  Queue<Answer>& answers_;
  std::unique_ptr<worker::Worker> worker_;
};

class ThreadEngine : public worker::Engine {
 public:
  ThreadEngine(std::int32_t slots, worker::WorkerFactory factory)
      : factory_(std::move(factory)), commands_(static_cast<std::size_t>(slots)) {
    for (std::int32_t index = 0; index < slots; ++index) {
      Queue<Command>& commands = commands_[static_cast<std::size_t>(index)];
      threads_.emplace_back([this, index, &commands](const std::stop_token& closed) {
        SlotLoop(static_cast<SlotId>(index), factory_, answers_)
            .run(commands, closed, stop_.get_token());
      });
    }
  }

  ThreadEngine(const ThreadEngine&) = delete;
  ThreadEngine& operator=(const ThreadEngine&) = delete;

  // The threads are the last member: they join before anything that they use goes.
  ~ThreadEngine() override { stop_.request_stop(); }

  [[nodiscard]] std::vector<SlotId> slots() const override {
    std::vector<SlotId> all;
    all.reserve(commands_.size());
    for (std::size_t index = 0; index < commands_.size(); ++index) {
      all.push_back(static_cast<SlotId>(index));
    }
    return all;
  }

  void submit(SlotId slot, Command command) override {
    const auto index = static_cast<std::size_t>(slot);
    HYDRO_CHECK(index < commands_.size(), "slot " + std::to_string(index));
    commands_[index].push(std::move(command));
  }

  [[nodiscard]] std::optional<Answer> wait(std::chrono::milliseconds patience) override {
    return answers_.take_within(patience);
  }

  void request_stop() override { stop_.request_stop(); }

 private:
  worker::WorkerFactory factory_;
  std::vector<Queue<Command>> commands_;
  Queue<Answer> answers_;
  std::stop_source stop_;
  std::vector<std::jthread> threads_;
};

}  // namespace

std::unique_ptr<worker::Engine> make_thread_engine(std::int32_t slots,
                                                   worker::WorkerFactory factory) {
  HYDRO_CHECK(slots >= 1, "slots " + std::to_string(slots));
  return std::make_unique<ThreadEngine>(slots, std::move(factory));
}

}  // namespace hydro::engine
