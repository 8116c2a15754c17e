#include "hydro/ir/cursor.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include "hydro/base/result.h"
#include "hydro/ir/token.h"

namespace hydro::ir {

namespace {

int hex_digit(char letter) {
  if (letter >= '0' && letter <= '9') {
    return letter - '0';
  }
  return letter >= 'a' && letter <= 'f' ? letter - 'a' + 10 : -1;
}

}  // namespace

void Cursor::skip(Skip what) {
  while (!at_end()) {
    const char letter = peek();
    if (letter == ' ' || letter == '\t' || letter == '\r' ||
        (letter == '\n' && what == Skip::kLines)) {
      ++place_;
    } else if (letter == '#' && what == Skip::kLines) {
      rest_of_line();
    } else {
      return;
    }
  }
}

bool Cursor::take(std::string_view token) {
  skip(Skip::kBlanks);
  if (!text_.substr(place_).starts_with(token)) {
    return false;
  }
  place_ += token.size();
  return true;
}

Result<void> Cursor::expect(std::string_view token) {
  return take(token) ? Result<void>() : error("expected `" + std::string(token) + "`");
}

std::string Cursor::word() {
  skip(Skip::kBlanks);
  const std::size_t start = place_;
  while (!at_end() && is_word_letter(peek())) {
    ++place_;
  }
  return std::string(text_.substr(start, place_ - start));
}

Result<std::string> Cursor::name() {
  skip(Skip::kBlanks);
  if (peek() == '"') {
    return quoted();
  }
  std::string result = word();
  if (result.empty()) {
    return error("expected a name");
  }
  return result;
}

Result<std::string> Cursor::quoted() {
  HYDRO_TRY_VOID(expect("\""));
  std::string result;
  while (!at_end() && peek() != '"' && peek() != '\n') {
    char letter = text_[place_++];
    if (letter == '\\') {
      HYDRO_TRY(letter, escaped());
    }
    result += letter;
  }
  HYDRO_TRY_VOID(expect("\""));
  return result;
}

Result<char> Cursor::escaped() {
  const char letter = peek();
  place_ = std::min(place_ + 1, text_.size());
  if (letter != 'x') {
    return letter;
  }
  const int high = place_ < text_.size() ? hex_digit(text_[place_]) : -1;
  const int low = place_ + 1 < text_.size() ? hex_digit(text_[place_ + 1]) : -1;
  if (high < 0 || low < 0) {
    return error("expected two hex digits after \\x");
  }
  place_ += 2;
  return static_cast<char>(high * 16 + low);
}

std::string Cursor::rest_of_line() {
  skip(Skip::kBlanks);
  const std::size_t end = text_.find('\n', place_);
  std::string_view rest =
      text_.substr(place_, end == std::string_view::npos ? end : end - place_);
  place_ += rest.size();
  while (!rest.empty() && (rest.back() == ' ' || rest.back() == '\r')) {
    rest.remove_suffix(1);
  }
  return std::string(rest);
}

Error Cursor::error(const std::string& what) const {
  const std::string_view before = text_.substr(0, place_);
  std::size_t line = 1;
  std::size_t column = 1;
  for (const char letter : before) {
    column = letter == '\n' ? 1 : column + 1;
    line += letter == '\n' ? 1 : 0;
  }
  return make_error("H0259", what)
      .at("graph text:" + std::to_string(line) + ":" + std::to_string(column));
}

}  // namespace hydro::ir
