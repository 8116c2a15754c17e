// hydro/store/testing.h — events for tests, and child processes that can be killed.
#pragma once

#include <array>
#include <csignal>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#include "hydro/base/result.h"
#include "hydro/store/study_db.h"

namespace hydro::store::testing {

[[nodiscard]] inline Event numbered_event(std::int64_t number) {
  return {.type = "reported",
          .version = 1,
          .time_ns = 1'000 + number,
          .body = R"({"trial":)" + std::to_string(number) + "}"};
}

[[nodiscard]] inline std::vector<Event> numbered_events(std::int64_t first,
                                                        std::int64_t count) {
  std::vector<Event> events;
  for (std::int64_t i = first; i < first + count; ++i) {
    events.push_back(numbered_event(i));
  }
  return events;
}

/// A forked process that tells numbers to its parent through a pipe, until it ends or is
/// killed.
class Child {
 public:
  using Tell = std::function<void(std::int64_t)>;

  explicit Child(const std::function<void(const Tell&)>& work) {
    HYDRO_CHECK(::pipe(ends_.data()) == 0);
    pid_ = ::fork();
    HYDRO_CHECK(pid_ >= 0);
    if (pid_ == 0) {
      ::close(ends_[0]);
      // An exception ends the child here, never in the parent's test runner that it is a copy
      // of.
      [&]() noexcept { work([this](std::int64_t number) { tell(number); }); }();
      ::_exit(0);
    }
    ::close(ends_[1]);
  }

  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  ~Child() {
    kill();
    ::close(ends_[0]);
  }

  /// The next number told; false once the child is gone.
  [[nodiscard]] bool hear(std::int64_t& number) const {
    return ::read(ends_[0], &number, sizeof(number)) == sizeof(number);
  }

  void kill() {
    if (pid_ > 0) {
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, nullptr, 0);
      pid_ = -1;
    }
  }

 private:
  void tell(std::int64_t number) const {
    if (::write(ends_[1], &number, sizeof(number)) != sizeof(number)) {
      ::_exit(1);
    }
  }

  std::array<int, 2> ends_{};
  pid_t pid_ = -1;
};

}  // namespace hydro::store::testing
