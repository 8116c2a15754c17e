#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "hydro/base/bytes.h"
#include "hydro/base/result.h"
#include "hydro/base/testing.h"
#include "hydro/data/dataset.h"
#include "hydro/data/testing.h"

namespace hydro::data {
namespace {

using hydro::testing::TemporaryFolder;
using hydro::testing::words;
using testing::gzip;
using testing::joined;
using testing::write_bytes;

using Integers = std::vector<std::int64_t>;

/// Its labels, then 1024 bytes each of red, green, blue: `red`, `red` + 1, `red` + 2.
Bytes record(const std::vector<std::uint8_t>& labels, unsigned red) {
  Bytes bytes;
  for (const std::uint8_t label : labels) {
    bytes.push_back(std::byte{label});
  }
  for (unsigned i = 0; i < 3072; ++i) {
    bytes.push_back(static_cast<std::byte>(red + i / 1024));
  }
  return bytes;
}

class Cifar : public ::testing::Test {
 protected:
  [[nodiscard]] std::filesystem::path write(const std::string& name,
                                            const Bytes& content) const {
    write_bytes(folder_ / name, content);
    return folder_ / name;
  }

  static Result<Dataset> load(const std::vector<std::filesystem::path>& files,
                              std::optional<CifarLabels> labels = {},
                              std::optional<std::int64_t> limit = {}) {
    return load_split(
        {.source = CifarSource{.files = files, .labels = labels}, .limit = limit});
  }

  static void expect_refusal(const Result<Dataset>& result,
                             const std::string& id,
                             const std::filesystem::path& file,
                             const std::string& part) {
    const std::string text = words(result);
    EXPECT_EQ(text.substr(0, 5), id) << text;
    EXPECT_NE(text.find(file.string()), std::string::npos) << text;
    EXPECT_NE(text.find(part), std::string::npos) << text;
  }

  TemporaryFolder folder_;
  std::filesystem::path ten_ = write("ten", joined({record({3}, 10), record({9}, 20)}));
  std::filesystem::path more_ = write("more", record({0}, 30));
  std::filesystem::path hundred_ =
      write("hundred", joined({record({19, 99}, 10), record({2, 50}, 20)}));
};

TEST_F(Cifar, ReadsFilesOneAfterAnotherAsColourImages) {
  const auto dataset = load({ten_, more_});
  ASSERT_EQ(words(dataset), "ok");
  EXPECT_EQ(dataset->size, 3);
  EXPECT_EQ(dataset->target.classes, (Integers{3, 9, 0}));
  const Field& field = dataset->inputs.at(0);
  EXPECT_EQ(field.shape, (Integers{3, 32, 32}));
  EXPECT_TRUE(field.is_image);
  EXPECT_EQ(field.bytes.size(), 3U * 3072U);
  EXPECT_EQ(field.bytes.at(0), std::byte{10});
  EXPECT_EQ(field.bytes.at(1024), std::byte{11});
  EXPECT_EQ(field.bytes.at(2 * 3072 + 3071), std::byte{32});
}

TEST_F(Cifar, TakesFineOrCoarseLabelsOfCifar100) {
  EXPECT_EQ(load({hundred_})->target.classes, (Integers{99, 50}));
  EXPECT_EQ(load({hundred_}, CifarLabels::kFine)->target.classes, (Integers{99, 50}));
  EXPECT_EQ(load({hundred_}, CifarLabels::kCoarse)->target.classes, (Integers{19, 2}));
  EXPECT_EQ(load({hundred_})->inputs.at(0).bytes.at(0), std::byte{10});
}

TEST_F(Cifar, LimitCountsOverAllFiles) {
  EXPECT_EQ(load({ten_, more_}, {}, 1)->target.classes, (Integers{3}));
  EXPECT_EQ(load({more_, ten_}, {}, 2)->target.classes, (Integers{0, 3}));
  EXPECT_EQ(load({ten_, more_}, {}, 99)->size, 3);
}

TEST_F(Cifar, MissingAndEmptyFilesAreNamed) {
  expect_refusal(load({ten_, folder_ / "none"}), "H0401", folder_ / "none", "No such file");
  expect_refusal(load({ten_, folder_.path()}), "H0401", folder_.path(), "directory");
  const auto empty = write("empty", {});
  expect_refusal(load({empty}), "H0405", empty, "empty");
}

TEST_F(Cifar, SizesThatAreNoRecordsAreNamed) {
  Bytes cut = record({3}, 10);
  cut.pop_back();
  const auto file = write("cut", cut);
  expect_refusal(load({ten_, file}), "H0403", file, "3072 bytes are no multiple of 3073");
  const auto packed = write("cifar.tar.gz", gzip(cut));
  expect_refusal(load({packed}), "H0403", packed, "unpacked");
}

TEST_F(Cifar, FilesOfBothVersionsAreNamed) {
  expect_refusal(load({ten_, hundred_}), "H0402", hundred_, ten_.string());
}

TEST_F(Cifar, ASizeOfBothVersionsNeedsTheWordForOne) {
  Bytes zeros(3073UL * 3074UL);
  const auto file = write("both", zeros);
  expect_refusal(load({file}), "H0402", file, "labels: fine");
  EXPECT_EQ(load({file}, CifarLabels::kFine)->size, 3073);
  EXPECT_EQ(load({file, ten_}, {}, 2)->size, 2) << "the other file tells";
}

TEST_F(Cifar, LabelsAreForCifar100Only) {
  expect_refusal(load({ten_}, CifarLabels::kCoarse), "H0402", ten_, "remove `labels`");
}

TEST_F(Cifar, LabelsBeyondTheClassesAreNamed) {
  const auto ten = write("wrong", joined({record({3}, 0), record({10}, 0)}));
  expect_refusal(load({ten}), "H0402", ten, "sample 1 has label 10");
  const auto fine = write("fine", record({3, 100}, 0));
  expect_refusal(load({fine}), "H0402", fine, "label 100");
  const auto coarse = write("coarse", record({20, 99}, 0));
  expect_refusal(load({coarse}), "H0402", coarse, "label 20");
}

}  // namespace
}  // namespace hydro::data
