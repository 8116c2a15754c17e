#include "hydro/run/process.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <stop_token>
#include <string>

#include <poll.h>
#include <sys/types.h>
#include <unistd.h>

#include "hydro/base/result.h"
#include "hydro/run/launch.h"

namespace hydro::run {
namespace {

constexpr std::size_t kKept = std::size_t{64} << 10U;
constexpr int kPollMilliseconds = 50;

void keep_tail(std::string& text, std::size_t allowed) {
  if (text.size() > allowed) {
    text.erase(0, text.size() - kKept);
  }
}

/// One stream of the other program.
struct Stream {
  pollfd polled;
  std::string& text;

  void take() {
    std::array<char, 4096> buffer{};
    const ssize_t got = ::read(polled.fd, buffer.data(), buffer.size());
    if (got > 0) {
      text.append(buffer.data(), static_cast<std::size_t>(got));
      keep_tail(text, 2 * kKept);
    } else if (got == 0 || errno != EINTR) {
      polled.fd = -1;
    }
  }
};

/// Reads both streams until they close, looking at `stop` between reads. A killed program is
/// not waited for: something that left its group may hold the streams.
void drain(const Child& child, const std::stop_token& stop, ProcessResult& result) {
  const auto reading = [](const Descriptor& stream) {
    return pollfd{.fd = stream.get(), .events = POLLIN, .revents = 0};
  };
  std::array<Stream, 2> streams = {{{.polled = reading(child.output), .text = result.output},
                                    {.polled = reading(child.errors), .text = result.errors}}};
  while (streams[0].polled.fd >= 0 || streams[1].polled.fd >= 0) {
    if (stop.stop_requested()) {
      result.stopped = true;
      ::kill(-child.pid, SIGKILL);
      return;
    }
    std::array<pollfd, 2> polled = {streams[0].polled, streams[1].polled};
    if (::poll(polled.data(), polled.size(), kPollMilliseconds) < 0) {
      continue;  // a signal; pollfds of our own making are never refused
    }
    for (std::size_t i = 0; i < streams.size(); ++i) {
      if (streams.at(i).polled.fd >= 0 && polled.at(i).revents != 0) {
        streams.at(i).take();
      }
    }
  }
}

}  // namespace

Result<ProcessResult> run_process(const ProcessRequest& request, const std::stop_token& stop) {
  HYDRO_TRY(const Child child, start_child(request, Input::kInherited));
  ProcessResult result;
  drain(child, stop, result);
  result.exit_code = exit_code_of(child.pid);
  keep_tail(result.output, kKept);
  keep_tail(result.errors, kKept);
  return result;
}

}  // namespace hydro::run
