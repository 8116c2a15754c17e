#include "hydro/store/sqlite.h"

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

#include "hydro/base/result.h"

namespace hydro::store {
namespace {

constexpr int kBusyMilliseconds = 2'000;  // below the 5 s in which a stop must be through

}  // namespace

Error database_error(sqlite3* database,
                     std::string_view id,
                     const std::string& what,
                     const std::filesystem::path& file) {
  const int code = database == nullptr ? SQLITE_NOMEM : ::sqlite3_errcode(database);
  const bool is_damaged = code == SQLITE_CORRUPT || code == SQLITE_NOTADB;
  const char* reason =
      database == nullptr ? ::sqlite3_errstr(code) : ::sqlite3_errmsg(database);
  return make_error(is_damaged ? "H0612" : id,
                    is_damaged ? "the study database is damaged" : what)
      .at(file.string())
      .because(reason);
}

Result<DatabaseHandle> open_database(const std::filesystem::path& file, int flags) {
  sqlite3* raw = nullptr;
  const int code = ::sqlite3_open_v2(file.c_str(), &raw, flags | SQLITE_OPEN_NOMUTEX, nullptr);
  DatabaseHandle database(raw);  // SQLite gives a handle, to be closed, also when opening fails
  if (code != SQLITE_OK) {
    return database_error(database.get(), "H0610", "cannot open the study database", file);
  }
  ::sqlite3_busy_timeout(database.get(), kBusyMilliseconds);
  return database;
}

Result<void> execute(sqlite3* database,
                     const char* sql,
                     std::string_view id,
                     const std::filesystem::path& file) {
  if (::sqlite3_exec(database, sql, nullptr, nullptr, nullptr) != SQLITE_OK) {
    return database_error(
        database,
        id,
        id == "H0611" ? "cannot write to the study database" : "cannot open the study database",
        file);
  }
  return {};
}

Result<StatementHandle> prepare(sqlite3* database,
                                std::string_view sql,
                                const std::filesystem::path& file) {
  sqlite3_stmt* raw = nullptr;
  const int code =
      ::sqlite3_prepare_v2(database, sql.data(), static_cast<int>(sql.size()), &raw, nullptr);
  StatementHandle statement(raw);
  if (code != SQLITE_OK) {
    return database_error(database, "H0610", "cannot open the study database", file);
  }
  return statement;
}

Result<std::string> query_text(sqlite3* database,
                               std::string_view sql,
                               const std::filesystem::path& file) {
  HYDRO_TRY(const StatementHandle statement, prepare(database, sql, file));
  if (::sqlite3_step(statement.get()) != SQLITE_ROW) {
    return database_error(database, "H0610", "cannot open the study database", file);
  }
  return column_text(statement.get(), 0);
}

std::string column_text(sqlite3_stmt* statement, int column) {
  const unsigned char* text =
      ::sqlite3_column_text(statement, column);  // before its length is asked
  const int bytes = ::sqlite3_column_bytes(statement, column);
  return text == nullptr ? std::string()
                         : std::string(reinterpret_cast<const char*>(text),
                                       static_cast<std::size_t>(bytes));
}

}  // namespace hydro::store
