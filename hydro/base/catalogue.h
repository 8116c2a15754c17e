// hydro/base/catalogue.h — every error a user can meet, one row each; `hydro explain H0103`
// prints a row. Ids: H01 job file, H02 model export and archive, H03 shrinking and fusing, H04
// data, H05 training, H06 storage and the study, H07 search, H08 environment, H09 command line
// and bugs.
#pragma once

#include <span>
#include <string_view>

#include "hydro/base/result.h"

namespace hydro {

/// Exit codes of the command line (fixed, INTERFACE): what a script may rely on.
enum class ExitCode : int {
  kDone = 0,
  kUsage = 2,
  kEnvironment = 3,
  kNoTrialSucceeded = 4,
  kStorage = 5,
  kIncompatible = 6,
  kInterrupted = 75
};

struct CatalogueRow {
  std::string_view id;
  ErrorCode code;
  ExitCode exit;
  std::string_view title;    // one line
  std::string_view meaning;  // a paragraph: what it means and why it is an error
  std::string_view remedy;   // what to do when the place gives nothing better
};

[[nodiscard]] std::span<const CatalogueRow> catalogue();
/// Null when there is no such row.
[[nodiscard]] const CatalogueRow* find_catalogue_row(std::string_view id);

/// The error as INTERFACE section 5 shows it: id and what, place, excerpt, why, do, kept. Ends
/// with a newline.
[[nodiscard]] std::string render(const Error& error);

/// As render(), but under the word "warning".
[[nodiscard]] std::string render_warning(const Error& warning);

}  // namespace hydro
