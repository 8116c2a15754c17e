// hydro/run/process.h — runs another program to its end: its own process group, killed when
// this one dies or is told to stop.
#pragma once

#include <filesystem>
#include <map>
#include <stop_token>
#include <string>
#include <vector>

#include "hydro/base/result.h"

namespace hydro::run {

struct ProcessRequest {
  std::vector<std::string> arguments;              // the first is the program's path
  std::map<std::string, std::string> environment;  // added to this process's own
  std::filesystem::path folder;                    // working folder; empty: this process's
};

struct ProcessResult {
  int exit_code = 0;     // 128 + signal when it was killed
  bool stopped = false;  // by the stop token
  std::string output;    // standard output, the last 64 KiB
  std::string errors;    // standard error, the last 64 KiB
};

/// A stop request kills the whole process group, which ends the wait within 50 ms.
///
/// Requires: at least one argument (BugError)
/// Errors: H0803 the program cannot be started, with the system's reason
[[nodiscard]] Result<ProcessResult> run_process(const ProcessRequest& request,
                                                const std::stop_token& stop);

}  // namespace hydro::run
