#include "hydro/run/check.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hydro/base/file.h"
#include "hydro/base/result.h"
#include "hydro/base/testing.h"
#include "hydro/run/check_report.h"
#include "hydro/run/testing.h"
#include "hydro/shrink/coordinates.h"
#include "hydro/shrink/surrogate.h"

namespace hydro::run {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using testing::FakeBackend;
using ::testing::HasSubstr;
using testing::JobFolder;

class Check : public ::testing::Test {
 protected:
  CheckReport check(const FakeBackend& backend = FakeBackend(), bool coordinates = false) {
    const CheckRequest request = {
        .job = job_.write(), .settings = {}, .coordinates = coordinates};
    return check_job(request, backend, {}).value();
  }

  testing::EnvironmentVariable home_{"HYDRO_HOME", HYDRO_SOURCE_DIR};
  JobFolder job_;
};

TEST_F(Check, AGoodJobHasNoRefusal) {
  const CheckReport report = check();
  EXPECT_EQ(report.study, "small");
  EXPECT_EQ(report.scaling, 4);
  EXPECT_TRUE(report.refusals.empty()) << check_text(report);
  ASSERT_EQ(report.models.size(), 1U);
  EXPECT_LT(report.models[0].surrogate.surrogate_parameters,
            report.models[0].surrogate.target_parameters);
}

TEST_F(Check, TrialsAreGroupedByWhatTheyMayShare) {
  job_.batch_size = "{choice: [2, 4]}";
  job_.tune = "  fusion: 2\n";
  std::int64_t trials = 0;
  for (const CheckedGroup& group : check().groups) {
    EXPECT_EQ(group.containers, (group.trials + 1) / 2);
    trials += group.trials;
  }
  EXPECT_EQ(trials, 3);
}

TEST_F(Check, ARefusalOfTheDataStandsInTheReportBesideTheModel) {
  job_.write_split("val", 4, 200);
  const CheckReport report = check();
  ASSERT_EQ(report.refusals.size(), 1U);
  EXPECT_EQ(report.refusals[0].id, "H0406");
  EXPECT_EQ(report.models.size(), 1U);
  EXPECT_THAT(check_text(report), HasSubstr("error[H0406]"));
}

TEST_F(Check, ARefusalOfTheExporterStandsInTheReport) {
  testing::write_script(job_.python, "exit 1");
  const CheckReport report = check();
  ASSERT_EQ(report.refusals.size(), 1U);
  EXPECT_EQ(report.refusals[0].id, "H0260");
}

TEST_F(Check, AWrongPredictionStandsInTheReport) {
  FakeBackend backend;
  backend.shapes = make_error("H0307", "node conv1 gives [4, 2]");
  EXPECT_EQ(check(backend).refusals.at(0).id, "H0307");
}

TEST_F(Check, AWarningOfNarrowWidthsSaysWhatToDo) {
  EXPECT_THAT(check().warnings,
              Contains(AllOf(HasSubstr("narrower than 8"),
                             HasSubstr("lower `tune.scaling` (now 4) or set "
                                       "`tune.min_width: 8`"))));
}

TEST_F(Check, AnErrorOfTheJobFileIsReturned) {
  write_text_durably(job_.folder / "bad.yaml", "name: x\nmodle: {}\n").value();
  const auto refused =
      check_job({.job = job_.folder / "bad.yaml", .settings = {}}, FakeBackend(), {});
  EXPECT_EQ(hydro::testing::outcome(refused), "H0103");
}

TEST_F(Check, AWarningOfTheJobHasItsPlaceAndRemedy) {
  job_.tune = "  mode: min\n";
  EXPECT_THAT(check().warnings,
              Contains(AllOf(HasSubstr("job.yaml:17:9): "), HasSubstr("remove `mode`"))));
}

TEST_F(Check, AFirstReportBeforeBatchNormsKnowTheDataWarns) {
  job_.batch_size = "{choice: [2, 4]}";
  EXPECT_THAT(check().warnings,
              Contains(AllOf(HasSubstr("first report comes after 3 steps"),
                             HasSubstr("momentum 0.1"))));
}

TEST_F(Check, DefaultsThatAreUsedAreInTheReport) {
  EXPECT_THAT(check_text(check()), HasSubstr("\ndefaults used\n"));
  EXPECT_THAT(check_text(check()), HasSubstr("optimizer.momentum 0"));
}

TEST_F(Check, CoordinatesAreMeasuredOnRequestOnlyOverSixSeeds) {
  const FakeBackend backend;
  EXPECT_FALSE(check(backend).coordinates.has_value());
  EXPECT_TRUE(backend.requests.empty());
  EXPECT_TRUE(check(backend, true).coordinates->passed);
  EXPECT_EQ(backend.requests.at(0).seeds, 6);
}

TEST_F(Check, UnequalFirstLossesFailTheCheckByName) {
  FakeBackend backend;
  double loss = 2;
  backend.distort = [&loss](shrink::CoordinateMeasure& measure, const shrink::Surrogate&) {
    measure.first_losses = {loss, loss};
    loss += 1;
  };
  const CheckReport report = check(backend, true);
  EXPECT_FALSE(report.coordinates->passed);
  EXPECT_EQ(report.coordinates->misses.back().what, "step-1 loss");
  EXPECT_THAT(check_text(report), HasSubstr("\n  step-1 loss x1.5 (must be equal): FAILED\n"));
}

TEST_F(Check, ATemporaryFolderThatCannotBeMadeIsARefusal) {
  const testing::EnvironmentVariable temporary("TMPDIR", "/no/such/folder");
  EXPECT_EQ(check().refusals.at(0).id, "H0603");
}

TEST_F(Check, LeavesNothingInTheTemporaryFolder) {
  const hydro::testing::TemporaryFolder folder;
  const testing::EnvironmentVariable temporary("TMPDIR", folder.path().string());
  EXPECT_TRUE(check().refusals.empty());
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST_F(Check, AMissingDataFileIsShownWhereTheJobNamesIt) {
  std::filesystem::remove(job_.folder / "val-images");
  const Error error = check().refusals.at(0);
  EXPECT_EQ(error.id, "H0401");
  EXPECT_EQ(error.where, (job_.folder / "job.yaml").string() + ":8:30");
  EXPECT_THAT(error.excerpt, ::testing::EndsWith("                             ^^^^^^^^^^"));
}

TEST_F(Check, AMissingInterpreterIsShownWhereTheJobNamesIt) {
  job_.python = job_.folder / "nowhere";
  const Error error = check().refusals.at(0);
  EXPECT_EQ(error.id, "H0803");
  EXPECT_EQ(error.where, (job_.folder / "job.yaml").string() + ":5:11");
}

TEST_F(Check, AMissingModuleIsShownWhereTheJobNamesIt) {
  testing::write_script(job_.python,
                        R"(echo '{"id": "H0202", "what": "there is no module", "where": ""}' >&2
exit 2)");
  EXPECT_EQ(check().refusals.at(0).where, (job_.folder / "job.yaml").string() + ":3:11");
}

TEST_F(Check, AMissingCallableIsShownWhereTheJobNamesItAndWhereItIsNot) {
  testing::write_script(
      job_.python,
      R"(echo '{"id": "H0203", "what": "`models` has no `Cn`", "where": "/x/models.py"}' >&2
exit 2)");
  const Error error = check().refusals.at(0);
  EXPECT_EQ(error.where, (job_.folder / "job.yaml").string() + ":3:11");
  EXPECT_EQ(error.why, "it is not in /x/models.py");
}

TEST_F(Check, AFailureInsideTheUsersPythonKeepsItsPlace) {
  testing::write_script(
      job_.python,
      R"(echo '{"id": "H0202", "what": "importing failed", "where": "/x/models.py:3"}' >&2
exit 2)");
  EXPECT_EQ(check().refusals.at(0).where, "/x/models.py:3");
}

TEST_F(Check, AMissingArchiveIsShownWhereTheJobNamesIt) {
  const std::string text = read_text(job_.write()).value();
  const std::size_t model = text.find("  export:");
  write_text_durably(
      job_.folder / "file.yaml",
      text.substr(0, model) + "  file: nowhere.pt2\n" + text.substr(text.find("data:\n")))
      .value();
  const CheckReport report =
      check_job({.job = job_.folder / "file.yaml", .settings = {}}, FakeBackend(), {}).value();
  EXPECT_EQ(report.refusals.at(0).id, "H0254");
  EXPECT_EQ(report.refusals.at(0).where, (job_.folder / "file.yaml").string() + ":3:9");
}

/// The refusals of the job with this share of its training data for validation.
std::vector<Error> refusals_with_share(testing::JobFolder& job, const std::string& share) {
  const std::string text = read_text(job.write()).value();
  const std::size_t val = text.find("  val: ");
  const std::string shared = text.substr(0, val) + "  val_share: " + share + "\n" +
                             text.substr(text.find("train:\n  task"));
  write_text_durably(job.folder / "shared.yaml", shared).value();
  return check_job({.job = job.folder / "shared.yaml", .settings = {}}, FakeBackend(), {})
      ->refusals;
}

TEST_F(Check, OneSampleCannotBeShared) {
  job_.write_split("train", 1, 0);
  const std::vector<Error> refusals = refusals_with_share(job_, "0.5");
  ASSERT_EQ(refusals.size(), 1U);
  EXPECT_EQ(refusals[0].id, "H0405");
}

TEST_F(Check, AShareThatLeavesAPartEmptyIsRefused) {
  const std::vector<Error> none = refusals_with_share(job_, "1e-9");
  ASSERT_EQ(none.size(), 1U);
  EXPECT_EQ(none[0].id, "H0405");
  EXPECT_NE(none[0].what.find("no sample for validation"), std::string::npos) << none[0].what;
  EXPECT_NE(none[0].where.find("shared.yaml:"), std::string::npos) << none[0].where;
  const std::vector<Error> all = refusals_with_share(job_, "0.999999999");
  ASSERT_EQ(all.size(), 1U);
  EXPECT_NE(all[0].what.find("no sample for training"), std::string::npos) << all[0].what;
}

}  // namespace
}  // namespace hydro::run
