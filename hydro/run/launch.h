// hydro/run/launch.h — starts another program without a shell, in a process group of its own
// that is killed when this process dies. process.h runs one to its end, line_process.h talks to
// one.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include <sys/types.h>

#include "hydro/base/result.h"
#include "hydro/run/process.h"

namespace hydro::run {

/// A descriptor that closes itself.
class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}

  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }

  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  ~Descriptor() { close(); }

  void close();

  [[nodiscard]] int get() const { return fd_; }

 private:
  int fd_;
};

enum class Input : std::uint8_t {
  kInherited,  // this process's own
  kOpen        // written to through Child::input
};

/// A program that runs, and this side of its streams.
struct Child {
  pid_t pid = 0;  // also the number of its process group
  Descriptor input;
  Descriptor output;
  Descriptor errors;
};

/// A program's name without a slash is looked for in PATH.
///
/// Requires: at least one argument (BugError)
/// Errors: H0803 with the system's reason
[[nodiscard]] Result<Child> start_child(const ProcessRequest& request, Input input);

/// Waits for the end: the exit code, 128 + signal when it was killed.
[[nodiscard]] int exit_code_of(pid_t child);
/// The same without waiting: nothing while it runs. An end is told once.
[[nodiscard]] std::optional<int> exit_code_if_ended(pid_t child);

}  // namespace hydro::run
