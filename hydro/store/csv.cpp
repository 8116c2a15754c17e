#include "hydro/store/csv.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/base/text.h"

namespace hydro::store {
namespace {

std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) {
    return text;
  }
  std::string out = "\"";
  for (const char c : text) {
    out += c == '"' ? "\"\"" : std::string(1, c);
  }
  return out + '"';
}

std::string text_of(const CsvCell& cell) {
  if (const auto* text = std::get_if<std::string>(&cell)) {
    return quoted(*text);
  }
  if (const auto* whole = std::get_if<std::int64_t>(&cell)) {
    return std::to_string(*whole);
  }
  const auto* number = std::get_if<double>(&cell);
  return number == nullptr ? std::string() : plain_number(*number);
}

}  // namespace

CsvTable::CsvTable(const std::vector<std::string>& columns) : columns_(columns.size()) {
  add_row({columns.begin(), columns.end()});
}

void CsvTable::add_row(const std::vector<CsvCell>& cells) {
  HYDRO_CHECK(
      cells.size() == columns_,
      std::to_string(cells.size()) + " cells in " + std::to_string(columns_) + " columns");
  for (std::size_t i = 0; i < cells.size(); ++i) {
    text_ += i == 0 ? "" : ",";
    text_ += text_of(cells[i]);
  }
  text_ += '\n';
}

}  // namespace hydro::store
