#include "hydro/run/replay.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <sstream>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "hydro/base/file.h"
#include "hydro/base/result.h"
#include "hydro/job/job.h"
#include "hydro/run/backend.h"
#include "hydro/run/fingerprints.h"
#include "hydro/run/material.h"
#include "hydro/run/study.h"
#include "hydro/tune/state.h"
#include "hydro/worker/messages.h"
#include "hydro/worker/worker.h"

namespace hydro::run {
namespace {

namespace fs = std::filesystem;
using worker::TrialId;

std::string name_of(TrialId trial) {
  return "trial " + std::to_string(static_cast<std::int64_t>(trial));
}

bool are_near(double then, double now, double tolerance) {
  if (std::bit_cast<std::uint64_t>(then) == std::bit_cast<std::uint64_t>(now)) {
    return true;
  }
  const double scale = std::max({std::abs(then), std::abs(now), 1.0});
  return std::abs(then - now) <= tolerance * scale && tolerance > 0;
}

/// The trial as the study left it, or why there is nothing to run again.
Result<const tune::Trial*> trial_of(const tune::State& state, TrialId id) {
  const auto count = static_cast<std::int64_t>(state.trials.size());
  if (static_cast<std::int64_t>(id) < 0 || static_cast<std::int64_t>(id) >= count) {
    return make_error("H0633", "the study has no " + name_of(id))
        .fix(count == 0 ? "it has no trial at all"
                        : "its trials are 0 to " + std::to_string(count - 1));
  }
  const tune::Trial& trial = state.trial(id);
  if (trial.reports.empty() && !trial.diverged_at) {
    return make_error("H0633", name_of(id) + " has reported nothing");
  }
  return &trial;
}

/// A trial that shared a container at any time was rounded otherwise than one alone.
double tolerance_of(const tune::State& state, TrialId id) {
  return state.trial(id).had_company ? kStackedTolerance : 0;
}

/// Every line that model and data have now must be among those that the study kept.
Result<void> check_unchanged(const job::Job& job,
                             const std::vector<Architecture>& architectures,
                             const fs::path& kept_job) {
  HYDRO_TRY(const std::string lines, fingerprint_lines(job, architectures));
  HYDRO_TRY(const std::string kept, read_text(kept_job));
  std::istringstream stream(lines);
  for (std::string line; std::getline(stream, line);) {
    if (kept.find(line + "\n") == std::string::npos) {
      const std::size_t name = line.rfind(' ');
      return make_error("H0632", "`" + line.substr(name + 1) + "` is not what the study read")
          .at(kept_job.string());
    }
  }
  return {};
}

/// What a study is made of, from its own folder.
struct Stored {
  job::Job job;
  Material material;
};

Result<Stored> read_stored(const fs::path& folder) {
  HYDRO_TRY(job::Job job, job::load_job(folder / "job.yaml"));
  HYDRO_TRY(Material material, read_models(job, folder));
  HYDRO_TRY_VOID(check_unchanged(job, material.architectures, folder / "job.yaml"));
  HYDRO_TRY(material.loaders, prepare_data(job, material.architectures));
  return Stored{.job = std::move(job), .material = std::move(material)};
}

worker::ContainerSpec spec_of(const tune::State& state, const tune::Trial& trial) {
  tune::Container alone;
  alone.trials = {trial.id};
  return tune::spec_of(state, alone);
}

std::int64_t goal_of(const tune::Trial& trial) {
  return trial.diverged_at ? *trial.diverged_at : trial.reports.last_step();
}

/// All that a worker answers while it trains one container alone.
class Rerun {
 public:
  Rerun(worker::Worker& worker, const std::stop_token& stop) : worker_(worker), stop_(stop) {}

  Result<void> order(worker::Order order) {
    std::optional<Error> failed;
    bool stopped = false;
    worker_.carry_out(
        {.id = worker::CommandId{next_++}, .order = std::move(order)},
        stop_,
        [&](worker::Answer answer) {
          if (auto* report = std::get_if<worker::Report>(&answer.body)) {
            reports.push_back(std::move(*report));
          } else if (auto* diverged = std::get_if<worker::Diverged>(&answer.body)) {
            cause = std::move(diverged->reason);
          } else if (auto* failure = std::get_if<worker::Failed>(&answer.body)) {
            failed = std::move(failure->error);
          }
          stopped = stopped || std::holds_alternative<worker::Stopped>(answer.body);
        });
    if (stopped) {
      return make_error("H0650", "stopped before the trial had run again");
    }
    return failed ? Result<void>(*std::move(failed)) : Result<void>();
  }

  std::vector<worker::Report> reports;
  std::string cause;

 private:
  worker::Worker& worker_;
  const std::stop_token& stop_;
  std::int64_t next_ = 0;
};

}  // namespace

std::int64_t Replay::disagreeing() const {
  return std::ranges::count(numbers, false, &ReplayedNumber::agrees);
}

bool Replay::agrees() const {
  return disagreeing() == 0 && cause_then == cause_now;
}

std::vector<ReplayedNumber> compare_reports(const std::vector<worker::Report>& then,
                                            const std::vector<worker::Report>& now,
                                            double tolerance) {
  std::map<std::pair<std::int64_t, std::string>, ReplayedNumber> numbers;
  const auto collect = [&numbers](const std::vector<worker::Report>& reports,
                                  std::optional<double> ReplayedNumber::* side) {
    for (const worker::Report& report : reports) {
      for (const auto& [metric, value] : report.metrics) {
        ReplayedNumber& number = numbers[{report.step, metric}];
        number.step = report.step;
        number.metric = metric;
        number.*side = value;
      }
    }
  };
  collect(then, &ReplayedNumber::then);
  collect(now, &ReplayedNumber::now);
  std::vector<ReplayedNumber> all;
  for (auto& [key, number] : numbers) {
    number.agrees = number.then && number.now && are_near(*number.then, *number.now, tolerance);
    all.push_back(std::move(number));
  }
  return all;
}

Result<Replay> replay_trial(const fs::path& folder,
                            TrialId id,
                            const Backend& backend,
                            const std::stop_token& stop) {
  HYDRO_TRY(const StoredStudy study, read_study(folder));
  HYDRO_TRY(const tune::Trial* trial, trial_of(study.state, id));
  HYDRO_TRY(const Stored stored, read_stored(folder));
  const std::unique_ptr<worker::Worker> worker =
      backend.workers(stored.material, stored.job.train.task, nullptr)(worker::SlotId{0});
  const worker::ContainerSpec spec = spec_of(study.state, *trial);
  const int threads = study.state.study().surrogate_threads;
  Rerun rerun(*worker, stop);
  HYDRO_TRY_VOID(rerun.order(worker::Launch{.spec = spec, .threads = threads}));
  HYDRO_TRY_VOID(rerun.order(
      worker::Run{.container = spec.id, .to = goal_of(*trial), .threads = threads}));
  const double tolerance = tolerance_of(study.state, id);
  return Replay{
      .study = study.state.study().name,
      .trial = id,
      .step = rerun.reports.empty() ? 0 : rerun.reports.back().step,
      .epoch = rerun.reports.empty() ? 0 : rerun.reports.back().epoch,
      .tolerance = tolerance,
      .numbers = compare_reports(
          trial->reports.expanded(id, trial->common->budget), rerun.reports, tolerance),
      .cause_then = trial->diverged_at ? trial->cause : std::string(),
      .cause_now = std::move(rerun.cause)};
}

}  // namespace hydro::run
