#include "hydro/job/utf8.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "hydro/base/utf8.h"

namespace hydro::job {
namespace {

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
    const std::size_t length = utf8_length(text, at);
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
