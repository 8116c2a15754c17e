// hydro/job/utf8.h — whether bytes are plain UTF-8 text; asked before any parser sees them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace hydro::job {

struct BadByte {
  std::string what;
  int line = 1;
  int column = 1;
};

/// The first byte order mark, control character (but tab and line ends) or sequence that is not
/// UTF-8.
[[nodiscard]] std::optional<BadByte> find_bad_byte(std::string_view text);

}  // namespace hydro::job
