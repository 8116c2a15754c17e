// hydro/run/line_process.h — a program that answers each line on its standard input by one line
// on its standard output.
#pragma once

#include <chrono>
#include <memory>
#include <stop_token>
#include <string>

#include <sys/types.h>

#include "hydro/base/result.h"
#include "hydro/run/process.h"

namespace hydro::run {

class LineProcess {
 public:
  /// Errors: H0803 the program cannot be started
  [[nodiscard]] static Result<LineProcess> start(const ProcessRequest& request);

  LineProcess(LineProcess&&) noexcept;
  LineProcess& operator=(LineProcess&&) noexcept;
  LineProcess(const LineProcess&) = delete;
  LineProcess& operator=(const LineProcess&) = delete;
  /// Kills the program's whole group.
  ~LineProcess();

  /// Sends `line` and waits for the answer, both without their newlines.
  ///
  /// Errors: H0722 no answer within the deadline, the end of the program, or an endless line;
  /// H0650 `stop`. After an error the two no longer know what the other said: end the process.
  [[nodiscard]] Result<std::string> exchange(const std::string& line,
                                             std::chrono::milliseconds deadline,
                                             const std::stop_token& stop);

  /// Kills the program and returns the last lines of its standard error in one, or nothing.
  std::string end();

  [[nodiscard]] pid_t pid() const;

 private:
  struct Streams;
  explicit LineProcess(std::unique_ptr<Streams> streams);

  std::unique_ptr<Streams> streams_;  // null once ended
};

}  // namespace hydro::run
