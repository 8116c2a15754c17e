// hydro/engine/testing.h — a worker whose deeds are a function, and ways to read an engine's
// answers.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <utility>
#include <variant>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/worker/messages.h"
#include "hydro/worker/worker.h"

namespace hydro::engine {

using Deed = std::function<void(
    const worker::Command&, const std::stop_token&, const worker::AnswerSink&)>;

class FakeWorker : public worker::Worker {
 public:
  explicit FakeWorker(Deed deed) : deed_(std::move(deed)) {}

  void carry_out(const worker::Command& command,
                 const std::stop_token& stop,
                 const worker::AnswerSink& sink) override {
    deed_(command, stop, sink);
  }

 private:
  Deed deed_;
};

/// Every slot's worker does `deed`.
inline worker::WorkerFactory make_fake_workers(Deed deed) {
  return
      [deed = std::move(deed)](worker::SlotId) { return std::make_unique<FakeWorker>(deed); };
}

inline worker::Command make_run(std::int64_t id, std::int64_t to = 1) {
  return {.id = worker::CommandId{id},
          .order = worker::Run{.container = worker::ContainerId{0}, .to = to}};
}

/// Answers Done at the step that was asked for.
inline void finish(const worker::Command& command, const worker::AnswerSink& sink) {
  sink({.command = command.id,
        .body = worker::Done{.step = std::get<worker::Run>(command.order).to}});
}

/// The next `count` answers, which must come.
inline std::vector<worker::Answer> take_answers(worker::Engine& engine, std::size_t count) {
  constexpr std::chrono::minutes kHang{
      5};  // bounds a broken engine only; a working one never waits
  std::vector<worker::Answer> answers;
  while (answers.size() < count) {
    std::optional<worker::Answer> answer = engine.wait(kHang);
    HYDRO_CHECK(answer.has_value(), "the engine hangs");
    answers.push_back(*std::move(answer));
  }
  return answers;
}

}  // namespace hydro::engine
