#include "hydro/run/fingerprints.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
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

/// An image folder of class `cat` with these files; listing reads names only.
class ImageFolderFingerprint : public ::testing::Test {
 protected:
  void write(const std::string& name, const std::string& content) const {
    make_folder(folder_ / "cat").value();
    write_text_durably(folder_ / "cat" / name, content).value();
  }

  [[nodiscard]] std::string fingerprint(std::optional<std::int64_t> limit = {}) const {
    return image_folder_fingerprint(folder_.path(), limit).value();
  }

  TemporaryFolder folder_;
};

TEST_F(ImageFolderFingerprint, DependsOnNamesAndContentsOfTheImages) {
  write("a.png", "1");
  write("b.png", "2");
  const std::string before = fingerprint();
  EXPECT_EQ(before.size(), 16U);
  write("notes.txt", "3");
  EXPECT_EQ(fingerprint(), before);
  write("b.png", "9");
  EXPECT_NE(fingerprint(), before);
  write("b.png", "2");
  EXPECT_EQ(fingerprint(), before);
  std::filesystem::rename(folder_ / "cat" / "b.png", folder_ / "cat" / "c.png");
  EXPECT_NE(fingerprint(), before);
}

TEST_F(ImageFolderFingerprint, IsOfWhatTheLimitTakes) {
  write("a.png", "1");
  const std::string before = fingerprint(1);
  write("b.png", "2");
  EXPECT_EQ(fingerprint(1), before);
  EXPECT_NE(fingerprint(2), before);
}

TEST_F(ImageFolderFingerprint, IsTheSameElsewhere) {
  write("a.png", "1");
  const TemporaryFolder elsewhere;
  std::filesystem::copy(
      folder_.path(), elsewhere / "copy", std::filesystem::copy_options::recursive);
  EXPECT_EQ(image_folder_fingerprint(elsewhere / "copy", {}).value(), fingerprint());
}

}  // namespace
}  // namespace hydro::run
