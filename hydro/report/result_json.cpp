#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "hydro/base/json.h"
#include "hydro/report/results.h"
#include "hydro/search/space.h"
#include "hydro/tune/phases.h"
#include "hydro/tune/state.h"
#include "hydro/tune/summary.h"

namespace hydro::report {
namespace {

OrderedJson number(const std::optional<double>& value) {
  return value.has_value() && std::isfinite(*value) ? OrderedJson(*value)
                                                    : OrderedJson(nullptr);
}

/// 8 rather than 8.0.
OrderedJson whole_or_decimal(double value) {
  constexpr double kExact = 1e15;
  return std::abs(value) < kExact && value == std::trunc(value)
             ? OrderedJson(static_cast<std::int64_t>(value))
             : number(value);
}

/// Milliseconds suffice for a duration.
double rounded(double seconds) {
  return std::round(seconds * 1000) / 1000;
}

std::string name_of(const std::string& path, const std::vector<Column>& columns) {
  for (const Column& column : columns) {
    if (column.path == path) {
      return column.name;
    }
  }
  return path;
}

OrderedJson value_json(const search::Value& value) {
  return std::visit([](const auto& held) { return OrderedJson(held); }, value);
}

OrderedJson config_json(const search::Config& config, const std::vector<Column>& columns) {
  OrderedJson out = OrderedJson::object();
  for (const auto& [path, value] : config) {
    out[name_of(path, columns)] = value_json(value);
  }
  return out;
}

OrderedJson best_json(const tune::Summary& summary, const std::vector<Column>& columns) {
  if (!summary.best.has_value()) {
    return nullptr;
  }
  return {{"id", static_cast<std::int64_t>(summary.best->id)},
          {"config", config_json(summary.best->config, columns)},
          {"value", number(summary.best->value)},
          {"scaling", whole_or_decimal(summary.scaling)}};
}

OrderedJson target_json(const tune::Summary& summary, const std::string& weights) {
  if (!summary.target.has_value()) {
    return nullptr;
  }
  return {{"trial", static_cast<std::int64_t>(summary.target->trial)},
          {"value", number(summary.target->value)},
          {"epochs", whole_or_decimal(summary.target->epochs)},
          {"weights", weights},
          {"test", number(summary.target->test)}};
}

OrderedJson targets_json(const tune::Summary& summary) {
  OrderedJson rows = OrderedJson::array();
  for (const tune::TargetRow& row : summary.targets) {
    OrderedJson out = {{"trial", static_cast<std::int64_t>(row.trial)},
                       {"value", number(row.value)},
                       {"state", std::string(tune::target_status_name(row.status))}};
    if (!row.reason.empty()) {
      out["reason"] = row.reason;
    }
    rows.push_back(std::move(out));
  }
  return rows;
}

OrderedJson phases_json(const tune::PhaseSeconds& phases) {
  return {{"prepare", rounded(phases.prepare)},
          {"profile", rounded(phases.profile)},
          {"surrogates", rounded(phases.surrogates)},
          {"defuse", rounded(phases.defuse)},
          {"target", rounded(phases.target)},
          {"overlap", rounded(phases.overlap)},
          {"idle", rounded(phases.idle)}};
}

OrderedJson trial_json(const tune::TrialRow& row, const std::vector<Column>& columns) {
  OrderedJson out = {{"id", static_cast<std::int64_t>(row.id)},
                     {"state", std::string(tune::trial_status_name(row.status))},
                     {"reason", row.reason}};
  for (const Column& column : columns) {
    if (const auto found = row.config.find(column.path); found != row.config.end()) {
      out[column.name] = value_json(found->second);
    }
  }
  out["value"] = number(row.value);
  out["epochs"] = whole_or_decimal(row.epochs);
  out["seconds"] = rounded(row.seconds);
  return out;
}

OrderedJson searcher_json(const tune::Latency& latency) {
  constexpr double kNanosecond = 1e-9;
  return {{"answers", latency.answers},
          {"total_s", rounded(static_cast<double>(latency.total_ns) * kNanosecond)},
          {"longest_s", rounded(static_cast<double>(latency.longest_ns) * kNanosecond)}};
}

OrderedJson study_json(const tune::Summary& summary,
                       const std::vector<Column>& columns,
                       const std::string& weights) {
  return {{"format", 1},
          {"study", summary.study},
          {"state", summary.state},
          {"metric", summary.metric},
          {"mode", std::string(tune::mode_name(summary.mode))},
          {"best_trial", best_json(summary, columns)},
          {"target", target_json(summary, weights)},
          {"targets", targets_json(summary)},
          {"makespan_s", rounded(summary.phases.makespan)},
          {"phases_s", phases_json(summary.phases)},
          {"trials",
           {{"total", summary.counts.total},
            {"finished", summary.counts.finished},
            {"stopped", summary.counts.stopped},
            {"failed", summary.counts.failed},
            {"interrupted", summary.counts.interrupted}}}};
}

}  // namespace

std::string result_json(const tune::Summary& summary,
                        const std::vector<Column>& columns,
                        const std::string& weights) {
  return study_json(summary, columns, weights).dump(1) + "\n";
}

std::string show_json(const Shown& shown, const std::string& weights) {
  OrderedJson out = study_json(shown.summary, shown.columns, weights);
  if (shown.summary.latency.answers > 0) {
    out["searcher"] = searcher_json(shown.summary.latency);
  }
  if (!shown.lost.empty()) {
    out["lost"] = shown.lost;
  }
  OrderedJson& table = out["trial_table"] = OrderedJson::array();
  for (const tune::TrialRow& row : shown.trials) {
    table.push_back(trial_json(row, shown.columns));
  }
  return out.dump(1) + "\n";
}

}  // namespace hydro::report
