#include "hydro/run/process.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace hydro::run {
namespace {

constexpr std::size_t kKept = std::size_t{64} << 10U;
constexpr int kPollMilliseconds = 50;
constexpr int kCannotStart = 127;

struct Pipe {
  int read_end = -1;
  int write_end = -1;
};

bool open_pipe(Pipe& pipe) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return false;
  }
  pipe = {.read_end = ends[0], .write_end = ends[1]};
  return true;
}

void close_all(std::initializer_list<int> descriptors) {
  for (const int fd : descriptors) {
    if (fd >= 0) {
      ::close(fd);
    }
  }
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
    out.push_back(name + "=" + value);
  }
  return out;
}

/// Only async-signal-safe calls between fork and exec: everything was allocated before.
[[noreturn]] void become(char* const* arguments, char* const* environment, const char* folder, const Pipe& out,
                         const Pipe& err) {
  ::setpgid(0, 0);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::dup2(out.write_end, STDOUT_FILENO);
  ::dup2(err.write_end, STDERR_FILENO);
  if (folder[0] == '\0' || ::chdir(folder) == 0) {
    ::execve(arguments[0], arguments, environment);
  }
  ::_exit(kCannotStart);
}

void keep_tail(std::string& text) {
  if (text.size() > 2 * kKept) {
    text.erase(0, text.size() - kKept);
  }
}

/// Reads both pipes until they close, looking at `stop` between reads.
void drain(const Pipe& out, const Pipe& err, pid_t child, const std::stop_token& stop, ProcessResult& result) {
  std::array<pollfd, 2> polled = {{{.fd = out.read_end, .events = POLLIN, .revents = 0},
                                   {.fd = err.read_end, .events = POLLIN, .revents = 0}}};
  std::array<std::string*, 2> texts = {&result.output, &result.errors};
  std::array<char, 4096> buffer{};
  while (polled[0].fd >= 0 || polled[1].fd >= 0) {
    if (stop.stop_requested() && !result.stopped) {
      result.stopped = true;
      ::kill(-child, SIGKILL);
    }
    if (::poll(polled.data(), polled.size(), kPollMilliseconds) < 0 && errno != EINTR) {
      return;
    }
    for (std::size_t i = 0; i < polled.size(); ++i) {
      if (polled[i].fd < 0 || polled[i].revents == 0) {
        continue;
      }
      const ssize_t got = ::read(polled[i].fd, buffer.data(), buffer.size());
      if (got <= 0) {
        polled[i].fd = -1;
        continue;
      }
      texts[i]->append(buffer.data(), static_cast<std::size_t>(got));
      keep_tail(*texts[i]);
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

}  // namespace

Result<ProcessResult> run_process(const ProcessRequest& request, const std::stop_token& stop) {
  HYDRO_CHECK(!request.arguments.empty());
  std::vector<std::string> arguments = request.arguments;
  std::vector<std::string> environment = merged_environment(request.environment);
  const std::vector<char*> argv = pointers(arguments);
  const std::vector<char*> envp = pointers(environment);
  if (::access(arguments[0].c_str(), X_OK) != 0) {
    return make_error("H0803", "cannot run `" + arguments[0] + "`").because(std::generic_category().message(errno));
  }
  Pipe out;
  Pipe err;
  if (!open_pipe(out) || !open_pipe(err)) {
    close_all({out.read_end, out.write_end});
    return make_error("H0803", "cannot open a pipe to `" + arguments[0] + "`")
        .because(std::generic_category().message(errno));
  }
  const pid_t child = ::fork();
  if (child == 0) {
    become(argv.data(), envp.data(), request.folder.c_str(), out, err);
  }
  close_all({out.write_end, err.write_end});
  if (child < 0) {
    close_all({out.read_end, err.read_end});
    return make_error("H0803", "cannot start `" + arguments[0] + "`").because(std::generic_category().message(errno));
  }
  ProcessResult result;
  drain(out, err, child, stop, result);
  close_all({out.read_end, err.read_end});
  result.exit_code = exit_code_of(child);
  return result;
}

}  // namespace hydro::run
