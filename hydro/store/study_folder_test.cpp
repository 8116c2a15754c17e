#include "hydro/store/study_folder.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

#include "hydro/base/catalogue.h"
#include "hydro/base/file.h"
#include "hydro/base/testing.h"
#include "hydro/store/study_db.h"
#include "hydro/store/testing.h"

namespace hydro::store {
namespace {

using hydro::testing::TemporaryFolder;
using hydro::testing::words;
using testing::Child;
using testing::numbered_events;

TEST(StudyFolder, CountsUpFromTheName) {
  const TemporaryFolder runs;
  EXPECT_EQ(make_fresh_folder(runs / "runs", "a")->path, runs / "runs/a");
  EXPECT_EQ(make_fresh_folder(runs / "runs", "a")->path, runs / "runs/a-2");
  EXPECT_EQ(make_fresh_folder(runs / "runs", "a")->path, runs / "runs/a-3");
}

TEST(StudyFolder, LatestPointsToTheNewest) {
  const TemporaryFolder runs;
  ASSERT_EQ(words(make_fresh_folder(runs.path(), "a")), "ok");
  EXPECT_EQ(std::filesystem::read_symlink(runs / "latest"), "a");
  ASSERT_EQ(words(make_fresh_folder(runs.path(), "b")), "ok");
  EXPECT_EQ(std::filesystem::read_symlink(runs / "latest"), "b");
}

TEST(StudyFolder, NameCannotLeadElsewhere) {
  const TemporaryFolder runs;
  EXPECT_EQ(make_fresh_folder(runs.path(), "../x y")->path, runs / "-.-x-y");
  EXPECT_EQ(make_fresh_folder(runs.path(), "..")->path, runs / "-.");
  EXPECT_EQ(make_fresh_folder(runs.path(), "")->path, runs / "study");
  EXPECT_EQ(make_fresh_folder(runs.path(), "latest")->path, runs / "latest-2");
}

TEST(StudyFolder, RefusesAFolderThatHoldsAnotherStudy) {
  const TemporaryFolder folder;
  {
    auto database = StudyDb::create(folder / "study.db");
    ASSERT_EQ(words(database->append(numbered_events(1, 4))), "ok");
  }
  ASSERT_EQ(words(write_text_durably(folder / "result.json", "{}")), "ok");
  const std::string text = words(make_folder_at(folder.path()));
  EXPECT_EQ(text.substr(0, 5), "H0615") << text;
  EXPECT_NE(text.find("study.db, result.json; its database has 4 events"), std::string::npos)
      << text;
  EXPECT_EQ(find_catalogue_row("H0615")->exit, ExitCode::kUsage);
  EXPECT_EQ(read_text(folder / "result.json").value(), "{}");
}

TEST(StudyFolder, RefusesToOverwriteAUsersFiles) {
  for (const char* name : {"job.yaml", "log.txt", "trials.csv"}) {
    const TemporaryFolder folder;
    ASSERT_EQ(words(write_text_durably(folder / name, "mine")), "ok");
    EXPECT_EQ(words(make_folder_at(folder.path())).substr(0, 5), "H0615") << name;
  }
}

TEST(StudyFolder, MayLieBesideOtherFilesAndInNewFolders) {
  const TemporaryFolder folder;
  ASSERT_EQ(words(write_text_durably(folder / "notes.txt", "mine")), "ok");
  EXPECT_EQ(words(make_folder_at(folder.path())), "ok");
  EXPECT_EQ(words(make_folder_at(folder / "deep/er")), "ok");
}

TEST(StudyFolder, LockNamesItsHolder) {
  const TemporaryFolder folder;
  const auto first = FolderLock::acquire(folder.path());
  ASSERT_EQ(words(first), "ok");
  const std::string text = words(FolderLock::acquire(folder.path()));
  EXPECT_EQ(text.substr(0, 5), "H0614") << text;
  EXPECT_NE(text.find("held by process " + std::to_string(::getpid()) + " on "),
            std::string::npos)
      << text;
}

TEST(StudyFolder, LockEndsWithItsObject) {
  const TemporaryFolder folder;
  std::optional<FolderLock> lock = FolderLock::acquire(folder.path()).value();
  lock.reset();
  EXPECT_EQ(words(FolderLock::acquire(folder.path())), "ok");
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(StudyFolder, LockOfAKilledProcessIsFree) {
  const TemporaryFolder folder;
  Child holder([&](const Child::Tell& tell) {
    const auto lock = FolderLock::acquire(folder.path()).value();
    tell(1);
    ::pause();
  });
  std::int64_t told = 0;
  ASSERT_TRUE(holder.hear(told));
  EXPECT_EQ(words(FolderLock::acquire(folder.path())).substr(0, 5), "H0614");
  holder.kill();
  EXPECT_EQ(words(FolderLock::acquire(folder.path())), "ok");
}

TEST(StudyFolder, IsInUseWhileItsLockIsHeld) {
  const TemporaryFolder folder;
  EXPECT_FALSE(is_in_use(folder.path()));
  std::optional<FolderLock> lock = FolderLock::acquire(folder.path()).value();
  EXPECT_TRUE(is_in_use(folder.path()));
  lock.reset();
  EXPECT_FALSE(is_in_use(folder.path()));
}

TEST(StudyFolder, OpensOnlyWhatHoldsAStudy) {
  const TemporaryFolder folder;
  EXPECT_EQ(words(open_folder(folder.path())).substr(0, 5), "H0617");
  ASSERT_EQ(words(StudyDb::create(folder / "study.db")), "ok");
  const auto opened = open_folder(folder.path());
  ASSERT_EQ(words(opened), "ok");
  EXPECT_EQ(words(open_folder(folder.path())).substr(0, 5), "H0614");
}

TEST(StudyFolder, PlacesThatTakeNoFoldersAreStorageErrors) {
  const TemporaryFolder folder;
  ASSERT_EQ(words(write_text_durably(folder / "file", "x")), "ok");
  EXPECT_EQ(words(make_fresh_folder(folder / "file", "a")).substr(0, 5), "H0616");
  EXPECT_EQ(words(make_folder_at(folder / "file/a")).substr(0, 5), "H0616");
  EXPECT_EQ(words(FolderLock::acquire(folder / "none")).substr(0, 5), "H0616");
  EXPECT_EQ(find_catalogue_row("H0616")->exit, ExitCode::kStorage);
}

}  // namespace
}  // namespace hydro::store
