#include "hydro/run/signals.h"

#include <csignal>
#include <ctime>
#include <memory>
#include <stop_token>
#include <thread>

#include <unistd.h>

#include "hydro/base/catalogue.h"

namespace hydro::run {
namespace {

constexpr long kPatienceNanoseconds = 100'000'000;

sigset_t stop_signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  return set;
}

void wait_for_signals(const std::stop_token& quit, std::stop_source& stop) {
  const sigset_t set = stop_signals();
  const timespec patience = {.tv_sec = 0, .tv_nsec = kPatienceNanoseconds};
  while (!quit.stop_requested()) {
    if (sigtimedwait(&set, nullptr, &patience) < 0) {
      continue;  // nothing came, or another signal interrupted the wait
    }
    if (!stop.request_stop()) {
      ::_exit(static_cast<int>(ExitCode::kInterrupted));
    }
  }
}

}  // namespace

struct SignalStop::Waiter {
  std::stop_source stop;
  sigset_t old_mask{};
  std::jthread thread;
};

SignalStop::SignalStop() : waiter_(std::make_unique<Waiter>()) {
  for (const int number : {SIGPIPE, SIGHUP, SIGXFSZ}) {
    (void)std::signal(number, SIG_IGN);
  }
  const sigset_t set = stop_signals();
  pthread_sigmask(SIG_BLOCK, &set, &waiter_->old_mask);
  waiter_->thread = std::jthread(
      [this](const std::stop_token& quit) { wait_for_signals(quit, waiter_->stop); });
}

SignalStop::~SignalStop() {
  waiter_->thread.request_stop();
  waiter_->thread.join();
  pthread_sigmask(SIG_SETMASK, &waiter_->old_mask, nullptr);
}

std::stop_token SignalStop::token() const {
  return waiter_->stop.get_token();
}

}  // namespace hydro::run
