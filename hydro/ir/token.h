// hydro/ir/token.h — the letters of a graph's text form, shared by its writer (text.cpp) and
// reader (parse.cpp).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "hydro/ir/graph.h"

namespace hydro::ir {

/// Letters of ops, values, dtypes and state-dict names that stand without quotes.
[[nodiscard]] bool is_word_letter(char letter);
/// In double quotes; quotes, backslashes and control characters escaped (\xNN).
[[nodiscard]] std::string quote(std::string_view text);
/// As it is when it is a word, else quoted.
[[nodiscard]] std::string name_text(std::string_view name);

/// "user", "parameter", "buffer", "constant".
[[nodiscard]] std::string_view input_kind_name(InputKind kind);
[[nodiscard]] std::optional<InputKind> find_input_kind(std::string_view name);
/// "user", "buffer".
[[nodiscard]] std::string_view output_kind_name(OutputKind kind);
[[nodiscard]] std::optional<OutputKind> find_output_kind(std::string_view name);

}  // namespace hydro::ir
