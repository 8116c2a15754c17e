// PNG by libpng, without any change of gamma or profile. Errors inside the library come back by
// longjmp: what it jumps over owns nothing.
#include <algorithm>
#include <array>
#include <csetjmp>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include <png.h>
#include <pngconf.h>

#include "hydro/base/result.h"
#include "hydro/data/image.h"

namespace hydro::data {
namespace {

struct Failure {
  std::jmp_buf back{};
  std::array<char, 128> text{};
};

/// What is still to be read.
struct Rest {
  const std::byte* bytes = nullptr;
  std::size_t count = 0;
};

extern "C" {
[[noreturn]] void give_up_png(png_structp png, png_const_charp text) {
  auto* failure = static_cast<Failure*>(png_get_error_ptr(png));
  // Copied: libpng may have put it together on the stack that is left.
  std::copy_n(
      text, std::min(std::strlen(text), failure->text.size() - 1), failure->text.begin());
  std::longjmp(failure->back, 1);
}

void ignore_png_warning(png_structp /*png*/, png_const_charp /*text*/) {}

void read_png_bytes(png_structp png, png_bytep to, std::size_t count) {
  auto* rest = static_cast<Rest*>(png_get_io_ptr(png));
  if (count > rest->count) {
    png_error(png, "the file ends inside the image");
  }
  std::copy_n(rest->bytes, count, reinterpret_cast<std::byte*>(to));
  rest->bytes += count;
  rest->count -= count;
}
}

class PngReader {
 public:
  explicit PngReader(std::span<const std::byte> content)
      : rest_{.bytes = content.data(), .count = content.size()},
        png_(png_create_read_struct(
            PNG_LIBPNG_VER_STRING, &failure_, &give_up_png, &ignore_png_warning)),
        info_(png_create_info_struct(png_)) {
    HYDRO_CHECK(info_ != nullptr, "libpng of another version, or no memory");
    png_set_read_fn(png_, &rest_, &read_png_bytes);
  }

  PngReader(const PngReader&) = delete;
  PngReader& operator=(const PngReader&) = delete;

  ~PngReader() { png_destroy_read_struct(&png_, &info_, nullptr); }

  [[nodiscard]] png_structp png() const { return png_; }

  [[nodiscard]] png_infop info() const { return info_; }

  /// False when libpng gave up in `step`, which must own nothing.
  template <class Step>
  [[nodiscard]] bool runs(const Step& step) {
    if (setjmp(failure_.back) != 0) {
      return false;
    }
    step(png_, info_);
    return true;
  }

  [[nodiscard]] std::string why() const { return failure_.text.data(); }

 private:
  Failure failure_;
  Rest rest_;
  png_structp png_;
  png_infop info_;
};

/// Whatever the file holds comes out as RGB of 8 bits; of 16 bits the high byte stays.
void ask_for_rgb(png_structp png, png_infop info) {
  png_set_expand(png);
  png_set_strip_16(png);
  png_set_strip_alpha(png);
  png_set_gray_to_rgb(png);
  png_set_interlace_handling(png);
  png_read_update_info(png, info);
}

std::vector<png_bytep> rows_of(RgbImage& image) {
  auto* pixels = reinterpret_cast<png_bytep>(image.pixels.data());
  std::vector<png_bytep> rows;
  rows.reserve(static_cast<std::size_t>(image.height));
  for (std::int64_t y = 0; y < image.height; ++y) {
    rows.push_back(pixels + y * image.width * 3);
  }
  return rows;
}

}  // namespace

Result<RgbImage> decode_png(std::span<const std::byte> content, const std::string& place) {
  PngReader reader(content);
  if (!reader.runs([](png_structp png, png_infop info) { png_read_info(png, info); })) {
    return damaged_image(reader.why(), place);
  }
  if (png_get_bit_depth(reader.png(), reader.info()) == 16 &&
      png_get_color_type(reader.png(), reader.info()) == PNG_COLOR_TYPE_GRAY) {
    return make_error("H0422", "the PNG has one channel of 16 bits")
        .at(place)
        .because("how its range becomes 8 bits is not known; torchvision would cut it at 255")
        .fix("save it with 8 bits, or give the data as arrays of float32");
  }
  HYDRO_TRY(RgbImage image,
            blank_image(png_get_image_height(reader.png(), reader.info()),
                        png_get_image_width(reader.png(), reader.info()),
                        place));
  std::vector<png_bytep> rows = rows_of(image);
  if (!reader.runs([&](png_structp png, png_infop info) {
        ask_for_rgb(png, info);
        png_read_image(png, rows.data());
        png_read_end(png, nullptr);
      })) {
    return damaged_image(reader.why(), place);
  }
  return image;
}

}  // namespace hydro::data
