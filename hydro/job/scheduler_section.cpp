#include "hydro/job/scheduler_section.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/job/job.h"
#include "hydro/job/node.h"
#include "hydro/job/reader.h"
#include "hydro/job/schema.h"
#include "hydro/search/preview.h"
#include "hydro/search/rungs.h"
#include "hydro/search/scheduler.h"
#include "hydro/search/searcher.h"
#include "hydro/worker/settings.h"

namespace hydro::job {
namespace {

using search::SchedulerKind;
using search::SchedulerType;

constexpr auto kKinds = std::to_array<std::pair<std::string_view, SchedulerKind>>(
    {{"fifo", SchedulerKind::kFifo},
     {"asha", SchedulerKind::kAsha},
     {"hyperband", SchedulerKind::kHyperband},
     {"median", SchedulerKind::kMedian}});
constexpr auto kAshaTypes = std::to_array<std::pair<std::string_view, SchedulerType>>(
    {{"stopping", SchedulerType::kStopping}, {"promotion", SchedulerType::kPromotion}});
constexpr auto kHyperbandTypes = std::to_array<std::pair<std::string_view, SchedulerType>>(
    {{"stopping", SchedulerType::kStopping},
     {"promotion", SchedulerType::kPromotion},
     {"synchronous", SchedulerType::kSynchronous}});

constexpr Row<Scheduler> kName{"name",
                               "fifo, asha, hyperband or median",
                               "",
                               "the scheduler",
                               &read_word<&Scheduler::kind, kKinds, Scheduler>};
constexpr Row<Scheduler> kGracePeriod{"grace_period",
                                      "an integer of at least 1",
                                      "1",
                                      "evaluations before the first comparison",
                                      &read_integer<&Scheduler::grace_period, 1, Scheduler>};
constexpr Row<Scheduler> kReductionFactor{
    "reduction_factor",
    "an integer of at least 2",
    "3",
    "eta: about one trial in eta goes on from a rung",
    &read_integer<&Scheduler::reduction_factor, 2, Scheduler>};
constexpr Row<Scheduler> kMaxT{"max_t",
                               "an integer of at least 1",
                               "",
                               "evaluations after which a trial is done",
                               &read_integer<&Scheduler::max_t, 1, Scheduler>};
constexpr Row<Scheduler> kBrackets{"brackets",
                                   "an integer of at least 1",
                                   "",
                                   "sets of rungs, each without the lowest of the one before",
                                   &read_integer<&Scheduler::brackets, 1, Scheduler>};

constexpr auto kFifoRows = std::to_array<Row<Scheduler>>({kName});
constexpr auto kAshaRows = std::to_array<Row<Scheduler>>({
    kName,
    {"type",
     "stopping or promotion",
     "stopping",
     "whether a trial is judged at a rung, or waits there",
     &read_word<&Scheduler::type, kAshaTypes, Scheduler>},
    kGracePeriod,
    kReductionFactor,
    kMaxT,
    kBrackets,
});
constexpr auto kHyperbandRows = std::to_array<Row<Scheduler>>({
    kName,
    {"type",
     "stopping, promotion or synchronous",
     "stopping",
     "whether a trial is judged at a rung, waits there, or waits for its whole bracket",
     &read_word<&Scheduler::type, kHyperbandTypes, Scheduler>},
    kGracePeriod,
    kReductionFactor,
    kMaxT,
    kBrackets,
});
constexpr auto kMedianRows = std::to_array<Row<Scheduler>>({
    kName,
    kGracePeriod,
    {"min_samples_required",
     "an integer of at least 1",
     "3",
     "other trials that must have come as far",
     &read_integer<&Scheduler::min_samples_required, 1, Scheduler>},
    kMaxT,
});

std::span<const Row<Scheduler>> rows_of(SchedulerKind kind) {
  switch (kind) {
    case SchedulerKind::kFifo:
      return kFifoRows;
    case SchedulerKind::kAsha:
      return kAshaRows;
    case SchedulerKind::kHyperband:
      return kHyperbandRows;
    case SchedulerKind::kMedian:
      break;
  }
  return kMedianRows;
}

std::string_view name_of(SchedulerKind kind) {
  for (const auto& [name, known] : kKinds) {
    if (known == kind) {
      return name;
    }
  }
  HYDRO_CHECK(false, "a scheduler without a name");
}

/// `asha` stands for {name: asha}.
Node as_mapping(const Node& node) {
  if (!node.is_scalar()) {
    return node;
  }
  Node map = make_map();
  map.place = node.place;
  map.set("name", node);
  return map;
}

Result<void> check_brackets(const Reader& reader, const Node& map, const Scheduler& read) {
  if (read.brackets && read.type == SchedulerType::kSynchronous) {
    return reader.error(*map.find("brackets"), "H0109", "`brackets` of a synchronous hyperband")
        .because("its bands have the brackets that max_t and reduction_factor give")
        .fix("remove brackets, or write type: stopping");
  }
  return {};
}

// ---- numbers that depend on the budget ----

std::string evaluations_text(std::int64_t count) {
  return std::to_string(count) + (count == 1 ? " evaluation" : " evaluations");
}

Error misfit(const Job& job, std::string_view key, const std::string& what) {
  Error error = make_error("H0125", what);
  const std::string path = "tune.scheduler." + std::string(key);
  Error placed = point_at(job, path, error);
  return placed.where.empty() ? point_at(job, "tune.scheduler", std::move(error)) : placed;
}

Result<void> check_times(const Job& job, std::int64_t evaluations) {
  const Scheduler& given = job.tune.scheduler;
  if (given.max_t && *given.max_t > evaluations) {
    return misfit(job,
                  "max_t",
                  "max_t " + std::to_string(*given.max_t) + " is beyond the training's " +
                      evaluations_text(evaluations));
  }
  const std::int64_t end = given.max_t.value_or(evaluations);
  if (given.grace_period > end) {
    return misfit(job,
                  "grace_period",
                  "grace_period " + std::to_string(given.grace_period) + " is over " +
                      (given.max_t ? "max_t " + std::to_string(end)
                                   : "the training's " + evaluations_text(end)));
  }
  return {};
}

Result<std::int64_t> brackets_of(const Job& job, std::int64_t max_t) {
  const Scheduler& given = job.tune.scheduler;
  const auto rungs = static_cast<std::int64_t>(
      search::rung_levels(given.grace_period, max_t, given.reduction_factor).size());
  if (given.brackets && *given.brackets > rungs) {
    return misfit(job,
                  "brackets",
                  std::to_string(*given.brackets) + " brackets need as many rungs, there are " +
                      std::to_string(rungs));
  }
  return given.brackets.value_or(given.kind == SchedulerKind::kHyperband ? rungs : 1);
}

/// Where it does not depend on the number of samples.
std::optional<std::int64_t> known_evaluations(const TrainSection& train) {
  const worker::Span& every = train.evaluate_every;
  if (train.epochs && every.unit == worker::Span::Unit::kEpochs &&
      every.amount == std::floor(every.amount)) {
    const auto whole = static_cast<std::int64_t>(every.amount);
    return (*train.epochs + whole - 1) / whole;
  }
  if (train.steps && every.unit != worker::Span::Unit::kEpochs) {
    const worker::Budget given = budget(train, 1, 1);
    return worker::evaluation_at(given, given.steps);
  }
  return std::nullopt;
}

}  // namespace

Result<Scheduler> read_scheduler(const Reader& reader, const Node& node) {
  const Node map = as_mapping(node);
  if (!map.is_map()) {
    return reader.wrong(
        map, "scheduler", "fifo, asha, hyperband, median or a mapping with such a name");
  }
  const Node* name = map.find("name");
  if (name == nullptr) {
    return reader.error(map, "H0106", "`scheduler` needs a `name`")
        .fix("one of fifo, asha, hyperband or median");
  }
  Scheduler out;
  HYDRO_TRY_VOID(kName.read(reader, *name, kName, out));
  HYDRO_TRY_VOID(read_rows(
      reader, map, "scheduler " + std::string(name_of(out.kind)), rows_of(out.kind), out));
  HYDRO_TRY_VOID(check_brackets(reader, map, out));
  return out;
}

Result<search::SchedulerSettings> scheduler_settings(const Job& job, std::int64_t evaluations) {
  const Scheduler& given = job.tune.scheduler;
  if (given.kind == SchedulerKind::kFifo) {
    return search::SchedulerSettings{.max_t = std::max<std::int64_t>(evaluations, 1)};
  }
  HYDRO_TRY_VOID(check_times(job, evaluations));
  const std::int64_t max_t = given.max_t.value_or(evaluations);
  HYDRO_TRY(const std::int64_t brackets, brackets_of(job, max_t));
  return search::SchedulerSettings{.kind = given.kind,
                                   .type = given.type,
                                   .grace_period = given.grace_period,
                                   .reduction_factor = given.reduction_factor,
                                   .max_t = max_t,
                                   .brackets = brackets,
                                   .min_samples = given.min_samples_required};
}

std::optional<Error> idle_scheduler(const Job& job, std::int64_t evaluations) {
  const auto settings = scheduler_settings(job, evaluations);
  const std::int64_t trials = make_searcher(job)->total();
  if (!settings || search::can_stop_something(*settings, trials)) {
    return std::nullopt;
  }
  return point_at(job,
                  "tune.scheduler",
                  make_error("H0143",
                             "`" + std::string(name_of(settings->kind)) +
                                 "` cannot stop anything: " + std::to_string(trials) +
                                 (trials == 1 ? " trial" : " trials") + " of " +
                                 evaluations_text(settings->max_t) + ", first compared after " +
                                 std::to_string(settings->grace_period)));
}

Result<void> check_scheduler(Job& job) {
  const std::optional<std::int64_t> evaluations = known_evaluations(job.train);
  if (!evaluations) {
    return {};
  }
  HYDRO_TRY_VOID(scheduler_settings(job, *evaluations));
  if (std::optional<Error> idle = idle_scheduler(job, *evaluations)) {
    job.warnings.push_back(*std::move(idle));
  }
  return {};
}

void complete_scheduler(Node& node) {
  node = as_mapping(node);
  for (const auto& [name, kind] : kKinds) {
    if (node.find("name")->text == name) {
      fill_defaults(node, rows_of(kind));
    }
  }
}

void list_schedulers(std::vector<KnownKey>& keys) {
  for (const auto& [name, kind] : kKinds) {
    list_rows("scheduler " + std::string(name), rows_of(kind), keys);
  }
}

}  // namespace hydro::job
