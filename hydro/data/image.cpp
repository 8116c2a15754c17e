#include "hydro/data/image.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "hydro/base/result.h"
#include "hydro/base/text.h"

namespace hydro::data {
namespace {

constexpr std::uint64_t kMostPixels = 64'000'000;
constexpr std::string_view kJpegStart = "\xFF\xD8\xFF";
constexpr std::string_view kPngStart = "\x89PNG\r\n\x1A\n";

std::string start_of(std::span<const std::byte> content) {
  constexpr std::size_t kShown = 12;
  std::string start;
  for (const std::byte b : content.first(std::min(content.size(), kShown))) {
    start += static_cast<char>(b);
  }
  return start;
}

}  // namespace

Error damaged_image(const std::string& why, const std::string& place) {
  return make_error("H0403", "the image is damaged")
      .at(place)
      .because(why)
      .fix("write or download the file again, or remove it");
}

Result<RgbImage> blank_image(std::uint64_t height,
                             std::uint64_t width,
                             const std::string& place) {
  if (width != 0 && height > kMostPixels / width) {
    return make_error("H0422",
                      "the image has " + std::to_string(height) + " x " +
                          std::to_string(width) + " pixels")
        .at(place)
        .because("at most " + std::to_string(kMostPixels / 1'000'000) +
                 " million are read: a small file can claim an image that fills the memory")
        .fix("make it smaller, or remove it");
  }
  RgbImage image{.height = static_cast<std::int64_t>(height),
                 .width = static_cast<std::int64_t>(width),
                 .pixels = {}};
  image.pixels.resize(height * width * 3);
  return image;
}

Result<RgbImage> decode_image(std::span<const std::byte> content, const std::string& place) {
  const std::string start = start_of(content);
  if (start.starts_with(kJpegStart)) {
    return decode_jpeg(content, place);
  }
  if (start.starts_with(kPngStart)) {
    return decode_png(content, place);
  }
  return make_error("H0402", "the file is neither JPEG nor PNG")
      .at(place)
      .because(start.empty() ? "it is empty" : "its first bytes are `" + printable(start) + "`")
      .fix("convert it to JPEG or PNG, or remove it");
}

}  // namespace hydro::data
