#include "hydro/ir/token.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "hydro/ir/graph.h"

namespace hydro::ir {

namespace {

// In the order of the enumerators.
constexpr std::array<std::string_view, 4> kInputKinds = {
    "user", "parameter", "buffer", "constant"};
constexpr std::array<std::string_view, 2> kOutputKinds = {"user", "buffer"};

template <class Kind, std::size_t N>
std::optional<Kind> find_kind(const std::array<std::string_view, N>& names,
                              std::string_view name) {
  const auto* found = std::ranges::find(names, name);
  return found == names.end() ? std::nullopt
                              : std::optional(static_cast<Kind>(found - names.begin()));
}

}  // namespace

bool is_word_letter(char letter) {
  return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
         (letter >= '0' && letter <= '9') || letter == '_' || letter == '.' || letter == '-' ||
         letter == '+';
}

std::string quote(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string result = "\"";
  for (const char letter : text) {
    const auto byte = static_cast<unsigned char>(letter);
    if (letter == '"' || letter == '\\') {
      result += '\\';
      result += letter;
    } else if (byte < 0x20 || byte == 0x7f) {
      result += "\\x";
      result += kDigits[byte >> 4U];
      result += kDigits[byte & 15U];
    } else {
      result += letter;
    }
  }
  return result + "\"";
}

std::string name_text(std::string_view name) {
  const bool is_word = !name.empty() && std::ranges::all_of(name, is_word_letter);
  return is_word ? std::string(name) : quote(name);
}

std::string_view input_kind_name(InputKind kind) {
  return kInputKinds.at(static_cast<std::size_t>(kind));
}

std::optional<InputKind> find_input_kind(std::string_view name) {
  return find_kind<InputKind>(kInputKinds, name);
}

std::string_view output_kind_name(OutputKind kind) {
  return kOutputKinds.at(static_cast<std::size_t>(kind));
}

std::optional<OutputKind> find_output_kind(std::string_view name) {
  return find_kind<OutputKind>(kOutputKinds, name);
}

}  // namespace hydro::ir
