#include "hydro/base/catalogue.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hydro/base/catalogue_rows.h"
#include "hydro/base/result.h"
#include "hydro/base/text.h"

namespace hydro {

std::span<const CatalogueRow> catalogue() {
  static const std::vector<CatalogueRow> rows = [] {
    std::vector<CatalogueRow> all;
    for (const auto& part : {job_rows(),
                             export_rows(),
                             model_rows(),
                             shrink_rows(),
                             data_rows(),
                             study_rows(),
                             program_rows()}) {
      all.insert(all.end(), part.begin(), part.end());
    }
    return all;
  }();
  return rows;
}

const CatalogueRow* find_catalogue_row(std::string_view id) {
  const std::span<const CatalogueRow> rows = catalogue();
  const auto row = std::ranges::find(rows, id, &CatalogueRow::id);
  return row == rows.end() ? nullptr : &*row;
}

namespace {

/// Text of the user's files must not steer the terminal; line breaks are our own.
std::string visible(std::string_view text) {
  std::string out;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    out += (begin == 0 ? "" : "\n") + printable(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return out;
}

std::string render_as(std::string_view word, const Error& error) {
  std::string text = std::string(word) + "[" + error.id + "]: " + visible(error.what);
  if (!error.where.empty()) {
    constexpr std::size_t kPlaceColumn = 56;
    text +=
        text.size() + 2 < kPlaceColumn ? std::string(kPlaceColumn - text.size(), ' ') : "  ";
    text += visible(error.where);
  }
  text += '\n';
  if (!error.excerpt.empty()) {
    text += visible(error.excerpt);
    if (!text.ends_with('\n')) {
      text += '\n';
    }
  }
  for (const auto& [label, part] :
       {std::pair{"why", &error.why}, {"do", &error.remedy}, {"kept", &error.kept}}) {
    if (!part->empty()) {
      text += std::string("   ") + label + ": " + visible(*part) + '\n';
    }
  }
  return text;
}

}  // namespace

std::string render(const Error& error) {
  return render_as("error", error);
}

std::string render_warning(const Error& warning) {
  return render_as("warning", warning);
}

}  // namespace hydro
