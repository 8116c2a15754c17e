// hydro/base/result.h — how anything from outside the program fails: Result<T> holds a value or
// an Error. The room `base` is namespace `hydro` itself, so that its words need no prefix.
// Errors of our own making are no Results: HYDRO_CHECK throws BugError.
#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace hydro {

/// What the caller can do about a failure.
enum class ErrorCode {
  kInvalidInput,
  kNotFound,
  kUnsupported,
  kCorrupt,
  kIo,
  kUnavailable,
  kOutOfMemory,
  kBug
};

/// One failure, in the words of `hydro explain`: `id` is a row of hydro/base/catalogue.h, which
/// gives the ErrorCode and the process exit code. Built by make_error(), refined by the chained
/// calls.
struct Error {
  std::string id;  // "H0103"
  ErrorCode code = ErrorCode::kBug;
  std::string what;   // lower case, names the thing and gives the value
  std::string where;  // file:line:column, user's source line, layer or tensor name
  std::string why;
  std::string remedy;   // printed after "do:"
  std::string kept;     // printed after "kept:"
  std::string excerpt;  // source line and caret, printed as it is

  Error at(std::string place) && {
    where = std::move(place);
    return std::move(*this);
  }

  Error because(std::string reason) && {
    why = std::move(reason);
    return std::move(*this);
  }

  Error fix(std::string what_to_do) && {
    remedy = std::move(what_to_do);
    return std::move(*this);
  }

  Error keeping(std::string what_is_kept) && {
    kept = std::move(what_is_kept);
    return std::move(*this);
  }

  Error showing(std::string lines) && {
    excerpt = std::move(lines);
    return std::move(*this);
  }
};

/// An error of catalogue row `id`; its remedy is the row's until fix() gives a better one.
///
/// Requires: `id` is in the catalogue (BugError)
[[nodiscard]] Error make_error(std::string_view id, std::string what);

/// A broken contract of our own code; caught at task boundaries only.
class BugError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

[[noreturn]] void fail_check(const char* condition,
                             const char* file,
                             int line,
                             const std::string& note);

#define HYDRO_CHECK(condition, ...)                                                    \
  do {                                                                                 \
    if (!(condition)) {                                                                \
      ::hydro::fail_check(#condition, __FILE__, __LINE__, ::std::string(__VA_ARGS__)); \
    }                                                                                  \
  } while (false)

/// Names follow std::expected, which C++20 lacks.
template <class T>
class [[nodiscard]] Result {
 public:
  using value_type = T;  // NOLINT(readability-identifier-naming): std::expected's name

  // NOLINTNEXTLINE(google-explicit-constructor): `return value;` as with std::expected
  Result(T value) : held_(std::in_place_index<0>, std::move(value)) {}

  // NOLINTNEXTLINE(google-explicit-constructor): `return make_error(...)`
  Result(Error error) : held_(std::in_place_index<1>, std::move(error)) {}

  [[nodiscard]] bool has_value() const { return held_.index() == 0; }

  explicit operator bool() const { return has_value(); }

  T& value() & {
    require();
    return std::get<0>(held_);
  }

  const T& value() const& {
    require();
    return std::get<0>(held_);
  }

  T&& value() && {
    require();
    return std::get<0>(std::move(held_));
  }

  T& operator*() & { return value(); }

  const T& operator*() const& { return value(); }

  T&& operator*() && { return std::move(*this).value(); }

  T* operator->() { return &value(); }

  const T* operator->() const { return &value(); }

  /// Requires: holds an error (BugError)
  Error& error() & {
    HYDRO_CHECK(!has_value());
    return std::get<1>(held_);
  }

  const Error& error() const& {
    HYDRO_CHECK(!has_value());
    return std::get<1>(held_);
  }

  Error&& error() && {
    HYDRO_CHECK(!has_value());
    return std::get<1>(std::move(held_));
  }

 private:
  void require() const {
    HYDRO_CHECK(has_value(), held_.index() == 1 ? std::get<1>(held_).what : "");
  }

  std::variant<T, Error> held_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;

  // NOLINTNEXTLINE(google-explicit-constructor): `return make_error(...)`
  Result(Error error) : error_(std::move(error)) {}

  [[nodiscard]] bool has_value() const { return !error_.has_value(); }

  explicit operator bool() const { return has_value(); }

  void value() const { HYDRO_CHECK(!error_.has_value(), error_->what); }

  Error& error() & {
    HYDRO_CHECK(error_.has_value());
    return *error_;
  }

  const Error& error() const& {
    HYDRO_CHECK(error_.has_value());
    return *error_;
  }

  Error&& error() && {
    HYDRO_CHECK(error_.has_value());
    return *std::move(error_);
  }

 private:
  std::optional<Error> error_;
};

#define HYDRO_CONCAT_INNER(a, b) a##b
#define HYDRO_CONCAT(a, b) HYDRO_CONCAT_INNER(a, b)

/// HYDRO_TRY(const Bytes bytes, read_file(path));  returns the error from the enclosing
/// function.
#define HYDRO_TRY(declaration, ...) \
  HYDRO_TRY_INNER(HYDRO_CONCAT(hydro_result_, __LINE__), declaration, __VA_ARGS__)
#define HYDRO_TRY_INNER(name, declaration, ...) \
  auto name = (__VA_ARGS__);                    \
  if (!name.has_value()) {                      \
    return ::std::move(name).error();           \
  }                                             \
  declaration = ::std::move(name).value()

/// HYDRO_TRY_VOID(write_file(path, bytes));
#define HYDRO_TRY_VOID(...)                                             \
  do {                                                                  \
    if (auto hydro_result = (__VA_ARGS__); !hydro_result.has_value()) { \
      return ::std::move(hydro_result).error();                         \
    }                                                                   \
  } while (false)

}  // namespace hydro
