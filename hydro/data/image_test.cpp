#include "hydro/data/image.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "hydro/base/bytes.h"
#include "hydro/base/result.h"
#include "hydro/base/safetensors.h"
#include "hydro/base/testing.h"
#include "hydro/data/testing.h"

namespace hydro::data {
namespace {

using hydro::testing::numbers_of;
using hydro::testing::to_bytes;
using hydro::testing::words;
using testing::png_bytes;

/// Made by tests/data/images/make_golden.py with PIL.
SafeTensorFile golden() {
  return read_safetensors(std::filesystem::path(HYDRO_SOURCE_DIR) /
                          "tests/data/images/golden.safetensors")
      .value();
}

Bytes file_of(const SafeTensorFile& file, const std::string& name) {
  const auto& bytes = file.tensors.at(name).bytes;
  return {bytes.begin(), bytes.end()};
}

void expect_refusal(const Bytes& content, const std::string& id, const std::string& part) {
  const std::string text = words(decode_image(content, "cat/a.jpg"));
  EXPECT_EQ(text.substr(0, 5), id) << text;
  EXPECT_NE(text.find("cat/a.jpg"), std::string::npos) << text;
  EXPECT_NE(text.find(part), std::string::npos) << text;
}

TEST(DecodeImage, GivesTheValuesThatPilGives) {
  const SafeTensorFile file = golden();
  std::size_t cases = 0;
  for (const auto& [name, encoded] : file.tensors) {
    if (!name.starts_with("file_")) {
      continue;
    }
    const SafeTensor& rgb = file.tensors.at("rgb_" + name.substr(5));
    const auto image = decode_image(encoded.bytes, name);
    ASSERT_EQ(words(image), "ok") << name;
    EXPECT_EQ(image->height, rgb.shape[0]) << name;
    EXPECT_EQ(image->width, rgb.shape[1]) << name;
    EXPECT_EQ(numbers_of<std::uint8_t>(image->pixels), numbers_of<std::uint8_t>(rgb.bytes))
        << name;
    ++cases;
  }
  EXPECT_EQ(cases, 20U);
}

TEST(DecodeImage, RefusesColorsThatItCannotRead) {
  expect_refusal(file_of(golden(), "refused_cmyk"), "H0422", "CMYK");
  expect_refusal(file_of(golden(), "refused_grey_16_bits"), "H0422", "16 bits");
}

TEST(DecodeImage, RefusesAnImageThatEndsEarly) {
  for (const char* name : {"file_jpeg_420", "file_jpeg_progressive", "file_png_rgb"}) {
    const Bytes whole = file_of(golden(), name);
    for (const std::size_t missing : {std::size_t{1}, std::size_t{2}, whole.size() / 2}) {
      Bytes cut = whole;
      cut.resize(whole.size() - missing);
      expect_refusal(cut, "H0403", "the file ends inside the image");
    }
  }
}

TEST(DecodeImage, RefusesAFileThatIsOnlyItsFirstBytes) {
  for (const char* name : {"file_jpeg_420", "file_png_rgb"}) {
    Bytes cut = file_of(golden(), name);
    cut.resize(20);
    expect_refusal(cut, "H0403", "the file ends inside the image");
  }
}

TEST(DecodeImage, RefusesDamagedBytes) {
  Bytes jpeg = file_of(golden(), "file_jpeg_420");
  jpeg[3] = std::byte{0xC0};  // a frame header where the first segment begins
  expect_refusal(jpeg, "H0403", "damaged");
  Bytes png = file_of(golden(), "file_png_rgb");
  png[png.size() / 2] ^= std::byte{1};
  expect_refusal(png, "H0403", "damaged");
}

TEST(DecodeImage, TellsFormatsByTheirFirstBytes) {
  expect_refusal(to_bytes("GIF89a..."), "H0402", "`GIF89a");
  expect_refusal({}, "H0402", "it is empty");
  EXPECT_EQ(words(decode_image(png_bytes(1, 1, 7), "named.jpg")), "ok");
}

TEST(DecodeImage, RefusesImagesThatFillTheMemory) {
  expect_refusal(png_bytes(1, 1000, 0, 64'001), "H0422", "64 million");
  // What a header claims beyond its content is not read, but was asked for.
  expect_refusal(png_bytes(1, 1000, 0, 64'000), "H0403", "");
}

TEST(DecodeImage, RefusesAJpegThatClaimsTooMuch) {
  Bytes jpeg = file_of(golden(), "file_jpeg_grey");
  std::size_t at = 0;
  while (jpeg[at] != std::byte{0xFF} || jpeg[at + 1] != std::byte{0xC0}) {
    ++at;
  }
  for (std::size_t i = 5; i < 9; ++i) {  // height and width, behind length and depth
    jpeg[at + i] = std::byte{0xF0};
  }
  expect_refusal(jpeg, "H0422", "61680 x 61680");
}

}  // namespace
}  // namespace hydro::data
