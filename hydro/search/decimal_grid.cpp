#include "hydro/search/decimal_grid.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <system_error>

#include "hydro/base/result.h"
#include "hydro/base/text.h"

namespace hydro::search {
namespace {

/// digits x 10^exponent
struct Decimal {
  std::int64_t digits = 0;
  int exponent = 0;
};

/// The shortest decimal that reads back as `value`: at most 17 digits, so it fits.
std::optional<Decimal> decimal_of(double value) {
  const std::string text = plain_number(value);
  const std::size_t mantissa_end = std::min(text.find('e'), text.size());
  Decimal decimal;
  if (mantissa_end < text.size()) {
    const std::size_t digits =
        text[mantissa_end + 1] == '+' ? mantissa_end + 2 : mantissa_end + 1;
    std::from_chars(text.data() + digits, text.data() + text.size(), decimal.exponent);
  }
  std::string mantissa = text.substr(0, mantissa_end);
  if (const std::size_t point = mantissa.find('.'); point != std::string::npos) {
    decimal.exponent -= static_cast<int>(mantissa.size() - point - 1);
    mantissa.erase(point, 1);
  }
  const char* end = mantissa.data() + mantissa.size();
  if (std::from_chars(mantissa.data(), end, decimal.digits).ec != std::errc()) {
    return std::nullopt;
  }
  return decimal;
}

/// `decimal` in units of 10^exponent, when it fits.
std::optional<std::int64_t> digits_at(const Decimal& decimal, int exponent) {
  std::int64_t digits = decimal.digits;
  for (int e = decimal.exponent; digits != 0 && e > exponent; --e) {
    if (__builtin_mul_overflow(digits, std::int64_t{10}, &digits)) {
      return std::nullopt;
    }
  }
  return digits;
}

double to_double(const Decimal& decimal) {
  const std::string text =
      std::to_string(decimal.digits) + 'e' + std::to_string(decimal.exponent);
  double value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

}  // namespace

double DecimalGrid::point(std::int64_t k) const {
  HYDRO_CHECK(k >= 0 && k <= last);
  return to_double({.digits = low + k * q, .exponent = exponent});
}

std::optional<double> decimal_multiple(double q, std::int64_t k) {
  auto decimal = decimal_of(q);
  if (!decimal || __builtin_mul_overflow(decimal->digits, k, &decimal->digits)) {
    return std::nullopt;
  }
  return to_double(*decimal);
}

std::optional<DecimalGrid> make_decimal_grid(double low, double high, double q) {
  const auto low_decimal = decimal_of(low);
  const auto high_decimal = decimal_of(high);
  const auto q_decimal = decimal_of(q);
  if (!low_decimal || !high_decimal || !q_decimal) {
    return std::nullopt;
  }
  const int exponent =
      std::min({low_decimal->exponent, high_decimal->exponent, q_decimal->exponent});
  const auto low_digits = digits_at(*low_decimal, exponent);
  const auto high_digits = digits_at(*high_decimal, exponent);
  const auto q_digits = digits_at(*q_decimal, exponent);
  std::int64_t width = 0;
  if (!low_digits || !high_digits || !q_digits ||
      __builtin_sub_overflow(*high_digits, *low_digits, &width) || width % *q_digits != 0) {
    return std::nullopt;
  }
  constexpr std::int64_t kMostPoints = std::int64_t{1}
                                       << 53;  // more than a draw can tell apart
  if (width / *q_digits >= kMostPoints) {
    return std::nullopt;
  }
  return DecimalGrid{
      .low = *low_digits, .q = *q_digits, .last = width / *q_digits, .exponent = exponent};
}

}  // namespace hydro::search
