// Golden cases: tests/golden/job/*.txt hold a job, a line `==== expected`, and what a user
// reads: the error, or the warnings. HYDRO_UPDATE_GOLDEN=1 writes them anew, to be reviewed as
// a diff.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "hydro/base/catalogue.h"
#include "hydro/base/result.h"
#include "hydro/job/job.h"
#include "hydro/job/testing.h"

namespace hydro::job {
namespace {

const std::filesystem::path kFolder =
    std::filesystem::path(HYDRO_SOURCE_DIR) / "tests/golden/job";
const std::string kMark = "==== expected\n";

std::string content(const std::filesystem::path& path) {
  std::ifstream stream(path);
  std::stringstream text;
  text << stream.rdbuf();
  return text.str();
}

std::string outcome(const std::string& text) {
  const auto job = testing::parse(text);
  if (!job) {
    return render(job.error());
  }
  std::string warnings;
  for (const Error& warning : job->warnings) {
    warnings += "warning" + render(warning).substr(std::string("error").size());
  }
  return warnings.empty() ? "accepted\n" : warnings;
}

std::vector<std::filesystem::path> cases() {
  std::set<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(kFolder)) {
    paths.insert(entry.path());
  }
  return {paths.begin(), paths.end()};
}

TEST(GoldenJobs, SayWhatTheyShould) {
  const bool update = std::getenv("HYDRO_UPDATE_GOLDEN") != nullptr;
  for (const auto& path : cases()) {
    const std::string text = content(path);
    const std::size_t mark = text.find(kMark);
    ASSERT_NE(mark, std::string::npos) << path;
    const std::string job = text.substr(0, mark);
    if (update) {
      std::ofstream(path) << job << kMark << outcome(job);
    }
    EXPECT_EQ(outcome(job), content(path).substr(mark + kMark.size())) << path;
  }
}

TEST(GoldenJobs, CoverEveryRowOfTheJobFileThatAFileCanShow) {
  // The rest have tests of their own: H0100 H0101 H0107 need files or bytes, H0112 H0124 no
  // file at all.
  const std::set<std::string_view> elsewhere{"H0100", "H0101", "H0107", "H0112", "H0124"};
  std::string all;
  for (const auto& path : cases()) {
    all += content(path);
  }
  for (const CatalogueRow& row : catalogue()) {
    if (row.id.starts_with("H01") && !elsewhere.contains(row.id)) {
      EXPECT_NE(all.find('[' + std::string(row.id) + ']'), std::string::npos) << row.id;
    }
  }
}

}  // namespace
}  // namespace hydro::job
