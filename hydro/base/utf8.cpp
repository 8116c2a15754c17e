#include "hydro/base/utf8.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace hydro {
namespace {

struct ByteRange {
  std::uint32_t low;
  std::uint32_t high;
};

/// Bytes that a sequence takes by its first one, or 0 when none starts so.
std::size_t length_by_lead(std::uint32_t lead) {
  if (lead < 0x80) {
    return 1;
  }
  if (lead < 0xC2 || lead > 0xF4) {
    return 0;
  }
  if (lead < 0xE0) {
    return 2;
  }
  return lead < 0xF0 ? 3 : 4;
}

/// What may follow the first byte.
ByteRange second_byte(std::uint32_t lead) {
  switch (lead) {
    case 0xE0:
      return {.low = 0xA0, .high = 0xBF};
    case 0xED:
      return {.low = 0x80, .high = 0x9F};
    case 0xF0:
      return {.low = 0x90, .high = 0xBF};
    case 0xF4:
      return {.low = 0x80, .high = 0x8F};
    default:
      return {.low = 0x80, .high = 0xBF};
  }
}

}  // namespace

std::size_t utf8_length(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t offset) -> std::uint32_t {
    return at + offset < text.size() ? static_cast<unsigned char>(text[at + offset]) : 0U;
  };
  const std::size_t length = length_by_lead(byte(0));
  ByteRange range = second_byte(byte(0));
  for (std::size_t offset = 1; offset < length; ++offset) {
    if (byte(offset) < range.low || byte(offset) > range.high) {
      return 0;
    }
    range = {.low = 0x80, .high = 0xBF};
  }
  return length;
}

}  // namespace hydro
