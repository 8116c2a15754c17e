#include "hydro/run/external_searcher.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>

#include "hydro/base/json.h"
#include "hydro/base/result.h"
#include "hydro/job/job.h"
#include "hydro/run/installation.h"
#include "hydro/run/line_process.h"
#include "hydro/run/process.h"
#include "hydro/run/searcher_protocol.h"
#include "hydro/search/searcher.h"
#include "hydro/search/space.h"

namespace hydro::run {
namespace {

/// The whole history is one message; a searcher that learns needs longer for it.
constexpr int kHistoryDeadlines = 10;

ProcessRequest optuna_adapter(const job::Job& job, const Installation& installation) {
  const std::filesystem::path interpreter =
      job.model.python.empty() ? installation.interpreter : job.model.python;
  return {.arguments = {interpreter.string(), "-m", "hydro.optuna_searcher"},
          .environment = {{"PYTHONPATH", python_path(installation)}},
          .folder = {}};
}

Result<ExternalSearch> external_search(const job::Job& job,
                                       const std::filesystem::path& folder) {
  const job::SearchSection& section = job.tune.search;
  ExternalSearch search{
      .program = {.arguments = section.command, .environment = {}, .folder = folder},
      .deadline = section.deadline,
      .greeting = {.study = job.name,
                   .metric = job.tune.metric,
                   .maximize = job.tune.mode == job::Mode::kMax,
                   .seed = job.tune.seed,
                   .trials = job::make_searcher(job)->total(),
                   .dedup = job::tries_each_once(job),
                   .space = job.space,
                   .sampler = section.sampler,
                   .arguments = section.arguments},
      .points = job.tune.points};
  if (section.command.empty()) {
    HYDRO_TRY(const Installation installation, find_installation());
    search.program = optuna_adapter(job, installation);
    search.program.folder = folder;
  }
  return search;
}

}  // namespace

Error ExternalSearcher::fail(Error error) {
  const std::string tail = process_.has_value() ? process_->end() : std::string();
  process_.reset();
  error.what = "the searcher `" + settings_.program.arguments.front() + "` " + error.what;
  return tail.empty() ? error : std::move(error).because("its last lines: " + tail);
}

Result<std::string> ExternalSearcher::exchange(const Json& message,
                                               std::chrono::milliseconds deadline) {
  return process_.value().exchange(message.dump(), deadline, stop_);
}

Result<void> ExternalSearcher::start() {
  Result<LineProcess> started = LineProcess::start(settings_.program);
  if (!started.has_value()) {
    return make_error("H0724", started.error().what).because(started.error().why);
  }
  process_ = *std::move(started);
  const auto greet = [this]() -> Result<void> {
    HYDRO_TRY(const std::string line,
              exchange(hello_message(settings_.greeting), settings_.deadline));
    HYDRO_TRY(const Json answer, read_answer(line, "hello"));
    return answer.value("protocol", Json()) == Json(kSearcherProtocol)
               ? Result<void>()
               : make_error("H0722",
                            "does not speak protocol " + std::to_string(kSearcherProtocol));
  };
  Result<void> greeted = greet();
  return greeted.has_value() ? repeat_history()
                             : Result<void>(fail(std::move(greeted).error()));
}

Result<void> ExternalSearcher::repeat_history() {
  if (history_.empty()) {
    return {};
  }
  const auto repeat = [this]() -> Result<void> {
    HYDRO_TRY(const std::string line,
              exchange(state_message(history_), kHistoryDeadlines * settings_.deadline));
    HYDRO_TRY(const Json answer, read_answer(line, "state"));
    return {};
  };
  Result<void> repeated = repeat();
  return repeated.has_value() ? Result<void>()
                              : Result<void>(fail(std::move(repeated).error()));
}

Result<std::optional<search::Config>> ExternalSearcher::ask_process(std::int64_t k) {
  const auto index = static_cast<std::size_t>(k);
  const search::Config* given =
      index < settings_.points.size() ? &settings_.points[index] : nullptr;
  HYDRO_TRY(const std::string line, exchange(ask_message(k, given), settings_.deadline));
  HYDRO_TRY(std::optional<search::Config> config,
            read_suggestion(line, k, settings_.greeting.space));
  if (given != nullptr && config != *given) {
    return make_error("H0722", "did not take the configuration that it was given");
  }
  if (given == nullptr && config.has_value() && settings_.greeting.dedup &&
      seen_.contains(*config)) {
    return make_error("H0722",
                      "repeated a configuration in its answer to ask " + std::to_string(k));
  }
  return config;
}

Result<std::optional<search::Config>> ExternalSearcher::ask(std::int64_t k) {
  if (!process_.has_value()) {
    HYDRO_TRY_VOID(start());
  }
  Result<std::optional<search::Config>> config = ask_process(k);
  if (!config.has_value()) {
    return fail(std::move(config).error());
  }
  const std::optional<search::Config>& asked = *config;
  if (asked.has_value()) {
    const bool given = k < static_cast<std::int64_t>(settings_.points.size());
    history_.emplace_back(Asked{.k = k, .config = *asked, .given = given});
    if (settings_.greeting.dedup) {
      seen_.insert(*asked);
    }
  }
  return config;
}

Result<void> ExternalSearcher::tell(const search::Outcome& outcome) {
  history_.emplace_back(outcome);
  if (!process_.has_value()) {
    return {};
  }
  const auto told = [&]() -> Result<void> {
    HYDRO_TRY(const std::string line, exchange(tell_message(outcome), settings_.deadline));
    HYDRO_TRY(const Json answer, read_answer(line, "told"));
    return {};
  };
  Result<void> answer = told();
  return answer.has_value() ? answer : Result<void>(fail(std::move(answer).error()));
}

Result<std::unique_ptr<search::Searcher>> open_searcher(const job::Job& job,
                                                        const std::filesystem::path& folder,
                                                        const std::stop_token& stop) {
  if (job.tune.search.kind != job::SearchKind::kProcess) {
    return job::make_searcher(job);
  }
  HYDRO_TRY(ExternalSearch settings, external_search(job, folder));
  auto searcher = std::make_unique<ExternalSearcher>(std::move(settings), stop);
  if (Result<void> started = searcher->start(); !started.has_value()) {
    Error error = std::move(started).error();
    if (error.id == "H0722") {  // it never worked: there is no study to go on with
      error = make_error("H0724", error.what)
                  .because(error.why)
                  .fix("run it by hand: docs/searchers.md has the protocol");
    }
    return job::point_at(job, "tune.search", std::move(error));
  }
  return std::unique_ptr<search::Searcher>(std::move(searcher));
}

}  // namespace hydro::run
