#include "hydro/job/utf8.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace hydro::job {
namespace {

/// Bytes that the sequence at `at` takes, or 0 when it is not UTF-8 (Unicode 15, table 3-7).
std::size_t sequence_length(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t offset) -> std::uint32_t {
    return at + offset < text.size() ? static_cast<unsigned char>(text[at + offset]) : 0U;
  };
  const auto continues = [&](std::size_t offset, std::uint32_t low, std::uint32_t high) {
    return byte(offset) >= low && byte(offset) <= high;
  };
  const std::uint32_t lead = byte(0);
  if (lead < 0x80) {
    return 1;
  }
  if (lead >= 0xC2 && lead <= 0xDF) {
    return continues(1, 0x80, 0xBF) ? 2 : 0;
  }
  if (lead >= 0xE0 && lead <= 0xEF) {
    const bool second = continues(1, lead == 0xE0 ? 0xA0 : 0x80, lead == 0xED ? 0x9F : 0xBF);
    return second && continues(2, 0x80, 0xBF) ? 3 : 0;
  }
  if (lead >= 0xF0 && lead <= 0xF4) {
    const bool second = continues(1, lead == 0xF0 ? 0x90 : 0x80, lead == 0xF4 ? 0x8F : 0xBF);
    return second && continues(2, 0x80, 0xBF) && continues(3, 0x80, 0xBF) ? 4 : 0;
  }
  return 0;
}

bool is_control(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (byte < 0x20 && c != '\t' && c != '\n' && c != '\r') || byte == 0x7F;
}

}  // namespace

std::optional<BadByte> find_bad_byte(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF") || text.starts_with("\xFF\xFE") ||
      text.starts_with("\xFE\xFF")) {
    return BadByte{.what = "the file starts with a byte order mark"};
  }
  BadByte bad;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = sequence_length(text, at);
    if (length == 0 || is_control(text[at])) {
      bad.what = length == 0 ? "this byte is not UTF-8" : "a control character";
      return bad;
    }
    bad.column += static_cast<int>(length);
    if (text[at] == '\n') {
      ++bad.line;
      bad.column = 1;
    }
    at += length;
  }
  return std::nullopt;
}

}  // namespace hydro::job
