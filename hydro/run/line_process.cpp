#include "hydro/run/line_process.h"

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <unistd.h>

#include "hydro/base/result.h"
#include "hydro/base/text.h"
#include "hydro/run/launch.h"
#include "hydro/run/process.h"

namespace hydro::run {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kLongestLine = std::size_t{1} << 20U;
constexpr std::size_t kKeptErrors = std::size_t{16} << 10U;
constexpr std::chrono::milliseconds kPatience{50};  // between looks at the stop token

void make_nonblocking(const Descriptor& stream) {
  ::fcntl(stream.get(), F_SETFL, ::fcntl(stream.get(), F_GETFL) | O_NONBLOCK);
}

/// What can be read at once is appended; false at the stream's end.
bool take(const Descriptor& stream, std::string& text, std::size_t most) {
  std::array<char, 4096> buffer{};
  while (text.size() <= most) {
    const ssize_t got = ::read(stream.get(), buffer.data(), buffer.size());
    if (got > 0) {
      text.append(buffer.data(), static_cast<std::size_t>(got));
    } else if (got == 0 || errno != EINTR) {
      return got < 0 && errno == EAGAIN;
    }
  }
  return true;
}

std::string last_lines(std::string_view text) {
  constexpr int kLines = 5;
  std::string out;
  text = text.substr(0, text.find_last_not_of("\n\r ") + 1);
  for (int line = 0; line < kLines && !text.empty(); ++line) {
    const std::size_t newline = text.rfind('\n');
    const std::size_t start = newline == std::string_view::npos ? 0 : newline + 1;
    out.insert(0, printable(text.substr(start)).append(out.empty() ? "" : " / "));
    text = text.substr(0, start == 0 ? 0 : start - 1);
  }
  return out;
}

/// "1.5 s"
std::string seconds_text(std::chrono::milliseconds time) {
  constexpr double kThousand = 1000;
  return plain_number(static_cast<double>(time.count()) / kThousand) + " s";
}

std::string end_text(int exit_code) {
  constexpr int kSignalled = 128;
  return exit_code > kSignalled
             ? "was killed by signal " + std::to_string(exit_code - kSignalled)
             : "ended with code " + std::to_string(exit_code);
}

}  // namespace

struct LineProcess::Streams {
  Child child;
  std::string output;  // read, not yet answered with
  std::string errors;
  std::optional<int> exit_code;  // once it was waited for

  /// Standard error never fills up, and its tail is kept.
  void take_errors() {
    constexpr std::size_t kMost = 4 * kKeptErrors;
    (void)take(child.errors, errors, kMost);
    if (errors.size() > kKeptErrors) {
      errors.erase(0, errors.size() - kKeptErrors);
    }
  }

  /// The next whole line that was read.
  std::optional<std::string> next_line() {
    const std::size_t newline = output.find('\n');
    if (newline == std::string::npos) {
      return std::nullopt;
    }
    std::string line = output.substr(0, newline);
    output.erase(0, newline + 1);
    return line;
  }

  /// Sends what the other side has room for; false when it is gone.
  bool send(std::string_view& unsent) const {
    const ssize_t sent =
        ::send(child.input.get(), unsent.data(), unsent.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent > 0) {
      unsent.remove_prefix(static_cast<std::size_t>(sent));
    }
    return sent >= 0 || errno == EAGAIN || errno == EINTR;
  }

  /// Its streams closed: it is about to end, or goes on without them.
  std::string how_it_went() {
    constexpr int kLooks = 1000;
    for (int look = 0; look < kLooks && !exit_code.has_value(); ++look) {
      exit_code = exit_code_if_ended(child.pid);
      if (!exit_code.has_value()) {
        (void)::poll(nullptr, 0, 1);
      }
    }
    return exit_code.has_value() ? end_text(*exit_code) : "closed its standard output";
  }

  /// Waits until something can be done, for a short while.
  void wait(bool sending) const {
    constexpr short kNothing = 0;
    std::array<pollfd, 3> polled = {{{.fd = child.output.get(), .events = POLLIN, .revents = 0},
                                     {.fd = child.errors.get(), .events = POLLIN, .revents = 0},
                                     {.fd = child.input.get(),
                                      .events = sending ? short{POLLOUT} : kNothing,
                                      .revents = 0}}};
    (void)::poll(polled.data(), polled.size(), static_cast<int>(kPatience.count()));
  }
};

LineProcess::LineProcess(std::unique_ptr<Streams> streams) : streams_(std::move(streams)) {}

LineProcess::LineProcess(LineProcess&&) noexcept = default;

LineProcess& LineProcess::operator=(LineProcess&& other) noexcept {
  if (this != &other) {
    (void)end();
    streams_ = std::move(other.streams_);
  }
  return *this;
}

LineProcess::~LineProcess() {
  (void)end();
}

Result<LineProcess> LineProcess::start(const ProcessRequest& request) {
  HYDRO_TRY(Child child, start_child(request, Input::kOpen));
  make_nonblocking(child.output);
  make_nonblocking(child.errors);
  auto streams = std::make_unique<Streams>();
  streams->child = std::move(child);
  return LineProcess(std::move(streams));
}

Result<std::string> LineProcess::exchange(const std::string& line,
                                          std::chrono::milliseconds deadline,
                                          const std::stop_token& stop) {
  HYDRO_CHECK(streams_ != nullptr, "an ended process is asked");
  const std::string sent = line + '\n';
  std::string_view unsent = sent;
  const Clock::time_point end = Clock::now() + deadline;
  bool alive = true;
  for (;;) {
    if (auto answer = streams_->next_line()) {
      return *std::move(answer);
    }
    if (streams_->output.size() > kLongestLine) {
      return make_error("H0722", "answered with a line of over 1 MB");
    }
    if (!alive) {
      return make_error("H0722", streams_->how_it_went());
    }
    if (stop.stop_requested()) {
      return make_error("H0650", "stopped while a searcher was asked");
    }
    if (Clock::now() >= end) {
      return make_error("H0722", "did not answer within " + seconds_text(deadline));
    }
    streams_->wait(!unsent.empty());
    alive = (unsent.empty() || streams_->send(unsent)) &&
            take(streams_->child.output, streams_->output, kLongestLine);
    streams_->take_errors();
  }
}

std::string LineProcess::end() {
  if (streams_ == nullptr) {
    return {};
  }
  ::kill(-streams_->child.pid, SIGKILL);
  if (!streams_->exit_code.has_value()) {
    (void)exit_code_of(streams_->child.pid);
  }
  streams_->take_errors();
  std::string tail = last_lines(streams_->errors);
  streams_.reset();
  return tail;
}

pid_t LineProcess::pid() const {
  HYDRO_CHECK(streams_ != nullptr);
  return streams_->child.pid;
}

}  // namespace hydro::run
