#include "hydro/store/waiting_states.h"

#include <csignal>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <sys/resource.h>

#include "hydro/base/file.h"
#include "hydro/base/result.h"
#include "hydro/base/testing.h"
#include "hydro/store/testing_states.h"

namespace hydro::store {
namespace {

using hydro::testing::outcome;
using hydro::testing::TemporaryFolder;
using testing::state_of;

constexpr std::uint64_t kSize = 408;  // of state_of(_, 100)

std::vector<std::string> files_in(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  if (std::filesystem::exists(folder)) {
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      names.push_back(entry.path().filename().string());
    }
  }
  return names;
}

TEST(WaitingStates, WaitInMemoryUpToTheLimitAndBeyondItOnDisk) {
  const TemporaryFolder folder;
  WaitingStates states(folder / "paused", 2 * kSize);
  for (const std::int64_t trial : {0, 1}) {
    states.put(trial, state_of(trial + 1, 100));
  }
  EXPECT_EQ(files_in(folder / "paused").size(), 0U);
  states.put(2, state_of(3, 100));
  EXPECT_EQ(files_in(folder / "paused"), (std::vector<std::string>{"trial-2.safetensors"}));
  for (const std::int64_t trial : {0, 1, 2}) {
    EXPECT_EQ(*states.find(trial).value(), state_of(trial + 1, 100)) << trial;
  }
}

TEST(WaitingStates, ForgettingOneMakesRoomForTheNext) {
  const TemporaryFolder folder;
  WaitingStates states(folder / "paused", kSize);
  states.put(0, state_of(1, 100));
  states.put(1, state_of(2, 100));
  states.forget(0);
  states.put(2, state_of(3, 100));
  EXPECT_EQ(files_in(folder / "paused"), (std::vector<std::string>{"trial-1.safetensors"}));
  states.forget(1);
  EXPECT_EQ(files_in(folder / "paused").size(), 0U);
  EXPECT_EQ(outcome(states.find(1)), "H0631");
}

TEST(WaitingStates, AnUnknownTrialIsAnErrorAndForgettingItIsNone) {
  const TemporaryFolder folder;
  WaitingStates states(folder / "paused", kSize);
  EXPECT_EQ(outcome(states.find(7)), "H0631");
  states.forget(7);
}

TEST(WaitingStates, ATrialThatWaitsAlreadyIsABug) {
  const TemporaryFolder folder;
  WaitingStates states(folder / "paused", 9 * kSize);
  states.put(0, state_of(1, 100));
  EXPECT_THROW(states.put(0, state_of(1, 100)), BugError);
}

TEST(WaitingStates, LeaveNothingBehind) {
  const TemporaryFolder folder;
  {
    WaitingStates states(folder / "paused", 0);
    states.put(0, state_of(1, 100));
    states.put(1, state_of(2, 100));
    EXPECT_EQ(files_in(folder / "paused").size(), 2U);
  }
  EXPECT_FALSE(std::filesystem::exists(folder / "paused"));
}

TEST(WaitingStates, AFolderThatCannotBeMadeLosesNothingAndIsToldOnce) {
  const TemporaryFolder folder;
  ASSERT_EQ(outcome(write_text_durably(folder / "paused", "a file")), "ok");
  WaitingStates states(folder / "paused", 0);
  states.put(0, state_of(1, 100));
  states.put(1, state_of(2, 100));
  EXPECT_EQ(*states.find(0).value(), state_of(1, 100));
  EXPECT_EQ(*states.find(1).value(), state_of(2, 100));
  const std::optional<Error> trouble = states.take_trouble();
  ASSERT_TRUE(trouble.has_value());
  EXPECT_EQ(trouble->id, "H0630");
  EXPECT_NE(trouble->what.find((folder / "paused").string()), std::string::npos);
  EXPECT_FALSE(trouble->why.empty());
  EXPECT_FALSE(states.take_trouble().has_value());
}

/// Files of this process end at `bytes`, as on a disk that is full there.
class FileLimit {
 public:
  explicit FileLimit(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{.rlim_cur = bytes, .rlim_max = before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }

  FileLimit(const FileLimit&) = delete;
  FileLimit& operator=(const FileLimit&) = delete;

  ~FileLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_{};
  void (*handler_)(int);
};

TEST(WaitingStates, ADiskThatIsFullHalfwayLosesNothingAndLeavesNoHalfFile) {
  const TemporaryFolder folder;
  WaitingStates states(folder / "paused", 0);
  {
    const FileLimit full(100);
    states.put(0, state_of(1, 100));
  }
  EXPECT_EQ(files_in(folder / "paused").size(), 0U);
  EXPECT_EQ(*states.find(0).value(), state_of(1, 100));
  EXPECT_TRUE(states.take_trouble().has_value());
  states.put(1, state_of(2, 100));
  EXPECT_EQ(files_in(folder / "paused"), (std::vector<std::string>{"trial-1.safetensors"}));
}

TEST(WaitingStates, ATornFileIsAnErrorOfItsTrialAlone) {
  const TemporaryFolder folder;
  WaitingStates states(folder / "paused", 0);
  states.put(0, state_of(1, 100));
  states.put(1, state_of(2, 100));
  std::filesystem::resize_file(folder / "paused" / "trial-0.safetensors", 200);
  EXPECT_EQ(outcome(states.find(0)), "H0631");
  EXPECT_EQ(*states.find(1).value(), state_of(2, 100));
}

TEST(WaitingStates, ServeManyThreads) {
  const TemporaryFolder folder;
  WaitingStates states(folder / "paused", 10 * kSize);
  {
    std::vector<std::jthread> workers;
    for (std::int64_t first = 0; first < 4; ++first) {
      workers.emplace_back([&states, first] {
        for (std::int64_t trial = first; trial < 40; trial += 4) {
          states.put(trial, state_of(trial + 1, 100));
          EXPECT_EQ(*states.find(trial).value(), state_of(trial + 1, 100));
          if (trial % 8 < 4) {
            states.forget(trial);
          }
        }
      });
    }
  }
  for (std::int64_t trial = 0; trial < 40; ++trial) {
    EXPECT_EQ(outcome(states.find(trial)), trial % 8 < 4 ? "H0631" : "ok") << trial;
  }
}

}  // namespace
}  // namespace hydro::store
