// hydro/data/image.h — one encoded image becomes RGB bytes, with the values that torchvision's
// image folders give (PIL's convert("RGB")): grey is repeated, a palette looked up, alpha
// dropped, a rotation tag ignored. Thread-safety: pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "hydro/base/bytes.h"
#include "hydro/base/result.h"

namespace hydro::data {

/// Pixels [H, W, 3].
struct RgbImage {
  std::int64_t height = 0;
  std::int64_t width = 0;
  Bytes pixels;
};

/// A JPEG or PNG, told by its first bytes; `place` is the file's name for messages.
///
/// Errors: H0402 neither of them, H0403 damaged or truncated, H0422 a form that is not read
[[nodiscard]] Result<RgbImage> decode_image(std::span<const std::byte> content,
                                            const std::string& place);

/// Errors: H0403, H0422 CMYK or too large
[[nodiscard]] Result<RgbImage> decode_jpeg(std::span<const std::byte> content,
                                           const std::string& place);

/// Errors: H0403, H0422 grey of 16 bits or too large
[[nodiscard]] Result<RgbImage> decode_png(std::span<const std::byte> content,
                                          const std::string& place);

/// Black, and not of more pixels than any photograph has: a small file may claim a huge image.
///
/// Errors: H0422
[[nodiscard]] Result<RgbImage> blank_image(std::uint64_t height,
                                           std::uint64_t width,
                                           const std::string& place);

[[nodiscard]] Error damaged_image(const std::string& why, const std::string& place);

}  // namespace hydro::data
