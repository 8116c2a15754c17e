#include "hydro/run/run_log.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <sstream>
#include <string_view>
#include <utility>

#include <spdlog/common.h>
#include <spdlog/logger.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <unistd.h>

#include "hydro/base/clock.h"
#include "hydro/base/file.h"
#include "hydro/base/result.h"

namespace hydro::run {

struct RunLog::Sink {
  spdlog::logger logger;
};

RunLog::RunLog(const std::filesystem::path& file) {
  try {
    // The sink is shared with spdlog's logger.
    auto sink = std::make_shared<spdlog::sinks::basic_file_sink_mt>(file.string(), true);
    sink_ = std::make_unique<Sink>(Sink{.logger = spdlog::logger("run", std::move(sink))});
    sink_->logger.set_pattern("%Y-%m-%dT%H:%M:%S.%e %v");
    sink_->logger.flush_on(spdlog::level::info);
    sink_->logger.set_error_handler(
        [](const std::string&) {});  // a full disk stops the log, not the study
  } catch (const spdlog::spdlog_ex&) {
    sink_ = nullptr;
  }
}

RunLog::RunLog(RunLog&&) noexcept = default;
RunLog& RunLog::operator=(RunLog&&) noexcept = default;
RunLog::~RunLog() = default;

void RunLog::line(const std::string& text) {
  if (sink_ != nullptr) {
    std::string_view view = text;
    view = view.substr(0, view.find_last_not_of('\n') + 1);
    sink_->logger.info(view);
  }
}

std::optional<double> process_age_s(const std::string& stat,
                                    const std::string& uptime,
                                    std::int64_t ticks_per_second) {
  constexpr int kFieldsBeforeStart = 19;  // behind the command name, which may hold spaces
  const std::size_t name_end = stat.rfind(')');
  std::istringstream fields(name_end == std::string::npos ? std::string()
                                                          : stat.substr(name_end + 1));
  std::string skipped;
  for (int i = 0; i < kFieldsBeforeStart; ++i) {
    fields >> skipped;
  }
  double ticks = 0;
  double up = 0;
  fields >> ticks;
  std::istringstream rest(uptime);
  rest >> up;
  const double age = up - ticks / static_cast<double>(ticks_per_second);
  return fields.fail() || rest.fail() || age < 0 ? std::nullopt : std::optional(age);
}

std::int64_t process_start_ns(const Clock& clock) {
  constexpr double kNanoseconds = 1e9;
  constexpr double kLongestStart =
      60;  // a container's /proc may count otherwise: then now is the honest answer
  const Result<std::string> stat = read_text("/proc/self/stat");
  const Result<std::string> uptime = read_text("/proc/uptime");
  if (!stat.has_value() || !uptime.has_value()) {
    return clock.mono_ns();
  }
  const double age = process_age_s(*stat, *uptime, ::sysconf(_SC_CLK_TCK)).value_or(0);
  return clock.mono_ns() -
         (age < kLongestStart ? static_cast<std::int64_t>(age * kNanoseconds) : 0);
}

}  // namespace hydro::run
