// Whole studies whose searcher is another process, from the job file on.
#include <filesystem>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hydro/base/catalogue.h"
#include "hydro/base/file.h"
#include "hydro/base/result.h"
#include "hydro/base/testing.h"
#include "hydro/run/check.h"
#include "hydro/run/testing.h"

namespace hydro::run {
namespace {

using ::testing::Contains;
using testing::FakeBackend;
using ::testing::HasSubstr;
using testing::JobFolder;
using testing::Start;
using testing::start_study;
namespace fs = std::filesystem;

/// A job whose `search` runs tests/data/searcher.py with a fault.
class SearcherStudy : public ::testing::Test {
 protected:
  Start start(const std::string& fault) {
    job_.tune = "  search: {command: [python3, " HYDRO_SOURCE_DIR "/tests/data/searcher.py, " +
                job_.folder.path().string() + ", \"" + fault + "\"]}\n";
    return start_study(job_.write(), job_.out(), FakeBackend());
  }

  JobFolder job_;
};

TEST_F(SearcherStudy, IsAskedToldAndItsAnswersAreTimed) {
  const Start start = this->start("none");
  ASSERT_EQ(hydro::testing::words(start.outcome), "ok");
  EXPECT_EQ(start.outcome->state.counts.finished, 3);
  EXPECT_EQ(read_text(job_.folder / "told").value().size(), std::string("0 1 2").size());
  EXPECT_THAT(start.logged, Contains(HasSubstr("searcher: 3 answers in ")));
}

TEST_F(SearcherStudy, OneThatFailsOnceCostsNoTrial) {
  const Start start = this->start("die:1:once");
  ASSERT_EQ(hydro::testing::words(start.outcome), "ok");
  EXPECT_EQ(start.outcome->state.counts.finished, 3);
  EXPECT_THAT(start.events, Contains("searcher_failed").Times(1));
}

TEST_F(SearcherStudy, ARefusalIsShownAtItsLineAndLeavesNoFolder) {
  const Error error = start("refuse").outcome.error();
  EXPECT_EQ(error.id, "H0725");
  EXPECT_THAT(error.where, HasSubstr("job.yaml:"));
  EXPECT_THAT(error.excerpt, HasSubstr("search: {command"));
  EXPECT_FALSE(fs::exists(job_.out()));
}

TEST_F(SearcherStudy, OneThatNeverAnswersEndsBeforeThereIsAStudy) {
  const Error error = start("dead").outcome.error();
  EXPECT_EQ(error.id, "H0724");
  EXPECT_EQ(find_catalogue_row(error.id)->exit, ExitCode::kEnvironment);
  EXPECT_THAT(error.where, HasSubstr("job.yaml:"));
  EXPECT_THAT(error.why, HasSubstr("nothing to say"));
  EXPECT_FALSE(fs::exists(job_.out()));
}

TEST_F(SearcherStudy, APythonWithoutOptunaIsToldHowToGetIt) {
  // -S: no packages but Python's own, wherever this runs.
  job_.python =
      testing::write_script(job_.folder / "bare", "exec /usr/bin/python3 -S \"$@\"\n");
  job_.tune = "  search: optuna\n";
  const Error error = start_study(job_.write(), job_.out(), FakeBackend()).outcome.error();
  EXPECT_EQ(error.id, "H0724");
  EXPECT_THAT(error.what, HasSubstr("needs the package optuna"));
  EXPECT_THAT(error.remedy, HasSubstr("-m pip install optuna"));
  EXPECT_FALSE(fs::exists(job_.out()));
}

TEST_F(SearcherStudy, ACheckMeetsARefusalToo) {
  job_.tune = "  search: {command: [./no-such-searcher]}\n";
  const auto report =
      check_job({.job = job_.write(), .settings = {}}, FakeBackend(), {}).value();
  ASSERT_EQ(report.refusals.size(), 1U);
  EXPECT_EQ(report.refusals[0].id, "H0724");
}

}  // namespace
}  // namespace hydro::run
