#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "hydro/base/catalogue.h"
#include "hydro/base/clock.h"
#include "hydro/base/file.h"
#include "hydro/base/result.h"
#include "hydro/cli/torch_backend.h"
#include "hydro/cli/verbs.h"
#include "hydro/job/job.h"
#include "hydro/report/progress.h"
#include "hydro/report/results.h"
#include "hydro/run/run_log.h"
#include "hydro/run/signals.h"
#include "hydro/run/study.h"
#include "hydro/tune/events.h"
#include "hydro/tune/state.h"
#include "hydro/tune/summary.h"

namespace hydro::cli {
namespace {

report::ProgressForm form_of(const TuneOptions& options) {
  if (options.quiet) {
    return report::ProgressForm::kNone;
  }
  if (options.progress == "bar") {
    return report::ProgressForm::kBar;
  }
  if (options.progress == "plain") {
    return report::ProgressForm::kPlain;
  }
  if (options.progress == "json") {
    return report::ProgressForm::kJson;
  }
  return options.progress == "none" ? report::ProgressForm::kNone
                                    : report::default_form(stdout);
}

/// What the verb shows and logs while the study runs.
class Screen {
 public:
  Screen(report::ProgressForm form, bool quiet) : form_(form), quiet_(quiet) {}

  run::Listener listener() {
    return {.opened = [this](const job::Job& job,
                             const std::filesystem::path& folder) { opened(job, folder); },
            .says = [this](const std::string& line) { says(line); },
            .event = [this](const tune::State& state,
                            const tune::Event& event) { this->event(state, event); },
            .logs = [this](const std::string& text) { logs(text); }};
  }

  [[nodiscard]] const std::vector<report::Column>& columns() const { return columns_; }

  void finish() {
    if (progress_.has_value()) {
      progress_->finish();
    }
  }

 private:
  void opened(const job::Job& job, const std::filesystem::path& folder) {
    columns_ = report::columns_of(job.space);
    progress_.emplace(form_, columns_, stdout);
    log_.emplace(folder / "log.txt");
    if (form_ == report::ProgressForm::kBar || form_ == report::ProgressForm::kPlain) {
      fmt::print("run folder {}; {}\n",
                 folder.string(),
                 job.model.file.empty() ? "exporting and checking the model (runs its Python)"
                                        : "checking the model");
      std::fflush(stdout);
    }
  }

  void says(const std::string& line) {
    if (!quiet_) {
      std::fputs(line.c_str(), stderr);
    }
    logs(line);
  }

  void logs(const std::string& text) {
    if (log_.has_value()) {
      log_->line(text);
    }
  }

  void event(const tune::State& state, const tune::Event& event) {
    HYDRO_CHECK(progress_.has_value() && log_.has_value(), "an event of a study not opened");
    progress_->event(state, event);
    log_->line(report::json_text(event));
  }

  report::ProgressForm form_;
  bool quiet_;
  std::vector<report::Column> columns_;
  std::optional<report::Progress> progress_;
  std::optional<run::RunLog> log_;
};

Result<void> write_results(const run::StudyOutcome& outcome,
                           const std::vector<report::Column>& columns) {
  const tune::Summary summary = tune::summarize(outcome.state);
  const std::filesystem::path& folder = outcome.folder;
  HYDRO_TRY_VOID(write_text_durably(
      folder / "trials.csv", report::trials_csv(tune::trial_rows(outcome.state), columns)));
  HYDRO_TRY_VOID(
      write_text_durably(folder / "metrics.csv", report::metrics_csv(outcome.state)));
  return write_text_durably(folder / "result.json",
                            report::result_json(summary, columns, "best/model.safetensors"));
}

}  // namespace

VerbResult tune_verb(const TuneOptions& options) {
  const SystemClock clock;
  const run::SignalStop stop;
  const report::ProgressForm form = form_of(options);
  Screen screen(form, options.quiet);
  const run::TuneRequest request = {.job = options.job,
                                    .settings = options.settings,
                                    .folder = options.folder,
                                    .process_start_ns = run::process_start_ns(clock)};
  Result<run::StudyOutcome> outcome =
      run::tune_study(request, TorchBackend(), screen.listener(), clock, stop.token());
  screen.finish();
  if (!outcome.has_value()) {
    return std::move(outcome).error();
  }
  if (Result<void> written = write_results(*outcome, screen.columns()); !written) {
    return run::keeping_events(std::move(written).error(), outcome->folder);
  }
  if (form == report::ProgressForm::kBar || form == report::ProgressForm::kPlain) {
    fmt::print(
        "{}",
        report::summary_text(
            tune::summarize(outcome->state), screen.columns(), outcome->folder.string()));
  }
  if (std::optional<Error> error = tune::study_error(outcome->state)) {
    return *std::move(error);
  }
  return ExitCode::kDone;
}

}  // namespace hydro::cli
