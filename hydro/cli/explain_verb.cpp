#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "hydro/base/catalogue.h"
#include "hydro/base/result.h"
#include "hydro/base/text.h"
#include "hydro/cli/verbs.h"

namespace hydro::cli {
namespace {

std::vector<std::string> known_ids() {
  std::vector<std::string> ids;
  for (const CatalogueRow& row : catalogue()) {
    ids.emplace_back(row.id);
  }
  return ids;
}

}  // namespace

VerbResult explain_verb(const ExplainOptions& options) {
  const std::string& code = options.code;
  if (code == "list") {
    for (const CatalogueRow& row : catalogue()) {
      fmt::print("{}  {}\n", row.id, row.title);
    }
    return ExitCode::kDone;
  }
  const CatalogueRow* row = find_catalogue_row(code);
  if (row == nullptr) {
    Error error = make_error("H0902", "there is no error code `" + printable(code) + "`");
    const std::string near = nearest(code, known_ids());
    return near.empty() ? error
                        : std::move(error).fix("did you mean `" + near +
                                               "`? `hydro explain list` prints all");
  }
  fmt::print("{}: {}\n\n{}\n\n   do: {}\n   exit code: {}\n",
             row->id,
             row->title,
             row->meaning,
             row->remedy,
             static_cast<int>(row->exit));
  return ExitCode::kDone;
}

}  // namespace hydro::cli
