#include "hydro/base/file.h"

#include <csignal>
#include <filesystem>
#include <iterator>
#include <string>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hydro/base/testing.h"

namespace hydro {
namespace {

using testing::outcome;
using testing::TemporaryFolder;
using testing::words;

TEST(File, ReadsBackWhatWasWritten) {
  const TemporaryFolder folder;
  const std::string text("line\n\0byte", 10);
  ASSERT_EQ(words(write_text_durably(folder / "a", text)), "ok");
  EXPECT_EQ(read_text(folder / "a").value(), text);
  EXPECT_EQ(read_file(folder / "a").value(), testing::to_bytes(text));
}

TEST(File, WritingReplacesAndLeavesNoOtherFile) {
  const TemporaryFolder folder;
  ASSERT_EQ(words(write_text_durably(folder / "a", "old and long")), "ok");
  ASSERT_EQ(words(write_text_durably(folder / "a", "new")), "ok");
  EXPECT_EQ(read_text(folder / "a").value(), "new");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
}

TEST(File, MissingFileAndFolderAreReadErrors) {
  const TemporaryFolder folder;
  const std::string text = words(read_file(folder / "none"));
  EXPECT_EQ(text.substr(0, 5), "H0601");
  EXPECT_NE(text.find("No such file"), std::string::npos) << text;
  EXPECT_EQ(outcome(read_text(folder.path())), "H0601");
}

TEST(File, LimitCountsWholeFiles) {
  const TemporaryFolder folder;
  ASSERT_EQ(words(write_text_durably(folder / "a", "12345")), "ok");
  EXPECT_EQ(outcome(read_text(folder / "a", 5)), "ok");
  EXPECT_EQ(outcome(read_text(folder / "a", 4)), "H0602");
  EXPECT_EQ(outcome(read_file(folder / "a", 0)), "H0602");
}

TEST(File, EndlessFilesStopAtTheLimit) {
  EXPECT_EQ(outcome(read_file("/dev/zero", 1'000'000)), "H0602");
}

TEST(File, UnwritablePlacesAreWriteErrors) {
  const TemporaryFolder folder;
  EXPECT_EQ(outcome(write_text_durably(folder / "none/a", "x")), "H0603");
  ASSERT_EQ(words(write_text_durably(folder / "a", "x")), "ok");
  EXPECT_EQ(outcome(make_folder(folder / "a/b")), "H0603");
}

TEST(File, FailedWriteLeavesTheOldContentAndNoTemporary) {
  const TemporaryFolder folder;
  ASSERT_EQ(words(write_text_durably(folder / "a", "old")), "ok");
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {  // a file system that is full after 1000 bytes
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{.rlim_cur = 1000, .rlim_max = 1000};
    const bool is_limited = ::setrlimit(RLIMIT_FSIZE, &limit) == 0;
    const bool is_refused =
        outcome(write_text_durably(folder / "a", std::string(5000, 'x'))) == "H0603";
    ::_exit(is_limited && is_refused ? 0 : 1);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(read_text(folder / "a").value(), "old");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
}

TEST(File, RenameOntoAFolderLeavesNoTemporary) {
  const TemporaryFolder folder;
  ASSERT_EQ(words(make_folder(folder / "a/b")), "ok");
  EXPECT_EQ(outcome(write_text_durably(folder / "a", "x")), "H0603");
  EXPECT_TRUE(std::filesystem::is_directory(folder / "a/b"));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
}

TEST(File, FoldersMayExist) {
  const TemporaryFolder folder;
  EXPECT_EQ(outcome(make_folder(folder / "x/y")), "ok");
  EXPECT_EQ(outcome(make_folder(folder / "x/y")), "ok");
}

}  // namespace
}  // namespace hydro
