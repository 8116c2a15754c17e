#include "hydro/run/run_log.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "hydro/base/clock.h"
#include "hydro/base/file.h"
#include "hydro/base/testing.h"

namespace hydro::run {
namespace {

using hydro::testing::TemporaryFolder;

TEST(RunLog, PutsATimeBeforeEachLineAndEndsItOnce) {
  const TemporaryFolder folder;
  {
    RunLog log(folder / "log.txt");
    log.line("with newline\n");
    log.line("100% {} without");
  }
  const std::string text = read_text(folder / "log.txt").value();
  constexpr std::size_t kStamp = 24;  // 2026-01-02T03:04:05.678 and a space
  ASSERT_EQ(text.size(), 2 * kStamp + std::string("with newline\n100% {} without\n").size());
  EXPECT_EQ(text[10], 'T');
  EXPECT_EQ(text.substr(kStamp, 13), "with newline\n");
  EXPECT_TRUE(text.ends_with(" 100% {} without\n"));
}

TEST(RunLog, AFileThatCannotBeOpenedSilencesTheLogOnly) {
  const TemporaryFolder folder;
  RunLog log(folder.path());  // a folder is no file
  log.line("lost");
  EXPECT_TRUE(std::filesystem::is_directory(folder.path()));
}

TEST(RunLog, AFullDiskSilencesTheLogOnly) {
  RunLog log("/dev/full");
  log.line("lost");
  log.line("lost too");
}

TEST(ProcessAge, IsUptimeLessTheStartBehindANameWithSpacesAndBrackets) {
  const std::string stat =
      "42 (a) b (c) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 1500 20 21";
  EXPECT_EQ(process_age_s(stat, "20.25 7.00\n", 100), 5.25);
}

TEST(ProcessAge, IsUnknownWhereTheTextsMakeNoSense) {
  EXPECT_EQ(process_age_s("", "20.25", 100), std::nullopt);
  EXPECT_EQ(process_age_s("42 (a) S 1 2", "20.25", 100), std::nullopt);
  EXPECT_EQ(
      process_age_s("42 (a) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 1500", "", 100),
      std::nullopt);
  // Started after now: another container's clock.
  EXPECT_EQ(
      process_age_s("42 (a) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 1500", "1", 100),
      std::nullopt);
}

TEST(ProcessAge, PutsTheStartBeforeNow) {
  const SystemClock clock;
  const std::int64_t start = process_start_ns(clock);
  EXPECT_LE(start, clock.mono_ns());
}

}  // namespace
}  // namespace hydro::run
