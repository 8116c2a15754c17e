// hydro/store/study_db.h — `study.db`: a study's events in order, the truth from which all else
// is derived. SQLite in WAL mode with synchronous=FULL. Table event(seq, type, version,
// time_ns, body, crc32c); seq counts from 1 without gaps; crc32c covers the row's other
// columns, since SQLite's pages carry no checksum; `user_version` is the format. Look at it
// with `sqlite3 -readonly`.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "hydro/base/result.h"

namespace hydro::store {

inline constexpr int kStudyFormat = 1;

struct Event {
  std::string type;
  std::int64_t version = 1;  // of the body's form
  std::int64_t time_ns = 0;  // wall clock, since 1970
  std::string body;          // JSON
  bool operator==(const Event&) const = default;
};

struct StoredEvent {
  std::int64_t seq = 0;
  Event event;
};

/// The one connection that writes. Thread-safety: one thread. The caller holds the study
/// folder's lock.
class StudyDb {
 public:
  /// Errors: H0610 cannot be created; H0615 the file is there
  [[nodiscard]] static Result<StudyDb> create(const std::filesystem::path& file);
  /// Goes on behind the last event; all events are read and verified first.
  ///
  /// Errors: as read_events()
  [[nodiscard]] static Result<StudyDb> open(const std::filesystem::path& file);

  StudyDb(StudyDb&& other) noexcept;
  StudyDb& operator=(StudyDb&& other) noexcept;
  StudyDb(const StudyDb&) = delete;
  StudyDb& operator=(const StudyDb&) = delete;
  /// Closes; problems stay silent, since every acknowledged event is safe already.
  ~StudyDb();

  /// Writes a batch in one transaction: all of it or nothing. When it returns the last event's
  /// seq, the batch survives kill -9 and power loss.
  ///
  /// Errors: H0611; H0618 the file was moved or removed since it was opened
  [[nodiscard]] Result<std::int64_t> append(std::span<const Event> batch);
  [[nodiscard]] std::int64_t last_seq() const;
  /// Moves the write-ahead log into the file, so that `study.db` alone is the whole study.
  ///
  /// Errors: H0611
  [[nodiscard]] Result<void> close();

 private:
  struct Connection;
  explicit StudyDb(std::unique_ptr<Connection> connection);
  std::unique_ptr<Connection> connection_;
};

/// All events, verified; changes nothing and may run while another process writes. In a folder
/// where SQLite cannot make its shared-memory file, a copy is read.
///
/// Errors: H0610 cannot be opened; H0612 damaged, naming file and seq; H0613 newer format;
/// H0617 no such file
[[nodiscard]] Result<std::vector<StoredEvent>> read_events(const std::filesystem::path& file);

[[nodiscard]] std::string sqlite_version();

}  // namespace hydro::store
