// hydro/run/run_log.h — log.txt of a run: one line an event, for people who look afterwards. A
// full disk or a missing folder never stops the study.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "hydro/base/clock.h"

namespace hydro::run {

class RunLog {
 public:
  explicit RunLog(const std::filesystem::path& file);
  RunLog(RunLog&&) noexcept;
  RunLog& operator=(RunLog&&) noexcept;
  RunLog(const RunLog&) = delete;
  RunLog& operator=(const RunLog&) = delete;
  ~RunLog();

  /// `text` with or without its newline; a time is put in front.
  void line(const std::string& text);

 private:
  struct Sink;
  std::unique_ptr<Sink> sink_;  // null when the file could not be opened
};

/// How long a process has run, from the texts of /proc/PID/stat and /proc/uptime; nothing when
/// they make no sense.
[[nodiscard]] std::optional<double> process_age_s(const std::string& stat,
                                                  const std::string& uptime,
                                                  std::int64_t ticks_per_second);

/// When this process began, on the monotonic clock: its age read from /proc, or now where that
/// cannot be read.
[[nodiscard]] std::int64_t process_start_ns(const Clock& clock);

}  // namespace hydro::run
