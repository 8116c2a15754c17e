// JPEG by libjpeg-turbo with its defaults, which are PIL's. Errors inside the library come back
// by longjmp: what it jumps over owns nothing.
#include <array>
#include <csetjmp>
#include <cstddef>
#include <cstdio>
#include <span>
#include <string>

#include <jerror.h>
#include <jpeglib.h>

#include "hydro/base/result.h"
#include "hydro/data/image.h"

namespace hydro::data {
namespace {

struct Failure {
  jpeg_error_mgr manager{};  // first: libjpeg hands out its address
  std::jmp_buf back{};
  std::array<char, JMSG_LENGTH_MAX> text{};
  bool ended_early = false;
};

Failure& failure_of(j_common_ptr info) {
  return *reinterpret_cast<Failure*>(info->err);
}

extern "C" {
[[noreturn]] void give_up_jpeg(j_common_ptr info) {
  Failure& failure = failure_of(info);
  failure.manager.format_message(info, failure.text.data());
  std::longjmp(failure.back, 1);
}

/// Of all warnings only this one means that pixels are missing and PIL refuses, too.
void note_jpeg_warning(j_common_ptr info, int level) {
  Failure& failure = failure_of(info);
  failure.ended_early =
      failure.ended_early || (level < 0 && failure.manager.msg_code == JWRN_JPEG_EOF);
}

void print_nothing(j_common_ptr /*info*/) {}
}

class JpegReader {
 public:
  JpegReader() {
    info_.err = jpeg_std_error(&failure_.manager);
    failure_.manager.error_exit = &give_up_jpeg;
    failure_.manager.emit_message = &note_jpeg_warning;
    failure_.manager.output_message = &print_nothing;
  }

  JpegReader(const JpegReader&) = delete;
  JpegReader& operator=(const JpegReader&) = delete;

  ~JpegReader() { jpeg_destroy_decompress(&info_); }

  [[nodiscard]] jpeg_decompress_struct& info() { return info_; }

  /// False when libjpeg gave up in `step`, which must own nothing.
  template <class Step>
  [[nodiscard]] bool runs(const Step& step) {
    if (setjmp(failure_.back) != 0) {
      return false;
    }
    step(info_);
    return !failure_.ended_early;
  }

  [[nodiscard]] std::string why() const {
    return failure_.ended_early ? "the file ends inside the image" : failure_.text.data();
  }

 private:
  Failure failure_;
  jpeg_decompress_struct info_{};
};

}  // namespace

Result<RgbImage> decode_jpeg(std::span<const std::byte> content, const std::string& place) {
  JpegReader reader;
  const auto* start = reinterpret_cast<const unsigned char*>(content.data());
  if (!reader.runs([&](jpeg_decompress_struct& info) {
        jpeg_create_decompress(&info);
        jpeg_mem_src(&info, start, content.size());
        jpeg_read_header(&info, TRUE);
      })) {
    return damaged_image(reader.why(), place);
  }
  const J_COLOR_SPACE colors = reader.info().jpeg_color_space;
  if (colors == JCS_CMYK || colors == JCS_YCCK) {
    return make_error("H0422", "the JPEG has CMYK colors")
        .at(place)
        .because("printing colors become RGB only by a color profile")
        .fix("convert it to RGB, or remove it");
  }
  HYDRO_TRY(RgbImage image,
            blank_image(reader.info().image_height, reader.info().image_width, place));
  auto* pixels = reinterpret_cast<unsigned char*>(image.pixels.data());
  if (!reader.runs([&](jpeg_decompress_struct& info) {
        info.out_color_space = JCS_RGB;
        jpeg_start_decompress(&info);
        while (info.output_scanline < info.output_height) {
          JSAMPROW row = pixels + std::size_t{info.output_scanline} * info.output_width * 3;
          jpeg_read_scanlines(&info, &row, 1);
        }
        jpeg_finish_decompress(&info);
      })) {
    return damaged_image(reader.why(), place);
  }
  return image;
}

}  // namespace hydro::data
