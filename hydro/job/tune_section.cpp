// The `tune:` section.
#include <algorithm>
#include <array>
#include <iterator>
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
#include "hydro/job/scheduler_section.h"
#include "hydro/job/schema.h"
#include "hydro/job/sections.h"
#include "hydro/worker/settings.h"

namespace hydro::job {
namespace {

struct TuneValues : TuneSection {
  std::optional<Mode> given_mode;
};

constexpr auto kModes = std::to_array<std::pair<std::string_view, Mode>>(
    {{"min", Mode::kMin}, {"max", Mode::kMax}});
constexpr auto kParametrizations = std::to_array<std::pair<std::string_view, Parametrization>>(
    {{"mup", Parametrization::kMup},
     {"paper", Parametrization::kPaper},
     {"standard", Parametrization::kStandard}});
constexpr auto kCoordinateChecks = std::to_array<std::pair<std::string_view, CoordinateCheck>>(
    {{"warn", CoordinateCheck::kWarn},
     {"error", CoordinateCheck::kError},
     {"off", CoordinateCheck::kOff}});

// ---- Metrics ----

struct Metric {
  std::string_view name;
  Mode better;
  std::optional<worker::Task> only = {};  // the task that reports it; nothing: all
  bool of_bytes = false;                  // reported on texts only
};

/// The first row of a task is its default.
constexpr auto kMetrics = std::to_array<Metric>({
    {.name = "val_accuracy", .better = Mode::kMax, .only = worker::Task::kClassification},
    {.name = "val_loss", .better = Mode::kMin},
    {.name = "val_top5", .better = Mode::kMax, .only = worker::Task::kClassification},
    {.name = "val_perplexity", .better = Mode::kMin, .only = worker::Task::kLanguageModel},
    {.name = "val_bits_per_byte",
     .better = Mode::kMin,
     .only = worker::Task::kLanguageModel,
     .of_bytes = true},
    {.name = "val_accuracy", .better = Mode::kMax, .only = worker::Task::kMaskedLanguageModel},
    {.name = "val_perplexity",
     .better = Mode::kMin,
     .only = worker::Task::kMaskedLanguageModel},
    {.name = "train_loss", .better = Mode::kMin},
});

std::vector<Metric> metrics_of(const Reported& reported) {
  std::vector<Metric> metrics;
  std::ranges::copy_if(kMetrics, std::back_inserter(metrics), [&](const Metric& metric) {
    return metric.only.value_or(reported.task) == reported.task &&
           (reported.of_bytes || !metric.of_bytes);
  });
  return metrics;
}

std::string_view mode_name(Mode mode) {
  return mode == Mode::kMin ? "min" : "max";
}

std::vector<std::string> names_of(const std::vector<Metric>& metrics) {
  std::vector<std::string> names;
  names.reserve(metrics.size());
  for (const Metric& metric : metrics) {
    names.emplace_back(metric.name);
  }
  return names;
}

Result<void> settle_metric(const Reader& reader,
                           const Node& node,
                           const Reported& reported,
                           TuneValues& tune,
                           std::vector<Error>& warnings) {
  const std::vector<Metric> metrics = metrics_of(reported);
  auto metric = metrics.begin();
  if (const Node* given = node.find("metric"); given != nullptr) {
    metric = std::ranges::find(metrics, given->text, &Metric::name);
    if (metric == metrics.end()) {
      return unknown_metric(reader, *given, names_of(metrics));
    }
  }
  tune.metric = metric->name;
  tune.mode = tune.given_mode.value_or(metric->better);
  if (tune.mode != metric->better) {
    warnings.push_back(reader.error(*node.find("mode"),
                                    "H0140",
                                    "mode `" + std::string(mode_name(tune.mode)) +
                                        "` looks for the worst `" + tune.metric + "`"));
  }
  return {};
}

// ---- Keys with a section of their own ----

Result<void> read_search_row(const Reader& reader,
                             const Node& node,
                             const Row<TuneValues>& /*row*/,
                             TuneValues& out) {
  HYDRO_TRY(out.search, read_search(reader, node));
  return {};
}

Result<void> read_scheduler_row(const Reader& reader,
                                const Node& node,
                                const Row<TuneValues>& /*row*/,
                                TuneValues& out) {
  HYDRO_TRY(out.scheduler, read_scheduler(reader, node));
  return {};
}

constexpr auto kParametrizationRows = std::to_array<Row<TuneValues>>({
    {"name",
     "mup, paper or standard",
     "mup",
     "which table of factors",
     &read_word<&TuneSection::parametrization, kParametrizations, TuneValues>},
    {"zero_query",
     "true or false",
     "false",
     "start the query weights at 0",
     &read_bool<&TuneSection::zero_query, TuneValues>},
});

Result<void> read_parametrization(const Reader& reader,
                                  const Node& node,
                                  const Row<TuneValues>& row,
                                  TuneValues& out) {
  if (!node.is_map()) {
    return read_word<&TuneSection::parametrization, kParametrizations, TuneValues>(
        reader, node, row, out);
  }
  return read_rows(
      reader, node, row.key, std::span<const Row<TuneValues>>(kParametrizationRows), out);
}

Result<void> read_fusion(const Reader& reader,
                         const Node& node,
                         const Row<TuneValues>& row,
                         TuneValues& out) {
  const auto limit = as_integer(node);
  if (limit && *limit >= 1) {
    out.fusion = {.kind = Fusion::Kind::kLimit, .limit = *limit};
    return {};
  }
  if (!node.is_scalar() || (node.text != "auto" && node.text != "off")) {
    return reader.wrong(node, row.key, row.type);
  }
  out.fusion.kind = node.text == "off" ? Fusion::Kind::kOff : Fusion::Kind::kAuto;
  return {};
}

Result<void> read_eager(const Reader& reader,
                        const Node& node,
                        const Row<TuneValues>& row,
                        TuneValues& /*out*/) {
  if (as_number(node)) {
    return not_in_this_version(reader, node, row.key)
        .fix("write eager_transfer: off, or remove the key");
  }
  return node.is_scalar() && node.text == "off" ? Result<void>()
                                                : reader.wrong(node, row.key, row.type);
}

constexpr auto kTargetRetries = std::to_array<std::pair<std::string_view, TargetRetry>>(
    {{"worse", TargetRetry::kWorse}, {"off", TargetRetry::kOff}});

struct TargetValues {
  TargetRetry retry = TargetRetry::kWorse;
};

Result<void> read_keep(const Reader& reader,
                       const Node& node,
                       const Row<TargetValues>& row,
                       TargetValues& /*out*/) {
  if (node.is_scalar() && node.text == "best") {
    return not_in_this_version(reader, node, "keep: best")
        .fix("write keep: last, or remove the key");
  }
  return node.is_scalar() && node.text == "last" ? Result<void>()
                                                 : reader.wrong(node, row.key, row.type);
}

Result<void> read_top_k(const Reader& reader,
                        const Node& node,
                        const Row<TargetValues>& row,
                        TargetValues& /*out*/) {
  const auto value = as_integer(node);
  if (!value || *value < 1) {
    return reader.wrong(node, row.key, row.type);
  }
  return *value == 1 ? Result<void>()
                     : not_in_this_version(reader, node, "top_k over 1")
                           .fix("write top_k: 1, or remove the key");
}

constexpr auto kTargetRows = std::to_array<Row<TargetValues>>({
    {"top_k",
     "an integer of at least 1",
     "1",
     "how many best configurations are trained at full width",
     &read_top_k},
    {"keep", "last", "last", "which epoch's weights are delivered", &read_keep},
    {"retry",
     "worse or off",
     "worse",
     "after a target over 1 % worse than its own surrogate the next best is trained too",
     &read_word<&TargetValues::retry, kTargetRetries, TargetValues>},
});

Result<void> read_target(const Reader& reader,
                         const Node& node,
                         const Row<TuneValues>& row,
                         TuneValues& out) {
  TargetValues target;
  HYDRO_TRY_VOID(read_rows(
      reader, node, row.key, std::span<const Row<TargetValues>>(kTargetRows), target));
  out.target_retry = target.retry;
  return {};
}

Result<void> read_time_budget(const Reader& reader,
                              const Node& node,
                              const Row<TuneValues>& row,
                              TuneValues& /*out*/) {
  return as_duration(node) ? not_in_this_version(reader, node, row.key)
                           : reader.wrong(node, row.key, row.type);
}

constexpr auto kRows = std::to_array<Row<TuneValues>>({
    {"metric",
     "a metric's name",
     "",
     "what trials are compared by; default from the task",
     &read_text<&TuneSection::metric, TuneValues>},
    {"mode",
     "min or max",
     "",
     "which end of the metric is better; default from the metric",
     &read_word<&TuneValues::given_mode, kModes, TuneValues>},
    {"search",
     "random, grid, sobol, optuna, or a mapping with a command",
     "random",
     "where configurations come from",
     &read_search_row},
    {"num_samples",
     "an integer from 1 to a billion",
     "",
     "how many are drawn (10); not with `search: grid`",
     &read_count<&TuneSection::num_samples, TuneValues>},
    {"scheduler",
     "fifo, asha, hyperband, median or a mapping with such a name",
     "fifo",
     "which trials are stopped early",
     &read_scheduler_row},
    {"scaling",
     "a number of at least 1",
     "8",
     "S, how much narrower trials are than the target; 1: not at all",
     &read_number<&TuneSection::scaling, Limits{.low = 1, .high = 1e6}, TuneValues>},
    {"parametrization",
     "mup, paper or standard",
     "mup",
     "how hyperparameters change with the width",
     &read_parametrization},
    {"fusion",
     "auto, off or an integer of at least 1",
     "auto",
     "how many trials may share a container",
     &read_fusion},
    {"eager_transfer",
     "off",
     "off",
     "share of ended trials from which the target may start",
     &read_eager},
    {"target",
     "a mapping such as {top_k: 1, keep: last, retry: worse}",
     "{top_k: 1, keep: last, retry: worse}",
     "what is trained at full width",
     &read_target},
    {"target_search", "a mapping", "", "second search on the target", &read_later<TuneValues>},
    {"time_budget",
     "a time such as 90 s, 15 min or 2 h",
     "",
     "for the whole study",
     &read_time_budget},
    {"seed",
     "an integer of at least 0",
     "1",
     "of suggestions, initial weights and dropout",
     &read_integer<&TuneSection::seed, 0, TuneValues>},
    {"points_to_evaluate",
     "a list of mappings from hyperparameters to values",
     "",
     "configurations tried first",
     &ignore<TuneValues>},  // read once the space is known: points.h
    {"stop", "a list of rules", "", "rules that end a trial", &ignore<TuneValues>},
    {"dedup",
     "true or false",
     "",
     "try no configuration twice",
     &read_bool<&TuneSection::dedup, TuneValues>},
    {"deterministic",
     "true or false",
     "false",
     "same slots, same decisions",
     &read_bool<&TuneSection::deterministic, TuneValues>},
    {"max_concurrent_trials",
     "an integer from 1 to a billion",
     "",
     "limit on trials that run at once",
     &read_count<&TuneSection::max_concurrent_trials, TuneValues>},
    {"max_failures", "an integer", "", "retries of a trial", &read_later<TuneValues>},
    {"fail_fast", "true or false", "", "stop at the first failure", &read_later<TuneValues>},
    {"pause_memory",
     "a size such as 4 GB",
     "",
     "of paused trials; default a quarter of the machine's, beyond it they wait on disk",
     &read_size<&TuneSection::pause_memory, TuneValues>},
    {"min_width",
     "an integer of at least 1",
     "2",
     "no width is made smaller",
     &read_integer<&TuneSection::min_width, 1, TuneValues>},
    {"coordinate_check",
     "warn, error or off",
     "warn",
     "short check of the parametrization before the search",
     &read_word<&TuneSection::coordinate_check, kCoordinateChecks, TuneValues>},
});

Result<void> check_samples(const Reader& reader, const Node& node, const TuneValues& tune) {
  const Node* samples = node.find("num_samples");
  if (samples == nullptr || tune.search.kind != SearchKind::kGrid) {
    return {};
  }
  return reader.error(*samples, "H0109", "`num_samples` stands beside `search: grid`")
      .because("grid search tries the product of all values once")
      .fix("remove num_samples, or use `search: random`");
}

}  // namespace

Result<TuneSection> read_tune(const Reader& reader,
                              const Node& node,
                              const Reported& reported,
                              std::vector<Error>& warnings) {
  TuneValues tune;
  HYDRO_TRY_VOID(
      read_rows(reader, node, "tune", std::span<const Row<TuneValues>>(kRows), tune));
  HYDRO_TRY_VOID(check_samples(reader, node, tune));
  HYDRO_TRY_VOID(settle_metric(reader, node, reported, tune, warnings));
  if (const Node* stop = node.find("stop"); stop != nullptr) {
    HYDRO_TRY(tune.stop, read_stop(reader, *stop, names_of(metrics_of(reported))));
    HYDRO_TRY_VOID(tune.deterministic ? refuse_time(reader, *stop, tune.stop) : Result<void>());
  }
  return static_cast<const TuneSection&>(tune);
}

void complete_tune(Node& node, const TuneSection& read) {
  fill_defaults(node, std::span<const Row<TuneValues>>(kRows));
  complete_scheduler(*node.find("scheduler"));
  complete_search(*node.find("search"), read.search);
  node.add("metric", make_scalar(read.metric));
  node.add("mode", make_scalar(std::string(mode_name(read.mode))));
  if (read.search.kind != SearchKind::kGrid) {
    node.add("num_samples", make_scalar(std::to_string(read.num_samples)));
  }
}

void list_tune(std::vector<KnownKey>& keys) {
  list_rows("tune", std::span<const Row<TuneValues>>(kRows), keys);
  list_search(keys);
  list_rows("parametrization", std::span<const Row<TuneValues>>(kParametrizationRows), keys);
  list_rows("target", std::span<const Row<TargetValues>>(kTargetRows), keys);
  list_schedulers(keys);
  list_stop(keys);
}

}  // namespace hydro::job
