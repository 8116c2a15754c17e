#include "hydro/engine/thread_engine.h"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <latch>
#include <memory>
#include <mutex>
#include <new>
#include <set>
#include <stop_token>
#include <thread>
#include <variant>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hydro/base/result.h"
#include "hydro/engine/testing.h"
#include "hydro/worker/messages.h"
#include "hydro/worker/worker.h"

namespace hydro::engine {
namespace {

using ::testing::HasSubstr;
using worker::Answer;
using worker::AnswerSink;
using worker::Command;
using worker::CommandId;
using worker::SlotId;

constexpr std::chrono::milliseconds kAtOnce{0};

void do_finish(const Command& command,
               const std::stop_token& /*stop*/,
               const AnswerSink& sink) {
  finish(command, sink);
}

/// Works until it is asked to stop.
void wait_for_stop(const Command& command,
                   const std::stop_token& stop,
                   const AnswerSink& sink) {
  while (!stop.stop_requested()) {
    std::this_thread::yield();
  }
  sink({.command = command.id, .body = worker::Stopped{.step = 7}});
}

const Error& error_of(const Answer& answer) {
  return std::get<worker::Failed>(answer.body).error;
}

TEST(ThreadEngine, NumbersItsSlotsFromZero) {
  const auto engine = make_thread_engine(3, make_fake_workers(do_finish));
  EXPECT_EQ(engine->slots(), (std::vector<SlotId>{SlotId{0}, SlotId{1}, SlotId{2}}));
}

TEST(ThreadEngine, RefusesToHaveNoSlots) {
  EXPECT_THROW((void)make_thread_engine(0, make_fake_workers(do_finish)), BugError);
}

TEST(ThreadEngine, RefusesACommandForASlotItLacks) {
  const auto engine = make_thread_engine(1, make_fake_workers(do_finish));
  EXPECT_THROW(engine->submit(SlotId{1}, make_run(0)), BugError);
}

TEST(ThreadEngine, GivesNothingWhenNothingWasSubmitted) {
  const auto engine = make_thread_engine(1, make_fake_workers(do_finish));
  EXPECT_FALSE(engine->wait(kAtOnce).has_value());
}

TEST(ThreadEngine, CarriesOutTheCommandsOfASlotInOrder) {
  const auto engine = make_thread_engine(1, make_fake_workers(do_finish));
  for (std::int64_t id = 0; id < 100; ++id) {
    engine->submit(SlotId{0}, make_run(id, id * 10));
  }
  std::int64_t expected = 0;
  for (const Answer& answer : take_answers(*engine, 100)) {
    EXPECT_EQ(answer.command, CommandId{expected});
    EXPECT_EQ(std::get<worker::Done>(answer.body).step, expected * 10);
    ++expected;
  }
}

TEST(ThreadEngine, PassesReportsOnBeforeTheClosingAnswer) {
  const auto engine = make_thread_engine(
      1,
      make_fake_workers(
          [](const Command& command, const std::stop_token&, const AnswerSink& sink) {
            sink({.command = command.id,
                  .body = worker::Report{.step = 5, .metrics = {{"val_loss", 0.5}}}});
            sink({.command = command.id,
                  .body = worker::Diverged{.step = 6, .reason = "loss is nan"}});
            finish(command, sink);
          }));
  engine->submit(SlotId{0}, make_run(1));
  const std::vector<Answer> answers = take_answers(*engine, 3);
  EXPECT_EQ(std::get<worker::Report>(answers[0].body).metrics.at("val_loss"), 0.5);
  EXPECT_EQ(std::get<worker::Diverged>(answers[1].body).reason, "loss is nan");
  EXPECT_TRUE(std::holds_alternative<worker::Done>(answers[2].body));
}

TEST(ThreadEngine, RunsItsSlotsAtTheSameTime) {
  std::latch both(2);
  const auto engine = make_thread_engine(
      2,
      make_fake_workers(
          [&both](const Command& command, const std::stop_token&, const AnswerSink& sink) {
            both.arrive_and_wait();
            finish(command, sink);
          }));
  engine->submit(SlotId{0}, make_run(0));
  engine->submit(SlotId{1}, make_run(1));
  EXPECT_EQ(take_answers(*engine, 2).size(), 2U);
}

TEST(ThreadEngine, MakesAndUsesEachWorkerOnTheThreadOfItsSlot) {
  std::mutex mutex;
  std::vector<std::set<std::thread::id>> threads(2);
  const auto engine = make_thread_engine(2, [&](SlotId slot) {
    const auto note = [&mutex, &ids = threads[static_cast<std::size_t>(slot)]] {
      const std::scoped_lock lock(mutex);
      ids.insert(std::this_thread::get_id());
    };
    note();
    return std::make_unique<FakeWorker>(
        [note](const Command& command, const std::stop_token&, const AnswerSink& sink) {
          note();
          finish(command, sink);
        });
  });
  for (std::int64_t id = 0; id < 8; ++id) {
    engine->submit(static_cast<SlotId>(id % 2), make_run(id));
  }
  (void)take_answers(*engine, 8);
  EXPECT_EQ(threads[0].size(), 1U);
  EXPECT_EQ(threads[1].size(), 1U);
  EXPECT_NE(threads[0], threads[1]);
}

TEST(ThreadEngine, KeepsAWorkerForAllCommandsOfItsSlot) {
  std::atomic<int> made = 0;
  const auto engine = make_thread_engine(1, [&made](SlotId) {
    ++made;
    return std::make_unique<FakeWorker>(do_finish);
  });
  engine->submit(SlotId{0}, make_run(0));
  engine->submit(SlotId{0}, make_run(1));
  (void)take_answers(*engine, 2);
  EXPECT_EQ(made, 1);
}

TEST(ThreadEngine, StopsTheRunningCommandAndAnswersStoppedForTheQueue) {
  const auto engine = make_thread_engine(1, make_fake_workers(wait_for_stop));
  for (std::int64_t id = 0; id < 3; ++id) {
    engine->submit(SlotId{0}, make_run(id));
  }
  engine->request_stop();
  std::int64_t expected = 0;
  for (const Answer& answer : take_answers(*engine, 3)) {
    EXPECT_EQ(answer.command, CommandId{expected++});
    EXPECT_TRUE(std::holds_alternative<worker::Stopped>(answer.body));
  }
}

TEST(ThreadEngine, AnswersStoppedForWhatIsSubmittedAfterAStop) {
  const auto engine = make_thread_engine(1, make_fake_workers(do_finish));
  engine->request_stop();
  engine->submit(SlotId{0}, make_run(4));
  EXPECT_TRUE(std::holds_alternative<worker::Stopped>(take_answers(*engine, 1).front().body));
}

TEST(ThreadEngine, EndsWhileACommandRuns) {
  std::latch started(1);
  std::atomic<bool> stopped = false;
  {
    const auto engine = make_thread_engine(
        1,
        make_fake_workers(
            [&](const Command& command, const std::stop_token& stop, const AnswerSink& sink) {
              started.count_down();
              wait_for_stop(command, stop, sink);
              stopped = true;
            }));
    engine->submit(SlotId{0}, make_run(0));
    started.wait();
  }
  EXPECT_TRUE(stopped);
}

TEST(ThreadEngine, TurnsABugErrorIntoAFailedAnswerAndGoesOn) {
  const auto engine = make_thread_engine(
      1,
      make_fake_workers(
          [](const Command& command, const std::stop_token&, const AnswerSink& sink) {
            HYDRO_CHECK(command.id != CommandId{0}, "trial index beyond K");
            finish(command, sink);
          }));
  engine->submit(SlotId{0}, make_run(0));
  engine->submit(SlotId{0}, make_run(1));
  const std::vector<Answer> answers = take_answers(*engine, 2);
  EXPECT_EQ(error_of(answers[0]).id, "H0999");
  EXPECT_THAT(error_of(answers[0]).why, HasSubstr("trial index beyond K"));
  EXPECT_TRUE(std::holds_alternative<worker::Done>(answers[1].body));
}

TEST(ThreadEngine, TurnsExhaustedMemoryIntoAFailedAnswer) {
  const auto engine = make_thread_engine(
      1, make_fake_workers([](const Command&, const std::stop_token&, const AnswerSink&) {
        throw std::bad_alloc();
      }));
  engine->submit(SlotId{0}, make_run(3));
  const std::vector<Answer> answers = take_answers(*engine, 1);
  EXPECT_EQ(answers[0].command, CommandId{3});
  EXPECT_TRUE(std::holds_alternative<worker::Failed>(answers[0].body));
}

TEST(ThreadEngine, FailsACommandWhoseWorkerCannotBeMade) {
  const auto engine = make_thread_engine(1, [](SlotId) -> std::unique_ptr<worker::Worker> {
    HYDRO_CHECK(false, "no device");
    return nullptr;
  });
  engine->submit(SlotId{0}, make_run(0));
  EXPECT_THAT(error_of(take_answers(*engine, 1).front()).why, HasSubstr("no device"));
}

TEST(ThreadEngine, ClosesACommandThatItsWorkerForgot) {
  const auto engine = make_thread_engine(
      1, make_fake_workers([](const Command&, const std::stop_token&, const AnswerSink&) {}));
  engine->submit(SlotId{0}, make_run(0));
  EXPECT_THAT(error_of(take_answers(*engine, 1).front()).why, HasSubstr("without an answer"));
}

TEST(ThreadEngine, ClosesACommandOnceThoughItsWorkerAnswersTwice) {
  const auto engine = make_thread_engine(
      1,
      make_fake_workers(
          [](const Command& command, const std::stop_token&, const AnswerSink& sink) {
            finish(command, sink);
            finish(command, sink);
          }));
  engine->submit(SlotId{0}, make_run(0));
  engine->submit(SlotId{0}, make_run(1));
  const std::vector<Answer> answers = take_answers(*engine, 2);
  EXPECT_EQ(answers[0].command, CommandId{0});
  EXPECT_EQ(answers[1].command, CommandId{1});
}

TEST(ThreadEngine, SwapsManyCommandsAndAnswersBetweenManyThreads) {
  constexpr std::int64_t kCommands = 2000;
  const auto engine = make_thread_engine(4, make_fake_workers(do_finish));
  const std::jthread submitter([&engine] {
    for (std::int64_t id = 0; id < kCommands; ++id) {
      engine->submit(static_cast<SlotId>(id % 4), make_run(id));
    }
  });
  std::set<CommandId> seen;
  for (const Answer& answer : take_answers(*engine, kCommands)) {
    seen.insert(answer.command);
  }
  EXPECT_EQ(seen.size(), static_cast<std::size_t>(kCommands));
}

}  // namespace
}  // namespace hydro::engine
