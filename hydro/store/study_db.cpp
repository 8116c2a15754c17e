#include "hydro/store/study_db.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <sqlite3.h>
#include <stdlib.h>  // NOLINT(modernize-deprecated-headers): mkdtemp is of POSIX

#include "hydro/base/result.h"
#include "hydro/store/crc32c.h"
#include "hydro/store/sqlite.h"

namespace hydro::store {
namespace {

constexpr const char* kCreate =
    "BEGIN IMMEDIATE;"
    "CREATE TABLE event(seq INTEGER PRIMARY KEY, type TEXT NOT NULL, version INTEGER NOT NULL,"
    " time_ns INTEGER NOT NULL, body TEXT NOT NULL, crc32c INTEGER NOT NULL);"
    "PRAGMA user_version=1;"
    "COMMIT;";
static_assert(kStudyFormat == 1, "kCreate names the format");
constexpr std::string_view kInsert = "INSERT INTO event VALUES(?1, ?2, ?3, ?4, ?5, ?6)";
constexpr std::string_view kSelect =
    "SELECT seq, type, version, time_ns, body, crc32c FROM event ORDER BY seq";

std::uint32_t add_number(std::uint32_t crc, std::int64_t number) {
  auto bits = static_cast<std::uint64_t>(number);
  std::array<std::byte, sizeof(bits)> bytes{};
  for (std::byte& byte : bytes) {
    byte = static_cast<std::byte>(bits & 0xFFU);
    bits >>= 8U;
  }
  return crc32c(bytes, crc);
}

/// Lengths go in too, so that no text can move between columns unseen.
std::uint32_t add_text(std::uint32_t crc, const std::string& text) {
  return crc32c(std::as_bytes(std::span(text)),
                add_number(crc, static_cast<std::int64_t>(text.size())));
}

std::uint32_t checksum(const StoredEvent& row) {
  std::uint32_t crc = add_number(0, row.seq);
  crc = add_text(crc, row.event.type);
  crc = add_number(crc, row.event.version);
  crc = add_number(crc, row.event.time_ns);
  return add_text(crc, row.event.body);
}

Error damaged(const std::filesystem::path& file, std::int64_t seq, const std::string& problem) {
  return make_error(
             "H0612",
             "the study database is damaged at event " + std::to_string(seq) + ": " + problem)
      .at(file.string() + ", seq " + std::to_string(seq));
}

Result<void> check_format(sqlite3* database, const std::filesystem::path& file) {
  HYDRO_TRY(const std::string version, query_text(database, "PRAGMA user_version", file));
  const int format = std::atoi(version.c_str());
  if (format > kStudyFormat) {
    return make_error("H0613",
                      "the study has format " + version + ", this version reads up to " +
                          std::to_string(kStudyFormat))
        .at(file.string());
  }
  if (format < 1) {
    return make_error("H0612", "the file is no study database")
        .at(file.string())
        .because("it carries no format number");
  }
  return {};
}

StoredEvent row_of(sqlite3_stmt* statement) {
  return {.seq = ::sqlite3_column_int64(statement, 0),
          .event = {.type = column_text(statement, 1),
                    .version = ::sqlite3_column_int64(statement, 2),
                    .time_ns = ::sqlite3_column_int64(statement, 3),
                    .body = column_text(statement, 4)}};
}

Result<std::vector<StoredEvent>> select_events(sqlite3* database,
                                               const std::filesystem::path& file) {
  HYDRO_TRY_VOID(check_format(database, file));
  HYDRO_TRY(const StatementHandle statement, prepare(database, kSelect, file));
  std::vector<StoredEvent> events;
  int code = ::sqlite3_step(statement.get());
  for (; code == SQLITE_ROW; code = ::sqlite3_step(statement.get())) {
    StoredEvent row = row_of(statement.get());
    const auto expected = static_cast<std::int64_t>(events.size()) + 1;
    if (row.seq != expected) {
      return damaged(file, expected, "it is missing, the next is " + std::to_string(row.seq));
    }
    if (::sqlite3_column_int64(statement.get(), 5) != std::int64_t{checksum(row)}) {
      return damaged(file, row.seq, "its checksum does not match");
    }
    events.push_back(std::move(row));
  }
  if (code != SQLITE_DONE) {
    return database_error(database, "H0610", "cannot read the study database", file);
  }
  return events;
}

bool is_there(const std::filesystem::path& file) {
  std::error_code ignored;
  // Where it may not be seen, opening it says why.
  return std::filesystem::status(file, ignored).type() != std::filesystem::file_type::not_found;
}

/// A copy of the database with its log, in a folder that vanishes with it.
class ScratchCopy {
 public:
  explicit ScratchCopy(const std::filesystem::path& file) {
    std::string pattern =
        (std::filesystem::temp_directory_path(error_) / "hydro-read-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) {
      error_ = std::make_error_code(std::errc::permission_denied);
      return;
    }
    folder_ = pattern;
    take(file, copy());
    if (const std::string log = file.string() + "-wal"; !error_ && is_there(log)) {
      take(log, copy().string() + "-wal");
    }
  }

  ScratchCopy(const ScratchCopy&) = delete;
  ScratchCopy& operator=(const ScratchCopy&) = delete;

  ~ScratchCopy() {
    std::error_code ignored;
    if (!folder_.empty()) {
      std::filesystem::remove_all(folder_, ignored);
    }
  }

  [[nodiscard]] bool is_usable() const { return !error_; }

  [[nodiscard]] std::filesystem::path copy() const { return folder_ / "study.db"; }

 private:
  /// The copy is ours to write, whatever the rights of the original: SQLite recovers the log
  /// into it.
  void take(const std::filesystem::path& from, const std::filesystem::path& to) {
    using std::filesystem::perms;
    std::filesystem::copy_file(from, to, error_);
    if (!error_) {
      std::filesystem::permissions(to, perms::owner_read | perms::owner_write, error_);
    }
  }

  std::filesystem::path folder_;
  std::error_code error_;
};

Result<std::vector<StoredEvent>> read_in_place(const std::filesystem::path& file,
                                               const std::filesystem::path& name) {
  HYDRO_TRY(const DatabaseHandle database, open_database(file, SQLITE_OPEN_READONLY));
  return select_events(database.get(), name);
}

}  // namespace

struct StudyDb::Connection {
  std::filesystem::path file;
  DatabaseHandle database;
  StatementHandle insert;
  std::int64_t last_seq = 0;
};

namespace {

/// WAL with a flush at each commit; SQLite answers with the mode it really took.
Result<void> set_modes(sqlite3* database, const std::filesystem::path& file) {
  HYDRO_TRY(const std::string mode, query_text(database, "PRAGMA journal_mode=WAL", file));
  if (mode != "wal") {
    return make_error("H0610", "cannot open the study database")
        .at(file.string())
        .because("no write-ahead log: journal mode " + mode);
  }
  return execute(database, "PRAGMA synchronous=FULL; PRAGMA mmap_size=0;", "H0610", file);
}

Result<void> insert_event(const StoredEvent& row,
                          sqlite3* database,
                          sqlite3_stmt* insert,
                          const std::filesystem::path& file) {
  const auto bind_text = [&](int column, const std::string& text) {
    return ::sqlite3_bind_text64(
        insert, column, text.data(), text.size(), SQLITE_STATIC, SQLITE_UTF8);
  };
  const bool is_bound = ::sqlite3_bind_int64(insert, 1, row.seq) == SQLITE_OK &&
                        bind_text(2, row.event.type) == SQLITE_OK &&
                        ::sqlite3_bind_int64(insert, 3, row.event.version) == SQLITE_OK &&
                        ::sqlite3_bind_int64(insert, 4, row.event.time_ns) == SQLITE_OK &&
                        bind_text(5, row.event.body) == SQLITE_OK &&
                        ::sqlite3_bind_int64(insert, 6, checksum(row)) == SQLITE_OK;
  const bool is_done = is_bound && ::sqlite3_step(insert) == SQLITE_DONE;
  Result<void> result;
  if (!is_done) {
    result = database_error(database, "H0611", "cannot write to the study database", file);
  }
  ::sqlite3_reset(insert);
  return result;
}

/// SQLite goes on writing into a file that has no name any more, or another one.
Result<void> require_in_place(sqlite3* database, const std::filesystem::path& file) {
  int moved = 0;
  ::sqlite3_file_control(database, "main", SQLITE_FCNTL_HAS_MOVED, &moved);
  if (moved == 0) {
    return {};
  }
  return make_error("H0618", "the study's folder was moved or removed while it ran")
      .at(file.string())
      .because("its database is no longer the file of that name");
}

}  // namespace

StudyDb::StudyDb(std::unique_ptr<Connection> connection) : connection_(std::move(connection)) {}

StudyDb::StudyDb(StudyDb&& other) noexcept = default;
StudyDb& StudyDb::operator=(StudyDb&& other) noexcept = default;

StudyDb::~StudyDb() {
  if (connection_ && connection_->database) {
    (void)close();
  }
}

Result<StudyDb> StudyDb::create(const std::filesystem::path& file) {
  if (is_there(file)) {
    return make_error("H0615", "there is a study database already").at(file.string());
  }
  auto connection = std::make_unique<Connection>();
  connection->file = file;
  HYDRO_TRY(connection->database,
            open_database(file, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE));
  sqlite3* database = connection->database.get();
  HYDRO_TRY_VOID(set_modes(database, file));
  HYDRO_TRY_VOID(execute(database, kCreate, "H0610", file));
  HYDRO_TRY(connection->insert, prepare(database, kInsert, file));
  return StudyDb(std::move(connection));
}

Result<StudyDb> StudyDb::open(const std::filesystem::path& file) {
  // Read-only first: a damaged or newer database must not change by a byte.
  HYDRO_TRY(const std::vector<StoredEvent> events, read_events(file));
  auto connection = std::make_unique<Connection>();
  connection->file = file;
  connection->last_seq = static_cast<std::int64_t>(events.size());
  HYDRO_TRY(connection->database, open_database(file, SQLITE_OPEN_READWRITE));
  HYDRO_TRY_VOID(set_modes(connection->database.get(), file));
  HYDRO_TRY(connection->insert, prepare(connection->database.get(), kInsert, file));
  return StudyDb(std::move(connection));
}

Result<std::int64_t> StudyDb::append(std::span<const Event> batch) {
  HYDRO_CHECK(connection_ != nullptr);
  HYDRO_CHECK(connection_->database != nullptr, "append after close");
  Connection& c = *connection_;
  sqlite3* database = c.database.get();
  HYDRO_TRY_VOID(require_in_place(database, c.file));
  HYDRO_TRY_VOID(execute(database, "BEGIN IMMEDIATE", "H0611", c.file));
  std::int64_t seq = c.last_seq;
  Result<void> result;
  for (const Event& event : batch) {
    result = insert_event({.seq = ++seq, .event = event}, database, c.insert.get(), c.file);
    if (!result) {
      break;
    }
  }
  if (result) {
    result = execute(database, "COMMIT", "H0611", c.file);
  }
  if (!result) {
    ::sqlite3_exec(
        database, "ROLLBACK", nullptr, nullptr, nullptr);  // SQLite may have done so itself
    return std::move(result).error();
  }
  c.last_seq = seq;
  return seq;
}

std::int64_t StudyDb::last_seq() const {
  return connection_->last_seq;
}

Result<void> StudyDb::close() {
  HYDRO_CHECK(connection_ != nullptr);
  HYDRO_CHECK(connection_->database != nullptr, "closed twice");
  Connection& c = *connection_;
  c.insert.reset();
  const auto result =
      execute(c.database.get(), "PRAGMA wal_checkpoint(TRUNCATE)", "H0611", c.file);
  // A closed study is one file: whoever looks at it later makes no -wal beside it. While
  // somebody reads, SQLite refuses, and the mode stays as it is.
  static_cast<void>(query_text(c.database.get(), "PRAGMA journal_mode=DELETE", c.file));
  c.database.reset();
  return result;
}

Result<std::vector<StoredEvent>> read_events(const std::filesystem::path& file) {
  if (!is_there(file)) {
    return make_error("H0617", "no study database here").at(file.string());
  }
  std::error_code unknown;
  const auto type = std::filesystem::status(file, unknown).type();
  if (!unknown && type != std::filesystem::file_type::regular) {
    return make_error("H0610", "cannot open the study database")
        .at(file.string())
        .because(type == std::filesystem::file_type::directory ? "it is a folder"
                                                               : "it is no regular file")
        .fix("put the study's own file back in its place");
  }
  auto events = read_in_place(file, file);
  if (events || events.error().id != "H0610") {
    return events;
  }
  const ScratchCopy scratch(file);
  return scratch.is_usable() ? read_in_place(scratch.copy(), file) : std::move(events);
}

std::string sqlite_version() {
  return ::sqlite3_libversion();
}

}  // namespace hydro::store
