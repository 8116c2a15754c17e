// hydro/store/sqlite.h — the one door to SQLite: handles that release themselves, and its
// failures as errors.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include <sqlite3.h>

#include "hydro/base/result.h"

namespace hydro::store {

struct CloseDatabase {
  void operator()(sqlite3* database) const { ::sqlite3_close_v2(database); }
};

using DatabaseHandle = std::unique_ptr<sqlite3, CloseDatabase>;

struct FinalizeStatement {
  void operator()(sqlite3_stmt* statement) const { ::sqlite3_finalize(statement); }
};

using StatementHandle = std::unique_ptr<sqlite3_stmt, FinalizeStatement>;

/// A failure of SQLite as row `id` of the catalogue, or H0612 where SQLite says that the file
/// is damaged.
[[nodiscard]] Error database_error(sqlite3* database,
                                   std::string_view id,
                                   const std::string& what,
                                   const std::filesystem::path& file);

/// `flags` as of sqlite3_open_v2.      Errors: H0610
[[nodiscard]] Result<DatabaseHandle> open_database(const std::filesystem::path& file,
                                                   int flags);

/// Runs SQL without results. Errors: `id`, H0612
[[nodiscard]] Result<void> execute(sqlite3* database,
                                   const char* sql,
                                   std::string_view id,
                                   const std::filesystem::path& file);

/// Errors: H0610, H0612
[[nodiscard]] Result<StatementHandle> prepare(sqlite3* database,
                                              std::string_view sql,
                                              const std::filesystem::path& file);

/// The first column of a query's first row. Errors: H0610, H0612
[[nodiscard]] Result<std::string> query_text(sqlite3* database,
                                             std::string_view sql,
                                             const std::filesystem::path& file);

/// A text column, embedded zeros included.
[[nodiscard]] std::string column_text(sqlite3_stmt* statement, int column);

}  // namespace hydro::store
