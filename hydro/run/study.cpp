#include "hydro/run/study.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <unistd.h>

#include "hydro/base/catalogue.h"
#include "hydro/base/clock.h"
#include "hydro/base/file.h"
#include "hydro/base/json.h"
#include "hydro/base/result.h"
#include "hydro/base/text.h"
#include "hydro/engine/thread_engine.h"
#include "hydro/engine/virtual_order.h"
#include "hydro/job/job.h"
#include "hydro/run/backend.h"
#include "hydro/run/coordinate_check.h"
#include "hydro/run/early_statistics.h"
#include "hydro/run/edge.h"
#include "hydro/run/external_searcher.h"
#include "hydro/run/fingerprints.h"
#include "hydro/run/fresh_folder.h"
#include "hydro/run/material.h"
#include "hydro/run/occupied.h"
#include "hydro/search/scheduler.h"
#include "hydro/search/searcher.h"
#include "hydro/search/space.h"
#include "hydro/shrink/coordinates.h"
#include "hydro/store/study_db.h"
#include "hydro/store/waiting_states.h"
#include "hydro/tune/event_json.h"
#include "hydro/tune/events.h"
#include "hydro/tune/state.h"
#include "hydro/tune/summary.h"
#include "hydro/worker/messages.h"
#include "hydro/worker/worker.h"

namespace hydro::run {
namespace {

namespace fs = std::filesystem;

/// All cores, or as many as the job says; more threads than cores would only wait for each
/// other.
std::int64_t core_count(const job::Job& job) {
  const auto cores = std::max<std::int64_t>(std::thread::hardware_concurrency(), 1);
  return std::min(job.resources.cores.value_or(cores), cores);
}

/// One trial a core unless the job says otherwise.
std::int64_t fusion_limit(const job::Fusion& fusion) {
  return fusion.kind == job::Fusion::Kind::kLimit ? fusion.limit : 1;
}

Result<tune::StudySettings> settings_of(const job::Job& job,
                                        const Material& material,
                                        const search::Searcher& searcher,
                                        const fs::path& folder) {
  HYDRO_TRY(const search::SchedulerSettings scheduler, scheduler_of(job, material));
  const std::int64_t cores = core_count(job);
  return tune::StudySettings{
      .name = job.name,
      .metric = job.tune.metric,
      .mode = job.tune.mode == job::Mode::kMin ? tune::Mode::kMin : tune::Mode::kMax,
      .trials = searcher.total(),
      .slots = cores,
      .surrogate_threads = 1,
      .target_threads = static_cast<int>(cores),
      .fusion = fusion_limit(job.tune.fusion),
      .max_concurrent_trials = job.tune.max_concurrent_trials,
      .scaling = job.tune.scaling,
      .drop_last = job.train.drop_last,
      .evaluate_test = job.data.test.has_value(),
      .retry_worse_target = job.tune.target_retry == job::TargetRetry::kWorse,
      .scheduler = scheduler,
      .stop = job.tune.stop,
      .suggest_ahead = searcher.learns() ? tune::SuggestAhead::kNone : tune::SuggestAhead::kAll,
      .seed = job.tune.seed,
      .data_seed = job.data.seed,
      .weights = (fs::absolute(folder) / "best" / "model.safetensors").string()};
}

/// Says what only the number of samples could tell: that the scheduler cannot stop anything.
void warn_of_idle_scheduler(const job::Job& job,
                            const Material& material,
                            const Listener& listener) {
  const std::optional<Error> idle = job::idle_scheduler(job, evaluations_of(job, material));
  if (idle && std::ranges::find(job.warnings, idle->id, &Error::id) == job.warnings.end()) {
    listener.says(render_warning(*idle));
  }
}

/// The short coordinate check before a search; a miss warns or ends the start, as the job asks.
Result<void> guard_coordinates(const job::Job& job,
                               const Material& material,
                               const Backend& backend,
                               const Listener& listener,
                               const std::stop_token& stop) {
  if (job.tune.coordinate_check == job::CoordinateCheck::kOff || job.tune.scaling <= 1) {
    return {};
  }
  for (const Architecture& architecture : material.architectures) {
    HYDRO_TRY(
        const shrink::CoordinateVerdict verdict,
        check_coordinates(
            job, architecture, *material.loaders.training, backend, CheckForm::kShort, stop));
    std::optional<Error> miss = refusal_of(verdict);
    if (!miss) {
      continue;
    }
    if (job.tune.coordinate_check == job::CoordinateCheck::kError) {
      return *std::move(miss);
    }
    listener.says("warning: " + miss->what +
                  "; hyperparameters may not transfer (hydro explain H0310)\n");
  }
  return {};
}

/// A signal ends the preparation between its parts.
Result<void> go_on(const std::stop_token& stop) {
  return stop.stop_requested()
             ? Result<void>(make_error("H0650", "stopped while the study was being prepared"))
             : Result<void>();
}

Result<Material> prepare(const job::Job& job,
                         const Folders& folders,
                         const Backend& backend,
                         const Listener& listener,
                         const std::stop_token& stop) {
  HYDRO_TRY(Material material, prepare_models(job, folders, stop));
  if (listener.logs && !material.exporter_said.empty()) {
    listener.logs(material.exporter_said);
  }
  for (const std::string& warning : material.warnings()) {
    listener.says("warning: " + warning + "\n");
  }
  HYDRO_TRY(material.loaders, prepare_data(job, material.architectures));
  HYDRO_TRY_VOID(scheduler_of(job, material));
  warn_of_idle_scheduler(job, material, listener);
  for (const std::string& warning : early_reports(job, material)) {
    listener.says("warning: " + warning + "\n");
  }
  for (const Architecture& architecture : material.architectures) {
    HYDRO_TRY_VOID(go_on(stop));
    HYDRO_TRY_VOID(backend.check_shapes(*architecture.surrogate));
  }
  HYDRO_TRY_VOID(go_on(stop));
  HYDRO_TRY_VOID(guard_coordinates(job, material, backend, listener, stop));
  HYDRO_TRY_VOID(go_on(stop));
  return material;
}

Suggester make_suggester(const job::Job& job,
                         const Material& material,
                         search::Searcher& searcher) {
  return [&job, &material, &searcher](
             std::int64_t k) -> Result<std::optional<tune::TrialSuggested>> {
    HYDRO_TRY(const std::optional<search::Config> config, searcher.ask(k));
    if (!config.has_value()) {
      return std::optional<tune::TrialSuggested>();
    }
    HYDRO_TRY(const job::ResolvedTrial trial, job::resolve(job, *config));
    const Architecture& architecture = material.architecture(trial.kwargs);
    const std::int64_t samples = material.loaders.training->dataset().size;
    return std::optional(
        tune::TrialSuggested{.id = worker::TrialId{k},
                             .config = *config,
                             .model = architecture.surrogate_key,
                             .target_model = architecture.target_key,
                             .batch_size = trial.batch_size,
                             .budget = job::budget(job.train, samples, trial.batch_size),
                             .settings = trial.settings,
                             .cost_per_sample = architecture.cost_per_sample});
  };
}

/// Bytes in which paused trials wait before they wait on disk.
std::uint64_t pause_memory(const job::Job& job) {
  const auto pages = static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES));
  const auto size = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  return job.tune.pause_memory.value_or(pages * size / 4);
}

/// Also says, once, that paused trials could not be written.
Watcher watch(const Listener& listener, std::shared_ptr<store::WaitingStates> waiting) {
  return [&listener, waiting = std::move(waiting)](const tune::State& state,
                                                   const tune::Event& event) {
    listener.event(state, event);
    if (const std::optional<Error> trouble = waiting->take_trouble()) {
      listener.says(render_warning(*trouble));
    }
  };
}

Teller make_teller(search::Searcher& searcher) {
  return searcher.learns() ? Teller([&searcher](const search::Outcome& outcome) {
    return searcher.tell(outcome);
  })
                           : Teller();
}

Journal make_journal(store::StudyDb& database) {
  return [&database](const tune::Event& event) -> Result<void> {
    Json row = tune::to_json(event);
    const store::Event stored = {.type = std::string(tune::event_type(event.body)),
                                 .version = tune::kEventVersion,
                                 .time_ns = event.wall_ns,
                                 .body = row.dump()};
    HYDRO_TRY(const std::int64_t seq, database.append(std::span(&stored, 1)));
    HYDRO_CHECK(seq == event.seq, "the store and the study count differently");
    return {};
  };
}

/// What lies in a run folder before the first event: job.yaml and an empty study.db.
Result<store::StudyDb> write_start(const job::Job& job,
                                   const Material& material,
                                   const fs::path& folder) {
  HYDRO_TRY(const std::string fingerprints, fingerprint_lines(job, material.architectures));
  HYDRO_TRY_VOID(
      write_text_durably(folder / "job.yaml", job::resolved_yaml(job) + fingerprints));
  return store::StudyDb::create(folder / "study.db");
}

/// Multiply-adds of a surrogate's step; a target trains alone, so that its cost orders nothing.
engine::StepCost step_cost(const Material& material) {
  std::map<std::string, double> per_sample;
  for (const Architecture& architecture : material.architectures) {
    per_sample[architecture.surrogate_key] = architecture.cost_per_sample;
  }
  return [per_sample](const worker::ContainerSpec& spec) {
    const auto found = per_sample.find(spec.model);
    const double cost = found == per_sample.end() ? 1 : found->second;
    return cost * static_cast<double>(spec.batch_size);
  };
}

/// The edge's work once everything is ready.
struct Running {
  const job::Job& job;
  const Material& material;
  const Backend& backend;
  const fs::path& folder;
  store::StudyDb& database;
  search::Searcher& searcher;
};

Result<tune::State> run_to_close(const Running& running,
                                 const TuneRequest& request,
                                 const Listener& listener,
                                 const Clock& clock,
                                 const std::stop_token& stop) {
  search::Searcher& searcher = running.searcher;
  HYDRO_TRY(const tune::StudySettings settings,
            settings_of(running.job, running.material, searcher, running.folder));
  const auto waiting = std::make_shared<store::WaitingStates>(
      fs::absolute(running.folder) / "paused", pause_memory(running.job));
  Edge edge(make_journal(running.database),
            make_suggester(running.job, running.material, searcher),
            watch(listener, waiting),
            clock,
            make_teller(searcher),
            running.job.tune.deterministic ? WhileItThinks::kWait : WhileItThinks::kGoOn);
  HYDRO_TRY_VOID(edge.append(
      tune::StudyOpened{.settings = settings, .process_start_ns = request.process_start_ns},
      "hydro tune"));
  HYDRO_TRY_VOID(edge.append(tune::Prepared{}));
  {
    std::unique_ptr<worker::Engine> engine = engine::make_thread_engine(
        static_cast<std::int32_t>(settings.slots),
        running.backend.workers(running.material, running.job.train.task, waiting));
    if (running.job.tune.deterministic) {
      engine = engine::make_virtual_order(std::move(engine), step_cost(running.material));
    }
    HYDRO_TRY_VOID(edge.run(*engine, stop));
  }
  if (searcher.learns() && listener.logs) {
    listener.logs("searcher: " + tune::latency_text(edge.state().latency));
  }
  HYDRO_TRY_VOID(running.database.close());
  return edge.state();
}

Result<void> write_best_config(const job::Job& job,
                               const tune::State& state,
                               const fs::path& folder) {
  const tune::Target* target = state.delivered();
  if (target == nullptr) {
    return {};
  }
  const search::Config& config = state.trial(target->trial).config.expanded();
  return write_text_durably(folder / "best" / "config.yaml",
                            job::best_config_yaml(job, config));
}

}  // namespace

/// Of a folder that was moved or removed nothing is known.
Error keeping_events(Error error, const fs::path& folder) {
  std::error_code unknown;
  const bool is_there = fs::exists(folder / "study.db", unknown);
  return is_there && error.kept.empty()
             ? std::move(error).keeping("every event before that is in study.db: `hydro show " +
                                        printable(folder.string()) +
                                        "` reads them, `--format csv` as trials.csv")
             : error;
}

Result<StudyOutcome> tune_study(const TuneRequest& request,
                                const Backend& backend,
                                const Listener& listener,
                                const Clock& clock,
                                const std::stop_token& stop) {
  HYDRO_TRY(job::Job job, job::load_job(request.job, request.settings));
  for (const Error& warning : job.warnings) {
    listener.says(render_warning(warning));
  }
  Result<FreshFolder> opened = FreshFolder::open(job.name, request.folder);
  if (!opened.has_value()) {
    return explain_occupied(job, request.folder, std::move(opened).error());
  }
  FreshFolder folder = *std::move(opened);
  const Folders folders = {.job = fs::absolute(request.job).parent_path(),
                           .run = fs::absolute(folder.path())};
  listener.opened(job, folder.path());
  HYDRO_TRY(const std::unique_ptr<search::Searcher> searcher,
            open_searcher(job, folders.job, stop));
  HYDRO_TRY(const Material material, prepare(job, folders, backend, listener, stop));
  HYDRO_TRY(store::StudyDb database, write_start(job, material, folder.path()));
  folder.keep();
  const Running running = {.job = job,
                           .material = material,
                           .backend = backend,
                           .folder = folder.path(),
                           .database = database,
                           .searcher = *searcher};
  Result<tune::State> state = run_to_close(running, request, listener, clock, stop);
  if (!state.has_value()) {
    return keeping_events(std::move(state).error(), folder.path());
  }
  if (Result<void> written = write_best_config(job, *state, folder.path()); !written) {
    return keeping_events(std::move(written).error(), folder.path());
  }
  return StudyOutcome{
      .job = std::move(job), .folder = folder.path(), .state = *std::move(state)};
}

}  // namespace hydro::run
