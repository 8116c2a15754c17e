#include "hydro/run/signals.h"

#include <csignal>
#include <stop_token>

#include <gtest/gtest.h>
#include <unistd.h>

#include "hydro/run/testing.h"

namespace hydro::run {
namespace {

// Signals go to the process, as from a terminal; raise() would go to the thread alone.

TEST(Signals, TheFirstInterruptRequestsAStop) {
  const SignalStop stop;
  EXPECT_FALSE(stop.token().stop_requested());
  ::kill(::getpid(), SIGINT);
  testing::wait_for(stop.token());
}

TEST(Signals, ATerminationRequestsAStop) {
  const SignalStop stop;
  ::kill(::getpid(), SIGTERM);
  testing::wait_for(stop.token());
}

TEST(Signals, AClosedTerminalOrPipeOrALimitOnFilesIsNoStop) {
  const SignalStop stop;
  ::raise(SIGHUP);
  ::raise(SIGPIPE);
  ::raise(SIGXFSZ);
  EXPECT_FALSE(stop.token().stop_requested());
}

TEST(Signals, TheSecondInterruptEndsTheProcessAtOnce) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        const SignalStop stop;
        ::kill(::getpid(), SIGINT);
        testing::wait_for(stop.token());
        ::kill(::getpid(), SIGINT);
        testing::wait_for(std::stop_source().get_token());
      },
      ::testing::ExitedWithCode(75),
      "");
}

TEST(Signals, TheMaskIsAsBeforeAfterwards) {
  {
    const SignalStop stop;
  }
  sigset_t mask;
  ::pthread_sigmask(SIG_BLOCK, nullptr, &mask);
  EXPECT_EQ(sigismember(&mask, SIGINT), 0);
}

}  // namespace
}  // namespace hydro::run
