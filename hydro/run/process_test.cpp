#include "hydro/run/process.h"

#include <csignal>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <stop_token>
#include <string>
#include <thread>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hydro/base/testing.h"

namespace hydro::run {
namespace {

using hydro::testing::TemporaryFolder;
using hydro::testing::words;

/// A shell that does `script`; its name is $0, its arguments follow.
ProcessRequest shell(const std::string& script) {
  return {.arguments = {"/bin/sh", "-c", script}, .environment = {}, .folder = {}};
}

ProcessResult run(const ProcessRequest& request) {
  return run_process(request, {}).value();
}

TEST(Process, GivesTheExitCodeAndBothStreams) {
  const ProcessResult result = run(shell("echo out; echo err >&2; exit 7"));
  EXPECT_EQ(result.exit_code, 7);
  EXPECT_EQ(result.output, "out\n");
  EXPECT_EQ(result.errors, "err\n");
  EXPECT_FALSE(result.stopped);
}

TEST(Process, AKilledProgramsCodeNamesTheSignal) {
  EXPECT_EQ(run(shell("kill -9 $$")).exit_code, 128 + SIGKILL);
}

TEST(Process, RunsInItsFolderWithTheAddedVariables) {
  const TemporaryFolder folder;
  ProcessRequest request = shell("pwd -P; echo $COLOUR $HOME");
  request.folder = folder.path();
  request.environment = {{"COLOUR", "blue"}, {"HOME", "/nowhere"}};
  EXPECT_EQ(run(request).output,
            std::filesystem::canonical(folder.path()).string() + "\nblue /nowhere\n");
}

TEST(Process, KeepsTheTailOfALongOutput) {
  const std::string output = run(shell("yes 0123456 | head -n 50000; echo end")).output;
  EXPECT_EQ(output.size(), std::size_t{64} << 10U);
  EXPECT_TRUE(output.ends_with("0123456\nend\n"));
}

TEST(Process, AStopKillsTheWholeGroup) {
  const TemporaryFolder folder;
  const std::string fifo = (folder / "alive").string();
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  const int reader = ::open(fifo.c_str(), O_RDONLY | O_NONBLOCK);
  std::stop_source stop;
  std::jthread stopper([&] {
    char byte = 0;
    while (::read(reader, &byte, 1) != 1) {  // the grandchild lives
      std::this_thread::yield();
    }
    stop.request_stop();
  });
  // The grandchild holds the pipe for as long as it lives.
  const auto result =
      run_process(shell("(echo x; exec sleep 1000) >" + fifo + " & wait"), stop.get_token());
  stopper.join();
  EXPECT_TRUE(result.value().stopped);
  EXPECT_EQ(result.value().exit_code, 128 + SIGKILL);
  ::fcntl(reader, F_SETFL, 0);
  char byte = 0;
  while (::read(reader, &byte, 1) == 1) {  // ends once nobody can write any more
  }
  ::close(reader);
}

TEST(Process, AStopRequestedBeforeTheStartEndsItToo) {
  std::stop_source stop;
  stop.request_stop();
  EXPECT_TRUE(run_process(shell("exec sleep 1000"), stop.get_token()).value().stopped);
}

/// A mask of /proc/PID/status.
std::uint64_t mask_of(const std::string& status, const std::string& name) {
  constexpr int kHexadecimal = 16;
  return std::stoull(status.substr(status.find(name) + name.size()), nullptr, kHexadecimal);
}

TEST(Process, StartsWithNoSignalBlockedAndStopsNotIgnored) {
  sigset_t blocked;
  sigset_t before;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGINT);
  ::pthread_sigmask(SIG_BLOCK, &blocked, &before);
  auto* const handler = std::signal(SIGHUP, SIG_IGN);
  const std::string status = run(shell("cat /proc/self/status")).output;
  (void)std::signal(SIGHUP, handler);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  constexpr std::uint64_t kHangUpAndInterrupt = 0b11;
  EXPECT_EQ(mask_of(status, "SigBlk:"), 0U);
  EXPECT_EQ(mask_of(status, "SigIgn:") & kHangUpAndInterrupt, 0U);
}

TEST(Process, WhatCannotBeStartedIsNamedWithTheReason) {
  const auto missing =
      run_process({.arguments = {"/no/such/python"}, .environment = {}, .folder = {}}, {});
  EXPECT_EQ(words(missing),
            "H0803: cannot run `/no/such/python` @  | No such file or directory | run "
            "tools/bootstrap, or set model.python to an interpreter that exists");
}

TEST(Process, AFolderIsNoProgram) {
  const auto folder = run_process({.arguments = {"/tmp"}, .environment = {}, .folder = {}}, {});
  EXPECT_EQ(folder.error().id, "H0803");
  EXPECT_EQ(folder.error().why, "Permission denied");
}

TEST(Process, AMissingWorkingFolderIsNoStart) {
  ProcessRequest request = shell("true");
  request.folder = "/no/such/folder";
  EXPECT_EQ(hydro::testing::outcome(run_process(request, {})), "H0803");
}

}  // namespace
}  // namespace hydro::run
