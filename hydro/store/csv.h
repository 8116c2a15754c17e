// hydro/store/csv.h — tables as text: RFC 4180 quoting, lines end in \n, shortest numbers,
// missing cells empty.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace hydro::store {

/// monostate: missing.
using CsvCell = std::variant<std::monostate, std::string, std::int64_t, double>;

class CsvTable {
 public:
  explicit CsvTable(const std::vector<std::string>& columns);
  /// Requires: one cell a column (BugError)
  void add_row(const std::vector<CsvCell>& cells);

  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::size_t columns_;
  std::string text_;
};

}  // namespace hydro::store
