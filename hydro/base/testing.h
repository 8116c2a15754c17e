// hydro/base/testing.h — what tests of every room need: a folder that removes itself, and words
// for Results.
#pragma once

#include <cstddef>
#include <cstring>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <stdlib.h>  // NOLINT(modernize-deprecated-headers): mkdtemp is POSIX, not in <cstdlib>

#include "hydro/base/bytes.h"
#include "hydro/base/result.h"

namespace hydro::testing {

/// A new empty folder, removed with all that lies in it.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "hydro-test-XXXXXX").string();
    HYDRO_CHECK(::mkdtemp(pattern.data()) != nullptr, pattern);
    path_ = pattern;
  }

  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

  [[nodiscard]] std::filesystem::path operator/(std::string_view name) const {
    return path_ / name;
  }

 private:
  std::filesystem::path path_;
};

/// "ok", or the error's id: EXPECT_EQ(outcome(read_file(path)), "H0601").
template <class T>
[[nodiscard]] std::string outcome(const Result<T>& result) {
  return result.has_value() ? "ok" : result.error().id;
}

/// "ok", or every word that a user would read of the error, in one line.
template <class T>
[[nodiscard]] std::string words(const Result<T>& result) {
  if (result.has_value()) {
    return "ok";
  }
  const Error& error = result.error();
  return error.id + ": " + error.what + " @ " + error.where + " | " + error.why + " | " +
         error.remedy;
}

[[nodiscard]] inline Bytes to_bytes(std::string_view text) {
  const auto raw = std::as_bytes(std::span(text));
  return {raw.begin(), raw.end()};
}

/// The bytes of a row of numbers as they lie in memory.
template <class Number>
[[nodiscard]] Bytes bytes_of(const std::vector<Number>& numbers) {
  const auto raw = std::as_bytes(std::span(numbers));
  return {raw.begin(), raw.end()};
}

/// The inverse of bytes_of.
template <class Number>
[[nodiscard]] std::vector<Number> numbers_of(std::span<const std::byte> bytes) {
  std::vector<Number> numbers(bytes.size() / sizeof(Number));
  std::memcpy(numbers.data(), bytes.data(), numbers.size() * sizeof(Number));
  return numbers;
}

}  // namespace hydro::testing
