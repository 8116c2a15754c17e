#include "hydro/run/fingerprints.h"

#include <cstddef>
#include <string>

#include <gtest/gtest.h>

#include "hydro/base/file.h"
#include "hydro/base/testing.h"

namespace hydro::run {
namespace {

using hydro::testing::TemporaryFolder;

/// The fingerprint of a file with that content.
std::string of(const std::string& content) {
  const TemporaryFolder folder;
  write_text_durably(folder / "data", content).value();
  return file_fingerprint(folder / "data").value();
}

TEST(Fingerprint, DependsOnTheContentAlone) {
  EXPECT_EQ(of("abc"), of("abc"));
  EXPECT_NE(of("abc"), of("abd"));
  EXPECT_NE(of(""), of(std::string(1, '\0')));
  EXPECT_EQ(of("abc").size(), 16U);
}

TEST(Fingerprint, SeesEveryPieceOfALongFile) {
  const std::string whole((std::size_t{2} << 20U) + 7, 'x');
  for (const std::size_t at : {std::size_t{0}, std::size_t{1} << 20U, whole.size() - 1}) {
    std::string changed = whole;
    changed[at] = 'y';
    EXPECT_NE(of(changed), of(whole)) << at;
  }
  EXPECT_NE(of(whole + "x"), of(whole));
}

TEST(Fingerprint, AMissingFileIsRefusedByName) {
  const auto missing = file_fingerprint("/no/such/file");
  EXPECT_EQ(hydro::testing::outcome(missing), "H0601");
  EXPECT_EQ(missing.error().where, "/no/such/file");
}

}  // namespace
}  // namespace hydro::run
