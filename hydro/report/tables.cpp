#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <fmt/core.h>

#include "hydro/base/text.h"
#include "hydro/report/results.h"
#include "hydro/search/space.h"
#include "hydro/store/csv.h"
#include "hydro/tune/state.h"
#include "hydro/tune/summary.h"
#include "hydro/worker/messages.h"

namespace hydro::report {
namespace {

using store::CsvCell;

std::string value_text(const search::Config& config, const std::string& path) {
  const auto found = config.find(path);
  return found == config.end() ? std::string() : search::to_text(found->second);
}

/// Four digits for a reader; whole numbers and words as they are.
std::string short_text(const search::Value& value) {
  const auto* number = std::get_if<double>(&value);
  return number == nullptr ? search::to_text(value) : fmt::format("{:.4g}", *number);
}

CsvCell value_cell(const search::Config& config, const std::string& path) {
  return config.contains(path) ? CsvCell(value_text(config, path)) : CsvCell();
}

CsvCell optional_cell(const std::optional<double>& value) {
  return value.has_value() ? CsvCell(*value) : CsvCell();
}

/// Milliseconds suffice for a duration.
double rounded(double seconds) {
  return std::round(seconds * 1000) / 1000;
}

}  // namespace

std::vector<Column> columns_of(const search::Space& space) {
  std::vector<Column> columns;
  columns.reserve(space.parameters.size());
  for (const search::Parameter& parameter : space.parameters) {
    // Branches of one choice may hold the same parameter: one column.
    if (std::ranges::find(columns, parameter.path, &Column::path) == columns.end()) {
      columns.push_back({.path = parameter.path, .name = parameter.name});
    }
  }
  return columns;
}

std::string trials_csv(const std::vector<tune::TrialRow>& trials,
                       const std::vector<Column>& columns) {
  std::vector<std::string> names = {"id", "state", "reason"};
  for (const Column& column : columns) {
    names.push_back(column.name);
  }
  names.insert(names.end(), {"value", "epochs", "seconds"});
  store::CsvTable table(names);
  for (const tune::TrialRow& row : trials) {
    std::vector<CsvCell> cells = {static_cast<std::int64_t>(row.id),
                                  std::string(tune::trial_status_name(row.status)),
                                  row.reason};
    for (const Column& column : columns) {
      cells.push_back(value_cell(row.config, column.path));
    }
    cells.insert(cells.end(), {optional_cell(row.value), row.epochs, rounded(row.seconds)});
    table.add_row(cells);
  }
  return table.text();
}

std::string metrics_csv(const tune::State& state) {
  store::CsvTable table({"trial", "kind", "step", "epoch", "metric", "value"});
  for (const tune::MetricRow& row : tune::metric_rows(state)) {
    const std::string kind = row.kind == worker::TrialKind::kTarget ? "target" : "surrogate";
    table.add_row({static_cast<std::int64_t>(row.trial),
                   kind,
                   row.step,
                   row.epoch,
                   row.metric,
                   row.value});
  }
  return table.text();
}

std::string config_text(const search::Config& config, const std::vector<Column>& columns) {
  std::vector<std::string> parts;
  for (const Column& column : columns) {
    if (config.contains(column.path)) {
      parts.push_back(column.name + " " + short_text(config.at(column.path)));
    }
  }
  return join(parts, ", ");
}

}  // namespace hydro::report
