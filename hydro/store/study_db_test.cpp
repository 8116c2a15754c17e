#include "hydro/store/study_db.h"

#include <algorithm>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include "hydro/base/bytes.h"
#include "hydro/base/catalogue.h"
#include "hydro/base/file.h"
#include "hydro/base/result.h"
#include "hydro/base/testing.h"
#include "hydro/store/study_folder.h"
#include "hydro/store/testing.h"

namespace hydro::store {
namespace {

using hydro::testing::TemporaryFolder;
using hydro::testing::words;
using testing::Child;
using testing::numbered_event;
using testing::numbered_events;

class StudyDatabase : public ::testing::Test {
 protected:
  [[nodiscard]] std::filesystem::path file() const { return folder_ / "study.db"; }

  void write(std::int64_t count) const {
    auto database = StudyDb::create(file());
    ASSERT_EQ(words(database), "ok");
    ASSERT_EQ(words(database->append(numbered_events(1, count))), "ok");
  }

  /// Changes the file as a foreign program could.
  void spoil(const std::string& sql) const {
    sqlite3* raw = nullptr;
    ASSERT_EQ(::sqlite3_open(file().c_str(), &raw), SQLITE_OK);
    EXPECT_EQ(::sqlite3_exec(raw, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK)
        << ::sqlite3_errmsg(raw);
    ::sqlite3_close(raw);
  }

  /// The refusal's words, which must hold `id`, the file and `part`.
  void expect_refusal(const std::string& id, const std::string& part) const {
    for (const std::string& text : {words(read_events(file())), words(StudyDb::open(file()))}) {
      EXPECT_EQ(text.substr(0, 5), id) << text;
      EXPECT_NE(text.find(file().string()), std::string::npos) << text;
      EXPECT_NE(text.find(part), std::string::npos) << text;
    }
  }

  TemporaryFolder folder_;
};

TEST_F(StudyDatabase, GivesBackWhatWasAppended) {
  {
    auto database = StudyDb::create(file());
    ASSERT_EQ(words(database), "ok");
    EXPECT_EQ(database->append(numbered_events(1, 2)).value(), 2);
    EXPECT_EQ(database->append(numbered_events(3, 1)).value(), 3);
    EXPECT_EQ(words(database->close()), "ok");
  }
  const auto events = read_events(file());
  ASSERT_EQ(words(events), "ok");
  ASSERT_EQ(events->size(), 3U);
  EXPECT_EQ(events->at(2).seq, 3);
  EXPECT_EQ(events->at(2).event, numbered_event(3));
}

TEST_F(StudyDatabase, KeepsTextWithZerosQuotesAndOtherScripts) {
  const Event event{.type = "odd",
                    .version = 7,
                    .time_ns = -1,
                    .body = std::string("a\0b'\"; DROP TABLE event;--\xC3\xA9", 28)};
  auto database = StudyDb::create(file());
  ASSERT_EQ(words(database->append(std::vector{event})), "ok");
  EXPECT_EQ(read_events(file())->at(0).event, event);
}

TEST_F(StudyDatabase, GoesOnBehindTheLastEvent) {
  write(3);
  auto database = StudyDb::open(file());
  ASSERT_EQ(words(database), "ok");
  EXPECT_EQ(database->last_seq(), 3);
  EXPECT_EQ(database->append(numbered_events(4, 1)).value(), 4);
  EXPECT_EQ(read_events(file())->size(), 4U);
}

TEST_F(StudyDatabase, IsOneFileOnceClosed) {
  write(3);
  EXPECT_FALSE(std::filesystem::exists(file().string() + "-wal"));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_.path()), {}), 1);
}

TEST_F(StudyDatabase, IsReadWhileItIsWritten) {
  auto database = StudyDb::create(file());
  ASSERT_EQ(words(database->append(numbered_events(1, 2))), "ok");
  EXPECT_EQ(read_events(file())->size(), 2U);
  ASSERT_EQ(words(database->append(numbered_events(3, 1))), "ok");
  EXPECT_EQ(read_events(file())->size(), 3U);
}

TEST_F(StudyDatabase, RefusesEventsOnceItsFileIsGone) {
  auto database = StudyDb::create(file());
  ASSERT_EQ(words(database->append(numbered_events(1, 2))), "ok");
  const std::filesystem::path elsewhere = folder_ / "moved.db";
  std::filesystem::rename(file(), elsewhere);
  const std::string refused = words(database->append(numbered_events(3, 1)));
  EXPECT_EQ(refused.substr(0, 5), "H0618") << refused;
  EXPECT_NE(refused.find(file().string()), std::string::npos) << refused;
  std::filesystem::rename(elsewhere, file());
  EXPECT_EQ(database->append(numbered_events(3, 1)).value(), 3);
}

TEST_F(StudyDatabase, RefusesToBeCreatedTwice) {
  write(1);
  EXPECT_EQ(words(StudyDb::create(file())).substr(0, 5), "H0615");
}

TEST_F(StudyDatabase, EveryAcknowledgedEventSurvivesKill) {
  Child writer([&](const Child::Tell& acknowledged) {
    auto database = StudyDb::create(file()).value();
    for (std::int64_t first = 1;; first += 3) {
      acknowledged(database.append(numbered_events(first, 3)).value());
    }
  });
  std::int64_t last = 0;
  while (last < 60) {
    ASSERT_TRUE(writer.hear(last));
  }
  writer.kill();
  while (writer.hear(last)) {  // what it told before it died
  }
  const auto events = read_events(file());
  ASSERT_EQ(words(events), "ok");
  EXPECT_GE(static_cast<std::int64_t>(events->size()), last);
  EXPECT_EQ(events->size() % 3, 0U) << "a batch is kept whole or not at all";
  EXPECT_EQ(events->at(static_cast<std::size_t>(last) - 1).event, numbered_event(last));
  EXPECT_EQ(StudyDb::open(file())->last_seq(), static_cast<std::int64_t>(events->size()));
}

/// Leaves the log behind, as a killed process does.
void write_and_die(const std::filesystem::path& file, std::int64_t batches) {
  Child writer([&](const Child::Tell& acknowledged) {
    auto database = StudyDb::create(file).value();
    for (std::int64_t i = 0; i < batches; ++i) {
      acknowledged(database.append(numbered_events(2 * i + 1, 2)).value());
    }
    std::raise(SIGKILL);
  });
  std::int64_t last = 0;
  while (writer.hear(last)) {
  }
}

TEST_F(StudyDatabase, DropsATornCommitAtTheEndOfTheLog) {
  write_and_die(file(), 5);
  const std::filesystem::path log = file().string() + "-wal";
  std::filesystem::resize_file(log, std::filesystem::file_size(log) - 100);
  const auto events = read_events(file());
  ASSERT_EQ(words(events), "ok");
  EXPECT_EQ(events->size(), 8U);
  auto database = StudyDb::open(file());
  EXPECT_EQ(database->append(numbered_events(9, 1)).value(), 9);
}

/// Runs `work` as a user without rights over the folder, which becomes read-only; what it tells
/// last.
std::int64_t told_without_rights(const std::filesystem::path& folder,
                                 const std::function<std::int64_t()>& work) {
  using std::filesystem::perms;
  constexpr perms kRead = perms::owner_read | perms::group_read | perms::others_read;
  std::filesystem::permissions(
      folder, kRead | perms::owner_exec | perms::group_exec | perms::others_exec);
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::filesystem::permissions(entry.path(), kRead);
  }
  constexpr uid_t kNobody = 65534;
  const Child reader([&](const Child::Tell& tell) {
    HYDRO_CHECK(::geteuid() != 0 || ::setuid(kNobody) == 0);
    tell(work());
  });
  std::int64_t told = -1;
  while (reader.hear(told)) {
  }
  std::filesystem::permissions(folder, perms::owner_all);
  return told;
}

TEST_F(StudyDatabase, IsReadInAFolderWithoutWriteRights) {
  write(3);
  EXPECT_EQ(told_without_rights(
                folder_.path(),
                [&] { return static_cast<std::int64_t>(read_events(file())->size()); }),
            3);
}

TEST_F(StudyDatabase, LogOfAKilledWriterIsReadWithoutWriteRights) {
  write_and_die(file(), 5);
  std::filesystem::remove(file().string() + "-shm");
  EXPECT_EQ(told_without_rights(
                folder_.path(),
                [&] { return static_cast<std::int64_t>(read_events(file())->size()); }),
            10);
}

TEST_F(StudyDatabase, ReadOnlyFolderIsAStorageErrorBeforeAnything) {
  EXPECT_EQ(told_without_rights(
                folder_.path(),
                [&] { return words(StudyDb::create(file())).starts_with("H0610") ? 1 : 0; }),
            1);
  EXPECT_EQ(told_without_rights(
                folder_.path(),
                [&] {
                  return words(FolderLock::acquire(folder_.path())).starts_with("H0616") ? 1
                                                                                         : 0;
                }),
            1);
}

TEST_F(StudyDatabase, FullDiskFailsTheBatchAndKeepsTheRest) {
  Child writer([&](const Child::Tell& tell) {
    auto database = StudyDb::create(file()).value();
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{.rlim_cur = 200'000, .rlim_max = 200'000};
    HYDRO_CHECK(::setrlimit(RLIMIT_FSIZE, &limit) == 0);
    auto result = database.append(numbered_events(1, 1));
    for (std::int64_t i = 2; result.has_value() && i < 100; ++i) {
      tell(*result);
      Event event = numbered_event(i);
      event.body.append(10'000, ' ');
      result = database.append(std::vector{event});
    }
    tell(result.has_value() ? 0 : -std::stoll(result.error().id.substr(1)));
  });
  std::int64_t told = 0;
  std::int64_t last = 0;
  while (writer.hear(told)) {
    last = std::max(last, told);
  }
  EXPECT_EQ(told, -611);
  EXPECT_EQ(find_catalogue_row("H0611")->exit, ExitCode::kStorage);
  EXPECT_GT(last, 1);
  EXPECT_EQ(static_cast<std::int64_t>(read_events(file())->size()), last);
}

TEST_F(StudyDatabase, NamesTheRowWhoseContentChanged) {
  write(5);
  spoil("UPDATE event SET body = replace(body, '3', '4') WHERE seq = 3");
  expect_refusal("H0612", "seq 3");
  EXPECT_EQ(find_catalogue_row("H0612")->exit, ExitCode::kIncompatible);
}

TEST_F(StudyDatabase, NamesTheRowWhoseNumbersChanged) {
  write(5);
  spoil("UPDATE event SET time_ns = time_ns + 1 WHERE seq = 2");
  expect_refusal("H0612", "seq 2");
}

TEST_F(StudyDatabase, NamesAMissingRow) {
  write(5);
  spoil("DELETE FROM event WHERE seq = 2");
  expect_refusal("H0612", "seq 2");
}

TEST_F(StudyDatabase, NamesARowOfOtherTypes) {
  write(2);
  spoil("UPDATE event SET body = x'00FF' WHERE seq = 2");
  expect_refusal("H0612", "seq 2");
}

TEST_F(StudyDatabase, RefusesFilesThatAreNoDatabase) {
  ASSERT_EQ(words(write_text_durably(file(), std::string(5000, 'x'))), "ok");
  expect_refusal("H0612", "not a database");
}

TEST_F(StudyDatabase, RefusesAnotherProgramsDatabase) {
  spoil("CREATE TABLE note(text)");
  expect_refusal("H0612", "no study database");
}

TEST_F(StudyDatabase, RefusesATruncatedFile) {
  write(2'000);
  std::filesystem::resize_file(file(), 8192);
  expect_refusal("H0612", "malformed");
}

TEST_F(StudyDatabase, RefusesANewerFormatWithoutChangingAByte) {
  write(2);
  spoil("PRAGMA user_version = 2");
  const Bytes before = read_file(file()).value();
  expect_refusal("H0613", "format 2");
  EXPECT_EQ(read_file(file()).value(), before);
  EXPECT_EQ(find_catalogue_row("H0613")->exit, ExitCode::kIncompatible);
}

TEST_F(StudyDatabase, MissingFileIsNoStudy) {
  expect_refusal("H0617", "no study");
}

TEST_F(StudyDatabase, AFolderOrAPipeInItsPlaceIsAStorageError) {
  std::filesystem::create_directory(file());
  expect_refusal("H0610", "it is a folder");
  std::filesystem::remove(file());
  ASSERT_EQ(::mkfifo(file().c_str(), 0600), 0);
  expect_refusal("H0610", "no regular file");  // reading it would wait for ever
}

TEST_F(StudyDatabase, FolderThatCannotHoldItIsAStorageError) {
  const std::string text = words(StudyDb::create(folder_ / "missing/study.db"));
  EXPECT_EQ(text.substr(0, 5), "H0610") << text;
  EXPECT_EQ(find_catalogue_row("H0610")->exit, ExitCode::kStorage);
}

}  // namespace
}  // namespace hydro::store
