#include "hydro/run/export_process.h"

#include <stop_token>
#include <string>

#include <gtest/gtest.h>

#include "hydro/base/result.h"
#include "hydro/base/testing.h"
#include "hydro/run/testing.h"

namespace hydro::run {
namespace {

using testing::EnvironmentVariable;

/// Exports with an interpreter that does `script`.
class ExportProcess : public ::testing::Test {
 protected:
  Result<std::string> run(const std::string& script, const std::stop_token& stop = {}) {
    request_.interpreter = testing::write_script(folder_ / "python", script);
    return export_model(request_, stop);
  }

  EnvironmentVariable home_{"HYDRO_HOME", HYDRO_SOURCE_DIR};
  hydro::testing::TemporaryFolder folder_;
  ExportRequest request_ = {.target = "nets:build",
                            .kwargs = R"({"depth": 2})",
                            .inputs = {"ids=int64[*,128]", "float32[*,3]"},
                            .folder = folder_.path(),
                            .interpreter = {},
                            .output = folder_ / "model.pt2"};
};

TEST_F(ExportProcess, TheExporterGetsTheWholeRequest) {
  const std::string folder = folder_.path().string();
  EXPECT_EQ(run("touch model.pt2; echo \"$@\"; pwd").value(),
            "-m hydro.export nets:build --args [] --kwargs {\"depth\": 2} --forward {} "
            "--initialization recorded --json -o " +
                folder + "/model.pt2 --input ids=int64[*,128] --input float32[*,3] --folder " +
                folder + "\n" + folder + "\n");
}

TEST_F(ExportProcess, OurPackageComesBeforeTheUsersOwnPath) {
  const EnvironmentVariable own("PYTHONPATH", "/users/packages");
  EXPECT_EQ(run("touch model.pt2; echo $PYTHONPATH").value(),
            HYDRO_SOURCE_DIR "/python:/users/packages\n");
}

TEST_F(ExportProcess, SuccessWithoutAnArchiveIsAnError) {
  EXPECT_EQ(hydro::testing::outcome(run("exit 0")), "H0260");
}

TEST_F(ExportProcess, ARefusalKeepsItsWords) {
  const auto refused =
      run("echo noise >&2\n"
          "echo '{\"id\": \"H0208\", \"what\": \"no callable\", \"where\": \"nets.py:3\", "
          "\"why\": \"a typo\", \"do\": \"rename it\"}' >&2\nexit 2");
  EXPECT_EQ(hydro::testing::words(refused),
            "H0208: no callable @ nets.py:3 | a typo | rename it");
}

TEST_F(ExportProcess, AOneLineRefusalWithoutItsNewlineIsRead) {
  EXPECT_EQ(
      hydro::testing::outcome(run("printf '{\"id\": \"H0208\", \"what\": \"x\"}' >&2; exit 2")),
      "H0208");
}

TEST_F(ExportProcess, AnythingElseMeansThatItDied) {
  const auto died = run("echo Segmentation fault >&2; exit 3");
  EXPECT_EQ(
      hydro::testing::words(died),
      "H0260: the exporter ended with code 3 @  | Segmentation fault | run `hydro export` "
      "by hand and read what Python prints");
}

TEST_F(ExportProcess, AnUnknownIdIsNoRefusal) {
  EXPECT_EQ(hydro::testing::outcome(run("echo '{\"id\": \"H9999\"}' >&2; exit 2")), "H0260");
}

TEST_F(ExportProcess, DyingWithoutAWordNamesTheSignal) {
  EXPECT_EQ(run("kill -9 $$").error().what, "the exporter was killed by signal 9");
}

TEST_F(ExportProcess, AStopEndsIt) {
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(hydro::testing::outcome(run("exec sleep 1000", stop.get_token())), "H0650");
}

TEST_F(ExportProcess, AMissingInterpreterIsRefused) {
  request_.interpreter = folder_ / "none";
  EXPECT_EQ(hydro::testing::outcome(export_model(request_, {})), "H0803");
}

TEST_F(ExportProcess, AMissingInstallationIsRefused) {
  const EnvironmentVariable elsewhere("HYDRO_HOME", folder_.path().string());
  EXPECT_EQ(hydro::testing::outcome(run("true")), "H0802");
}

}  // namespace
}  // namespace hydro::run
