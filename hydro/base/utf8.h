// hydro/base/utf8.h — where a text is UTF-8.
#pragma once

#include <cstddef>
#include <string_view>

namespace hydro {

/// Bytes that the sequence at `at` takes, or 0 when it is not UTF-8 (Unicode 15, table 3-7).
[[nodiscard]] std::size_t utf8_length(std::string_view text, std::size_t at);

}  // namespace hydro
