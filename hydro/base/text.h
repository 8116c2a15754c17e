// hydro/base/text.h — small text helpers: shortest numbers, suggestions, joining.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hydro {

/// Shortest decimal text that reads back as the same double; always with '.', 'e', "inf" or
/// "nan".
[[nodiscard]] std::string shortest(double value);
/// As shortest(), but whole numbers carry no point: for tables and CSV.
[[nodiscard]] std::string plain_number(double value);
/// The candidate nearest to `word` (at most a third of its letters wrong), or empty.
[[nodiscard]] std::string nearest(std::string_view word,
                                  std::span<const std::string> candidates);
[[nodiscard]] std::string join(std::span<const std::string> parts, std::string_view separator);
/// Shell-style: * and ?.
[[nodiscard]] bool matches_pattern(std::string_view pattern, std::string_view text);
/// Control characters and bytes that are no UTF-8 as \xNN, so that foreign text cannot steer a
/// terminal.
[[nodiscard]] std::string printable(std::string_view text);

}  // namespace hydro
