#include "hydro/run/run_log.h"

#include <algorithm>
#include <sstream>
#include <string_view>

#include <spdlog/logger.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <unistd.h>

#include "hydro/base/file.h"

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
    sink_->logger.set_error_handler([](const std::string&) {});  // a full disk stops the log, not the study
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

std::int64_t process_start_ns(const Clock& clock) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  constexpr int kFieldsBeforeStart = 19;  // behind the command name, which may hold spaces
  const Result<std::string> stat = read_text("/proc/self/stat");
  const Result<std::string> uptime = read_text("/proc/uptime");
  if (!stat.has_value() || !uptime.has_value() || stat->rfind(')') == std::string::npos) {
    return clock.mono_ns();
  }
  std::istringstream fields(stat->substr(stat->rfind(')') + 1));
  std::string skipped;
  for (int i = 0; i < kFieldsBeforeStart; ++i) {
    fields >> skipped;
  }
  double ticks = 0;
  double up = 0;
  fields >> ticks;
  std::istringstream(*uptime) >> up;
  const double age = up - ticks / static_cast<double>(::sysconf(_SC_CLK_TCK));
  constexpr double kLongestStart = 60;  // a container's /proc may count otherwise: then now is the honest answer
  return clock.mono_ns() - (age > 0 && age < kLongestStart ? static_cast<std::int64_t>(age * kSecond) : 0);
}

}  // namespace hydro::run
