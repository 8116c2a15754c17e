#include "hydro/base/result.h"

#include <string>
#include <string_view>
#include <utility>

#include "hydro/base/catalogue.h"

namespace hydro {

Error make_error(std::string_view id, std::string what) {
  const CatalogueRow* row = find_catalogue_row(id);
  HYDRO_CHECK(row != nullptr, "error id " + std::string(id) + " is not in the catalogue");
  return {.id = std::string(id),
          .code = row->code,
          .what = std::move(what),
          .where = {},
          .why = {},
          .remedy = std::string(row->remedy),
          .kept = {},
          .excerpt = {}};
}

void fail_check(const char* condition, const char* file, int line, const std::string& note) {
  std::string text = std::string(file) + ":" + std::to_string(line) + ": " + condition;
  if (!note.empty()) {
    text += ": " + note;
  }
  throw BugError(text);
}

}  // namespace hydro
