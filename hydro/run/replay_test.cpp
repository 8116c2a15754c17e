#include "hydro/run/replay.h"

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hydro/base/bytes.h"
#include "hydro/base/file.h"
#include "hydro/base/result.h"
#include "hydro/base/testing.h"
#include "hydro/run/testing.h"
#include "hydro/worker/messages.h"

namespace hydro::run {
namespace {

using hydro::testing::outcome;
using hydro::testing::words;
using testing::FakeBackend;
using ::testing::HasSubstr;
using testing::JobFolder;
using testing::Script;
using testing::start_study;
using worker::TrialId;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

worker::Report report_at(std::int64_t step, double loss) {
  return {.trial = TrialId{0}, .step = step, .epoch = 0, .metrics = {{"val_loss", loss}}};
}

bool agree(double then, double now, double tolerance) {
  return compare_reports({report_at(1, then)}, {report_at(1, now)}, tolerance).front().agrees;
}

TEST(CompareReports, BitForBitLetsNoBitPass) {
  EXPECT_TRUE(agree(.3, .3, 0));
  EXPECT_FALSE(agree(.3, std::nextafter(.3, 1), 0));
  EXPECT_FALSE(agree(0., -0., 0));
  EXPECT_TRUE(agree(kNan, kNan, 0));
}

TEST(CompareReports, ATolerancePassesAShareOfTheLargerOrOfOne) {
  EXPECT_TRUE(agree(100, 101.9, .02));
  EXPECT_FALSE(agree(100, 102.1, .02));
  EXPECT_TRUE(agree(.01, .029, .02));
  EXPECT_FALSE(agree(.01, .031, .02));
  EXPECT_FALSE(agree(.01, kNan, .02));
}

TEST(CompareReports, WhatOnlyOneRunReportedDiffers) {
  const auto numbers =
      compare_reports({report_at(1, .5), report_at(2, .4)}, {report_at(1, .5)}, 0);
  ASSERT_EQ(numbers.size(), 2U);
  EXPECT_TRUE(numbers[0].agrees);
  EXPECT_FALSE(numbers[1].agrees);
  EXPECT_EQ(numbers[1].then, .4);
  EXPECT_FALSE(numbers[1].now.has_value());
}

/// A study of three trials that ran with `script`.
struct Done {
  explicit Done(Script script = {}, const std::string& tune = "") {
    job.tune = tune;
    HYDRO_CHECK(start_study(job.write(), job.out(), FakeBackend(std::move(script)))
                    .outcome.has_value());
  }

  [[nodiscard]] Result<Replay> replay(std::int64_t trial, Script script = {}) const {
    return replay_trial(job.out(), TrialId{trial}, FakeBackend(std::move(script)), {});
  }

  JobFolder job;
};

/// As the default script, but `trial` gives `value`.
Script with(std::int64_t trial, double value) {
  return {.value = [=](TrialId id, worker::TrialKind) {
    return id == TrialId{trial} ? value : 0.5 + 0.01 * static_cast<double>(id);
  }};
}

TEST(Replay, AgreesWhenEveryNumberIsTheSame) {
  const Done done;
  const Result<Replay> replay = done.replay(1);
  ASSERT_EQ(words(replay), "ok");
  EXPECT_TRUE(replay->agrees());
  EXPECT_EQ(replay->study, "small");
  EXPECT_EQ(replay->tolerance, 0);
  EXPECT_EQ(replay->step, 6);
  EXPECT_EQ(replay->numbers.size(), 3U);
}

TEST(Replay, DiffersWhenOneDoes) {
  const Done done;
  const Result<Replay> replay = done.replay(1, with(1, .511));
  ASSERT_EQ(words(replay), "ok");
  EXPECT_FALSE(replay->agrees());
  EXPECT_EQ(replay->disagreeing(), 3);
  EXPECT_TRUE(done.replay(0, with(1, .511))->agrees());
}

TEST(Replay, OfAStackedTrialHasATolerance) {
  const Done done({}, "  fusion: 3\n");
  EXPECT_EQ(done.replay(1)->tolerance, kStackedTolerance);
  EXPECT_TRUE(done.replay(1, with(1, .515))->agrees());
  EXPECT_FALSE(done.replay(1, with(1, .55))->agrees());
}

TEST(Replay, OfATrialThatDivergedDivergesAgain) {
  const Done done(with(1, kNan));
  EXPECT_TRUE(done.replay(1, with(1, kNan))->agrees());
  const Result<Replay> sound = done.replay(1);
  ASSERT_EQ(words(sound), "ok");
  EXPECT_FALSE(sound->agrees());
  EXPECT_EQ(sound->cause_then, "the loss is not finite");
  EXPECT_EQ(sound->cause_now, "");
}

TEST(Replay, LeavesTheStudyAsItWas) {
  const Done done;
  const Bytes before = read_file(done.job.out() / "study.db").value();
  static_cast<void>(done.replay(1));
  EXPECT_EQ(read_file(done.job.out() / "study.db").value(), before);
}

TEST(Replay, NamesTheTrialsThereAre) {
  const Done done;
  for (const std::int64_t trial : {-1, 3}) {
    const Result<Replay> replay = done.replay(trial);
    ASSERT_EQ(outcome(replay), "H0633");
    EXPECT_EQ(replay.error().remedy, "its trials are 0 to 2");
  }
}

TEST(Replay, RefusesDataThatChanged) {
  Done done;
  done.job.write_split("train", 12, 1);
  const Result<Replay> replay = done.replay(1);
  ASSERT_EQ(outcome(replay), "H0632");
  EXPECT_THAT(replay.error().what, HasSubstr("train-labels"));
}

TEST(Replay, OfAFolderWithoutAStudyIsAnError) {
  const hydro::testing::TemporaryFolder folder;
  EXPECT_EQ(outcome(replay_trial(folder.path(), TrialId{0}, FakeBackend(), {})), "H0617");
}

TEST(Replay, StopsAtASignal) {
  const Done done;
  std::stop_source source;
  source.request_stop();
  EXPECT_EQ(
      outcome(replay_trial(done.job.out(), TrialId{0}, FakeBackend(), source.get_token())),
      "H0650");
}

}  // namespace
}  // namespace hydro::run
