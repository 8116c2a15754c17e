// hydro/run/external_searcher.h — a searcher that is another process: started, asked and told
// in JSON lines, and when it fails started again and told all that it had been told.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/job/job.h"
#include "hydro/run/line_process.h"
#include "hydro/run/process.h"
#include "hydro/run/searcher_protocol.h"
#include "hydro/search/searcher.h"
#include "hydro/search/space.h"

namespace hydro::run {

struct ExternalSearch {
  ProcessRequest program;
  std::chrono::milliseconds deadline = std::chrono::seconds(60);  // for one answer
  SearcherGreeting greeting;
  std::vector<search::Config> points;  // tried first
};

/// Not thread-safe; must be used on the thread that made it, since the process dies with that.
class ExternalSearcher final : public search::Searcher {
 public:
  ExternalSearcher(ExternalSearch settings, std::stop_token stop)
      : settings_(std::move(settings)), stop_(std::move(stop)) {}

  /// Starts and greets the process.
  ///
  /// Errors: H0724 it cannot be started; H0725 it refuses; H0722 it fails; H0650 stopped
  [[nodiscard]] Result<void> start();

  /// Errors: H0722 with what went wrong and the process's last lines: the process is ended, the
  /// next ask() starts another; H0650 stopped
  [[nodiscard]] Result<std::optional<search::Config>> ask(std::int64_t k) override;

  /// An outcome is remembered whatever happens. Errors: as above
  [[nodiscard]] Result<void> tell(const search::Outcome& outcome) override;

  [[nodiscard]] std::int64_t total() const override { return settings_.greeting.trials; }

  [[nodiscard]] bool learns() const override { return true; }

 private:
  [[nodiscard]] Result<void> repeat_history();
  [[nodiscard]] Result<std::string> exchange(const Json& message,
                                             std::chrono::milliseconds deadline);
  [[nodiscard]] Result<std::optional<search::Config>> ask_process(std::int64_t k);
  /// Ends the process; the error gets its last lines.
  [[nodiscard]] Error fail(Error error);

  ExternalSearch settings_;
  std::stop_token stop_;
  std::optional<LineProcess> process_;
  SearcherHistory history_;
  std::set<search::Config> seen_;  // only where repeats are refused
};

/// The job's searcher: one of our own, or a process that runs in `folder`, started and greeted.
///
/// Errors: start()'s, with the place in the job file; H0802 the adapter of Optuna is not found
[[nodiscard]] Result<std::unique_ptr<search::Searcher>> open_searcher(
    const job::Job& job, const std::filesystem::path& folder, const std::stop_token& stop);

}  // namespace hydro::run
