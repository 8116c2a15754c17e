// hydro/ir/cursor.h — a place in a graph's text: what stands there, and where it is for
// messages.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "hydro/base/result.h"

namespace hydro::ir {

class Cursor {
 public:
  explicit Cursor(std::string_view text) : text_(text) {}

  /// Skips blanks and whole-line comments; line ends too only with `kLines`.
  enum class Skip { kBlanks, kLines };
  void skip(Skip what);

  [[nodiscard]] bool at_end() const { return place_ == text_.size(); }

  /// '\0' at the end.
  [[nodiscard]] char peek() const { return at_end() ? '\0' : text_[place_]; }

  /// Takes `token` after blanks when it stands here.
  bool take(std::string_view token);
  /// As take(). Errors: H0259 with what was wanted.
  [[nodiscard]] Result<void> expect(std::string_view token);
  /// A run of word letters; empty when none stands here.
  std::string word();
  /// Errors: H0259 when no word or quoted text stands here.
  [[nodiscard]] Result<std::string> name();
  [[nodiscard]] Result<std::string> quoted();
  /// What is left of the line, trimmed; stops before the line end.
  std::string rest_of_line();

  [[nodiscard]] Error error(const std::string& what) const;

  [[nodiscard]] std::size_t place() const { return place_; }

  void go_back(std::size_t place) { place_ = place; }

 private:
  /// The letter that a backslash and what stands here mean.
  Result<char> escaped();

  std::string_view text_;
  std::size_t place_ = 0;
};

}  // namespace hydro::ir
