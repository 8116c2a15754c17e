#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <numeric>
#include <optional>
#include <span>
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

using hydro::testing::numbers_of;
using hydro::testing::TemporaryFolder;
using hydro::testing::words;
using testing::gzip;
using testing::idx_bytes;
using testing::write_bytes;

/// Three images 2x2 with bytes 0 to 11, labels 7, 8, 9; each test spoils one file.
class Idx : public ::testing::Test {
 protected:
  void SetUp() override {
    write_bytes(images(), images_);
    write_bytes(labels(), labels_);
  }

  [[nodiscard]] std::filesystem::path images() const { return folder_ / "images"; }

  [[nodiscard]] std::filesystem::path labels() const { return folder_ / "labels"; }

  [[nodiscard]] Result<Dataset> load(std::optional<std::int64_t> limit = {}) const {
    return load_split(
        {.source = IdxSource{.images = images(), .labels = labels()}, .limit = limit});
  }

  /// The refusal's words, which must hold `id` and the file.
  void expect_refusal(const std::string& id,
                      const std::string& file,
                      const std::string& part,
                      std::optional<std::int64_t> limit = {}) const {
    const std::string text = words(load(limit));
    EXPECT_EQ(text.substr(0, 5), id) << text;
    EXPECT_NE(text.find((folder_ / file).string()), std::string::npos) << text;
    EXPECT_NE(text.find(part), std::string::npos) << text;
  }

  TemporaryFolder folder_;
  std::vector<std::uint8_t> pixels_ = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  Bytes images_ = idx_bytes({3, 2, 2}, pixels_);
  Bytes labels_ = idx_bytes({3}, std::vector<std::uint8_t>{7, 8, 9});
};

TEST_F(Idx, ReadsPlainFilesAsOneChannelImages) {
  const auto dataset = load();
  ASSERT_EQ(words(dataset), "ok");
  EXPECT_EQ(dataset->size, 3);
  EXPECT_EQ(dataset->inputs.at(0).shape, (std::vector<std::int64_t>{1, 2, 2}));
  EXPECT_TRUE(dataset->inputs.at(0).is_image);
  EXPECT_EQ(numbers_of<std::uint8_t>(dataset->inputs.at(0).bytes), pixels_);
  EXPECT_EQ(dataset->target.classes, (std::vector<std::int64_t>{7, 8, 9}));
}

TEST_F(Idx, ReadsGzipFilesAlike) {
  const auto plain = load();
  write_bytes(images(), gzip(images_));
  write_bytes(labels(), gzip(labels_));
  const auto packed = load();
  ASSERT_EQ(words(packed), "ok");
  EXPECT_EQ(packed->inputs.at(0).bytes, plain->inputs.at(0).bytes);
  EXPECT_EQ(packed->target.classes, plain->target.classes);
}

TEST_F(Idx, ReadsSeveralGzipMembersAsOne) {
  const std::span<const std::byte> all(images_);
  Bytes packed = gzip(all.first(20));
  const Bytes rest = gzip(all.subspan(20));
  packed.insert(packed.end(), rest.begin(), rest.end());
  write_bytes(images(), packed);
  const auto dataset = load(1);
  ASSERT_EQ(words(dataset), "ok");
  EXPECT_EQ(dataset->size, 1);
}

TEST_F(Idx, LimitKeepsTheFirstSamples) {
  for (const bool packed : {false, true}) {
    write_bytes(images(), packed ? gzip(images_) : images_);
    const auto dataset = load(2);
    ASSERT_EQ(words(dataset), "ok");
    EXPECT_EQ(dataset->size, 2);
    EXPECT_EQ(numbers_of<std::uint8_t>(dataset->inputs.at(0).bytes),
              (std::vector<std::uint8_t>{0, 1, 2, 3, 4, 5, 6, 7}));
    EXPECT_EQ(dataset->target.classes, (std::vector<std::int64_t>{7, 8}));
  }
}

TEST_F(Idx, LimitAboveTheSizeTakesAll) {
  EXPECT_EQ(load(99)->size, 3);
}

TEST_F(Idx, MissingFileIsNamed) {
  std::filesystem::remove(images());
  expect_refusal("H0401", "images", "No such file");
}

TEST_F(Idx, WrongMagicShowsTheBytes) {
  images_[0] = std::byte{0x89};
  write_bytes(images(), images_);
  expect_refusal("H0402", "images", "`89 00 08 03`");
}

TEST_F(Idx, SwappedFilesAreTold) {
  write_bytes(images(), labels_);
  expect_refusal("H0402", "images", "not swapped");
}

TEST_F(Idx, OtherElementTypesAreRefused) {
  images_[2] = std::byte{0x0D};
  write_bytes(images(), images_);
  expect_refusal("H0409", "images", "0x0d");
}

TEST_F(Idx, TruncatedPlainFileIsNamed) {
  images_.pop_back();
  write_bytes(images(), images_);
  expect_refusal("H0403", "images", "28 bytes with the header; it holds 27");
}

TEST_F(Idx, FileThatEndsInItsHeaderIsNamed) {
  images_.resize(9);
  write_bytes(images(), images_);
  expect_refusal("H0403", "images", "inside its header");
}

TEST_F(Idx, TrailingBytesAreRefused) {
  images_.push_back(std::byte{1});
  write_bytes(images(), images_);
  expect_refusal("H0403", "images", "behind its last sample");
  write_bytes(images(), gzip(images_));
  expect_refusal("H0403", "images", "behind its last sample");
}

TEST_F(Idx, BytesBehindTheCompressedDataAreRefused) {
  Bytes packed = gzip(images_);
  packed.push_back(std::byte{'x'});
  write_bytes(images(), packed);
  expect_refusal("H0403", "images", "follow the end of the compressed data");
}

TEST_F(Idx, TruncatedGzipIsFoundAlsoBehindTheLimit) {
  std::vector<std::uint8_t> noise(40'000);
  std::iota(noise.begin(), noise.end(), std::uint8_t{0});
  for (std::size_t i = 0; i < noise.size(); ++i) {
    noise[i] = static_cast<std::uint8_t>(
        i * i * 7919 >> 5);  // hardly compressible, so that half a file has many samples
  }
  Bytes packed = gzip(idx_bytes({10'000, 2, 2}, noise));
  packed.resize(packed.size() / 2);
  write_bytes(images(), packed);
  expect_refusal("H0403", "images", "ends too early", 3);
}

TEST_F(Idx, DamagedGzipIsNamed) {
  Bytes packed = gzip(images_);
  packed[packed.size() - 6] ^= std::byte{0xFF};  // a byte of the checksum
  write_bytes(images(), packed);
  expect_refusal("H0403", "images", "damaged");
}

TEST_F(Idx, GzipShorterThanItsHeaderAnnouncesIsRefusedWithoutMemory) {
  write_bytes(images(), gzip(idx_bytes({2'000'000'000, 28, 28}, {})));
  expect_refusal("H0403", "images", "too short");
}

TEST_F(Idx, SizesThatOverflowAreRefused) {
  write_bytes(images(), idx_bytes({4'000'000'000, 4'000'000'000, 4'000'000'000}, {}));
  expect_refusal("H0402", "images", "overflow");
}

TEST_F(Idx, UnequalCountsNameBothFiles) {
  write_bytes(labels(), idx_bytes({2}, std::vector<std::uint8_t>{7, 8}));
  expect_refusal("H0404", "images", "3 samples in one file, 2 in another");
  expect_refusal("H0404", "labels", "holds 2");
}

TEST_F(Idx, EmptyDataSetIsRefused) {
  write_bytes(images(), idx_bytes({0, 2, 2}, {}));
  write_bytes(labels(), idx_bytes({0}, {}));
  expect_refusal("H0405", "labels", "no samples");
}

TEST_F(Idx, LimitOfZeroIsEmpty) {
  expect_refusal("H0405", "labels", "no samples", 0);
}

}  // namespace
}  // namespace hydro::data
