#include "hydro/report/trial_table.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/base/text.h"
#include "hydro/report/results.h"
#include "hydro/search/space.h"
#include "hydro/tune/state.h"
#include "hydro/tune/summary.h"

namespace hydro::report {
namespace {

using tune::TrialRow;
/// The text of a trial's cell in trials.csv; empty where it has none.
using Cell = std::function<std::string(const TrialRow&)>;

struct NamedCell {
  std::string name;
  Cell cell;
};

std::vector<NamedCell> cells_of(const std::vector<Column>& columns, const std::string& metric) {
  const auto value = [](const TrialRow& row) {
    return row.value ? plain_number(*row.value) : std::string();
  };
  std::vector<NamedCell> cells = {
      {.name = "id",
       .cell =
           [](const TrialRow& row) {
             return std::to_string(static_cast<std::int64_t>(row.id));
           }},
      {.name = "state",
       .cell = [](const TrialRow& row) { return std::string(trial_status_name(row.status)); }},
      {.name = "reason", .cell = [](const TrialRow& row) { return row.reason; }},
      {.name = "value", .cell = value},
      {.name = "epochs", .cell = [](const TrialRow& row) { return plain_number(row.epochs); }},
      {.name = "seconds",
       .cell = [](const TrialRow& row) { return plain_number(row.seconds); }}};
  for (const Column& column : columns) {
    cells.push_back({.name = column.name, .cell = [path = column.path](const TrialRow& row) {
                       const auto found = row.config.find(path);
                       return found == row.config.end() ? std::string()
                                                        : search::to_text(found->second);
                     }});
  }
  cells.push_back({.name = metric, .cell = value});
  return cells;
}

Result<Cell> find_cell(const std::vector<NamedCell>& cells, const std::string& name) {
  const auto found = std::ranges::find(cells, name, &NamedCell::name);
  if (found != cells.end()) {
    return found->cell;
  }
  std::vector<std::string> names;
  names.reserve(cells.size());
  for (const NamedCell& cell : cells) {
    names.push_back(cell.name);
  }
  const std::string near = nearest(name, names);
  return make_error("H0903", "the table of trials has no column `" + printable(name) + "`")
      .because("its columns are " + join(names, ", "))
      .fix(near.empty() ? "name one of them" : "did you mean `" + near + "`?");
}

std::optional<double> number_of(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_whole = error == std::errc() && end == text.data() + text.size();
  return is_whole ? std::optional(number) : std::nullopt;
}

/// Numbers by their size, all else by letters; NaN beside anything is neither.
std::partial_ordering compare(const std::string& left, const std::string& right) {
  const std::optional<double> a = number_of(left);
  const std::optional<double> b = number_of(right);
  return a && b ? *a <=> *b : std::partial_ordering(left <=> right);
}

// --- filters ---

struct Operator {
  std::string_view text;
  bool (*holds)(std::partial_ordering);
};

/// Longer ones first, where one begins as another does.
constexpr std::array kOperators = {
    Operator{.text = "!=", .holds = [](auto o) { return o != 0; }},
    Operator{.text = "<=", .holds = [](auto o) { return o <= 0; }},
    Operator{.text = ">=", .holds = [](auto o) { return o >= 0; }},
    Operator{.text = "==", .holds = [](auto o) { return o == 0; }},
    Operator{.text = "=", .holds = [](auto o) { return o == 0; }},
    Operator{.text = "<", .holds = [](auto o) { return o < 0; }},
    Operator{.text = ">", .holds = [](auto o) { return o > 0; }}};

struct Filter {
  Cell cell;
  bool (*holds)(std::partial_ordering) = nullptr;
  std::string bound;

  [[nodiscard]] bool fits(const TrialRow& row) const {
    const std::string text = cell(row);
    return text.empty() && !bound.empty() ? holds(std::partial_ordering::unordered)
                                          : holds(compare(text, bound));
  }
};

std::string trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(' ');
  const std::size_t last = text.find_last_not_of(' ');
  return first == std::string_view::npos ? std::string()
                                         : std::string(text.substr(first, last - first + 1));
}

Result<Filter> read_filter(const std::vector<NamedCell>& cells, const std::string& text) {
  const std::size_t place = text.find_first_of("!<>=");
  if (place != std::string::npos) {
    const std::string_view rest = std::string_view(text).substr(place);
    for (const Operator& each : kOperators) {
      if (rest.starts_with(each.text)) {
        HYDRO_TRY(Cell cell, find_cell(cells, trimmed(text.substr(0, place))));
        return Filter{.cell = std::move(cell),
                      .holds = each.holds,
                      .bound = trimmed(rest.substr(each.text.size()))};
      }
    }
  }
  return make_error("H0903", "`" + printable(text) + "` is no filter")
      .because("a filter is a column, one of = != < <= > >=, and a value")
      .fix("for example --filter 'value>0.8' or --filter state=stopped");
}

// --- order ---

/// Without a value, and NaN: last, whatever the direction.
void sort_rows(std::vector<TrialRow>& rows, const Cell& cell, bool descending) {
  const auto is_known = [&cell](const TrialRow& row) {
    const std::string text = cell(row);
    return !text.empty() && compare(text, text) == 0;
  };
  const auto unknown = std::ranges::stable_partition(rows, is_known);
  std::stable_sort(
      rows.begin(), unknown.begin(), [&](const TrialRow& left, const TrialRow& right) {
        const std::partial_ordering order = compare(cell(left), cell(right));
        return descending ? order > 0 : order < 0;
      });
}

}  // namespace

Result<std::vector<TrialRow>> select_trials(const tune::State& state,
                                            const std::vector<Column>& columns,
                                            const Selection& selection) {
  const std::vector<NamedCell> cells = cells_of(columns, state.study().metric);
  std::vector<TrialRow> rows = tune::trial_rows(state);
  for (const std::string& text : selection.filters) {
    HYDRO_TRY(const Filter filter, read_filter(cells, text));
    std::erase_if(rows, [&filter](const TrialRow& row) { return !filter.fits(row); });
  }
  if (!selection.sort.empty()) {
    const bool minus = selection.sort.starts_with('-');
    HYDRO_TRY(const Cell cell, find_cell(cells, selection.sort.substr(minus ? 1 : 0)));
    sort_rows(rows, cell, minus != selection.reverse);
  } else if (selection.reverse) {
    std::ranges::reverse(rows);
  }
  return rows;
}

}  // namespace hydro::report
