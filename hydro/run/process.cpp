#include "hydro/run/process.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <map>
#include <stop_token>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hydro/base/result.h"

namespace hydro::run {
namespace {

constexpr std::size_t kKept = std::size_t{64} << 10U;
constexpr int kPollMilliseconds = 50;
constexpr int kCannotStart = 127;

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

  void close() {
    if (fd_ >= 0) {
      ::close(std::exchange(fd_, -1));
    }
  }

  [[nodiscard]] int get() const { return fd_; }

 private:
  int fd_;
};

struct Pipe {
  Descriptor read_end;
  Descriptor write_end;
};

/// What connects this process to the other: its two streams, and a pipe that tells why it could
/// not start, or closes when it did.
struct Pipes {
  Pipe output;
  Pipe errors;
  Pipe trouble;
};

bool open_pipe(Pipe& pipe) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return false;
  }
  pipe = {.read_end = Descriptor(ends[0]), .write_end = Descriptor(ends[1])};
  return true;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> out;
  out.reserve(texts.size() + 1);
  for (std::string& text : texts) {
    out.push_back(text.data());
  }
  out.push_back(nullptr);
  return out;
}

std::vector<std::string> merged_environment(const std::map<std::string, std::string>& added) {
  std::vector<std::string> out;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    if (!added.contains(text.substr(0, text.find('=')))) {
      out.push_back(text);
    }
  }
  for (const auto& [name, value] : added) {
    out.emplace_back(name).append("=").append(value);
  }
  return out;
}

/// Everything that the child needs, allocated before the fork.
struct Launch {
  char* const* arguments;
  char* const* environment;
  const char* folder;
  pid_t parent;
};

/// The other program shall not inherit how this one treats signals.
void reset_signals() {
  for (const int number : {SIGPIPE, SIGHUP, SIGINT, SIGTERM}) {
    (void)::signal(number, SIG_DFL);
  }
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

/// Only async-signal-safe calls: the fork may have happened beside other threads.
[[noreturn]] void become(const Launch& launch, const Pipes& pipes) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != launch.parent) {
    ::_exit(kCannotStart);  // it died before prctl could tell
  }
  reset_signals();
  ::dup2(pipes.output.write_end.get(), STDOUT_FILENO);
  ::dup2(pipes.errors.write_end.get(), STDERR_FILENO);
  if (launch.folder[0] == '\0' || ::chdir(launch.folder) == 0) {
    ::execve(launch.arguments[0], launch.arguments, launch.environment);
  }
  const int reason = errno;
  const ssize_t ignored = ::write(pipes.trouble.write_end.get(), &reason, sizeof(reason));
  (void)ignored;
  ::_exit(kCannotStart);
}

/// 0 once the program runs, else why it does not.
int start_trouble(const Pipe& trouble) {
  int reason = 0;
  ssize_t got = 0;
  do {
    got = ::read(trouble.read_end.get(), &reason, sizeof(reason));
  } while (got < 0 && errno == EINTR);
  return got == static_cast<ssize_t>(sizeof(reason)) ? reason : 0;
}

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
void drain(const Pipes& pipes,
           pid_t child,
           const std::stop_token& stop,
           ProcessResult& result) {
  const auto reading = [](const Pipe& pipe) {
    return pollfd{.fd = pipe.read_end.get(), .events = POLLIN, .revents = 0};
  };
  std::array<Stream, 2> streams = {{{.polled = reading(pipes.output), .text = result.output},
                                    {.polled = reading(pipes.errors), .text = result.errors}}};
  while (streams[0].polled.fd >= 0 || streams[1].polled.fd >= 0) {
    if (stop.stop_requested()) {
      result.stopped = true;
      ::kill(-child, SIGKILL);
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

int exit_code_of(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  constexpr int kSignalled = 128;
  return WIFEXITED(status) ? WEXITSTATUS(status) : kSignalled + WTERMSIG(status);
}

Error cannot_start(const ProcessRequest& request, int reason) {
  return make_error("H0803", "cannot run `" + request.arguments.front() + "`")
      .because(std::generic_category().message(reason));
}

}  // namespace

Result<ProcessResult> run_process(const ProcessRequest& request, const std::stop_token& stop) {
  HYDRO_CHECK(!request.arguments.empty());
  std::vector<std::string> arguments = request.arguments;
  std::vector<std::string> environment = merged_environment(request.environment);
  const std::vector<char*> argv = pointers(arguments);
  const std::vector<char*> envp = pointers(environment);
  const Launch launch = {.arguments = argv.data(),
                         .environment = envp.data(),
                         .folder = request.folder.c_str(),
                         .parent = ::getpid()};
  Pipes pipes;
  if (!open_pipe(pipes.output) || !open_pipe(pipes.errors) || !open_pipe(pipes.trouble)) {
    return cannot_start(request, errno);
  }
  const pid_t child = ::fork();
  if (child == 0) {
    become(launch, pipes);
  }
  if (child < 0) {
    return cannot_start(request, errno);
  }
  for (Pipe* pipe : {&pipes.output, &pipes.errors, &pipes.trouble}) {
    pipe->write_end.close();
  }
  if (const int reason = start_trouble(pipes.trouble); reason != 0) {
    exit_code_of(child);
    return cannot_start(request, reason);
  }
  ProcessResult result;
  drain(pipes, child, stop, result);
  result.exit_code = exit_code_of(child);
  keep_tail(result.output, kKept);
  keep_tail(result.errors, kKept);
  return result;
}

}  // namespace hydro::run
