#include "hydro/run/launch.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hydro/base/result.h"
#include "hydro/run/process.h"

namespace hydro::run {
namespace {

constexpr int kCannotStart = 127;

struct Pipe {
  Descriptor read_end;
  Descriptor write_end;
};

/// What connects this process to the other: its streams, and a pipe that tells why it could not
/// start, or closes when it did.
struct Pipes {
  Pipe input;  // empty when it is inherited
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

/// A socket and no pipe: a write to a program that died fails there and raises no signal.
bool open_input(Pipe& pipe) {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return false;
  }
  pipe = {.read_end = Descriptor(ends[0]), .write_end = Descriptor(ends[1])};
  return true;
}

bool open_pipes(Pipes& pipes, Input input) {
  return (input == Input::kInherited || open_input(pipes.input)) && open_pipe(pipes.output) &&
         open_pipe(pipes.errors) && open_pipe(pipes.trouble);
}

/// As a shell would find it; what is not found stays as it is and fails by name.
std::string find_program(const std::string& name) {
  const char* path = std::getenv("PATH");  // NOLINT(concurrency-mt-unsafe): nothing sets it
  if (name.find('/') != std::string::npos || path == nullptr) {
    return name;
  }
  std::istringstream folders(path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::string program = (std::filesystem::path(folder) / name).string();
    if (!folder.empty() && ::access(program.c_str(), X_OK) == 0) {
      return program;
    }
  }
  return name;
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
  for (const int number : {SIGPIPE, SIGHUP, SIGXFSZ, SIGINT, SIGTERM}) {
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
  if (pipes.input.read_end.get() >= 0) {
    ::dup2(pipes.input.read_end.get(), STDIN_FILENO);
  }
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

Error cannot_start(const ProcessRequest& request, int reason) {
  return make_error("H0803", "cannot run `" + request.arguments.front() + "`")
      .because(std::generic_category().message(reason));
}

int code_of(int status) {
  constexpr int kSignalled = 128;
  return WIFEXITED(status) ? WEXITSTATUS(status) : kSignalled + WTERMSIG(status);
}

}  // namespace

void Descriptor::close() {
  if (fd_ >= 0) {
    ::close(std::exchange(fd_, -1));
  }
}

int exit_code_of(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return code_of(status);
}

std::optional<int> exit_code_if_ended(pid_t child) {
  int status = 0;
  return ::waitpid(child, &status, WNOHANG) == child ? std::optional(code_of(status))
                                                     : std::nullopt;
}

Result<Child> start_child(const ProcessRequest& request, Input input) {
  HYDRO_CHECK(!request.arguments.empty());
  std::vector<std::string> arguments = request.arguments;
  arguments.front() = find_program(arguments.front());
  std::vector<std::string> environment = merged_environment(request.environment);
  const std::vector<char*> argv = pointers(arguments);
  const std::vector<char*> envp = pointers(environment);
  const Launch launch = {.arguments = argv.data(),
                         .environment = envp.data(),
                         .folder = request.folder.c_str(),
                         .parent = ::getpid()};
  Pipes pipes;
  if (!open_pipes(pipes, input)) {
    return cannot_start(request, errno);
  }
  const pid_t pid = ::fork();
  if (pid == 0) {
    become(launch, pipes);
  }
  if (pid < 0) {
    return cannot_start(request, errno);
  }
  pipes.input.read_end.close();
  for (Pipe* pipe : {&pipes.output, &pipes.errors, &pipes.trouble}) {
    pipe->write_end.close();
  }
  if (const int reason = start_trouble(pipes.trouble); reason != 0) {
    (void)exit_code_of(pid);
    return cannot_start(request, reason);
  }
  return Child{.pid = pid,
               .input = std::move(pipes.input.write_end),
               .output = std::move(pipes.output.read_end),
               .errors = std::move(pipes.errors.read_end)};
}

}  // namespace hydro::run
