// What each distribution means; docs/search-space.md says it in words.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/base/text.h"
#include "hydro/search/decimal_grid.h"
#include "hydro/search/space.h"

namespace hydro::search {
namespace {

constexpr std::int64_t kLargestList = 1'000'000;

template <class T>
concept Options = std::is_same_v<T, Choice> || std::is_same_v<T, Grid>;
template <class T>
concept Quantised = std::is_same_v<T, QUniform> || std::is_same_v<T, QLogUniform>;
template <class T>
concept Logarithmic = std::is_same_v<T, LogUniform> || std::is_same_v<T, QLogUniform>;

struct Name {
  std::string_view operator()(const Uniform&) const { return "uniform"; }

  std::string_view operator()(const LogUniform&) const { return "loguniform"; }

  std::string_view operator()(const QUniform&) const { return "quniform"; }

  std::string_view operator()(const QLogUniform&) const { return "qloguniform"; }

  std::string_view operator()(const RandInt&) const { return "randint"; }

  std::string_view operator()(const Choice&) const { return "choice"; }

  std::string_view operator()(const Grid&) const { return "grid"; }
};

template <Quantised D>
DecimalGrid grid_of(const D& d) {
  const auto grid = make_decimal_grid(d.low, d.high, d.q);
  HYDRO_CHECK(grid.has_value(), "an unchecked distribution");
  return *grid;
}

// ---- Checks ----

Result<void> check_finite(std::initializer_list<double> bounds) {
  for (const double bound : bounds) {
    if (!std::isfinite(bound)) {
      return make_error("H0703", "bound " + plain_number(bound) + " is not a finite number");
    }
  }
  return {};
}

std::string range_text(double low, double high) {
  return "[" + plain_number(low) + ", " + plain_number(high) + "]";
}

Result<void> check_range(double low, double high) {
  HYDRO_TRY_VOID(check_finite({low, high}));
  if (low == high) {
    return make_error("H0701", "range " + range_text(low, high) + " is empty")
        .fix("write the value itself, or a wider range");
  }
  if (low > high) {
    return make_error("H0701", "range " + range_text(low, high) + " is inverted")
        .fix("write " + range_text(high, low));
  }
  return {};
}

Result<void> check_positive(double low) {
  if (low > 0) {
    return {};
  }
  return make_error("H0702", "a logarithmic range cannot start at " + plain_number(low))
      .because("bounds are values, not exponents; the logarithm of 0 is not finite")
      .fix("start above 0, such as 1e-6");
}

Result<void> check_grid(double low, double high, double q) {
  HYDRO_TRY_VOID(check_finite({q}));
  if (q <= 0) {
    return make_error("H0704", "step " + plain_number(q) + " is not above 0");
  }
  if (!make_decimal_grid(low, high, q)) {
    return make_error("H0704",
                      "upper bound " + plain_number(high) + " is not reached from " +
                          plain_number(low) + " in steps of " + plain_number(q))
        .because("the grid starts at the lower bound and both ends belong to it");
  }
  return {};
}

struct ToNumber {
  std::optional<double> operator()(bool) const { return std::nullopt; }

  std::optional<double> operator()(std::int64_t value) const {
    return static_cast<double>(value);
  }

  std::optional<double> operator()(double value) const { return value; }

  std::optional<double> operator()(const std::string&) const { return std::nullopt; }
};

/// 1 and 1.0 are one value.
bool same_value(const Value& a, const Value& b) {
  if (a == b) {
    return true;
  }
  const auto x = std::visit(ToNumber{}, a);
  return x && x == std::visit(ToNumber{}, b);
}

Result<void> check_options(const std::vector<Value>& options) {
  if (options.empty()) {
    return make_error("H0705", "there is nothing to choose from");
  }
  for (auto option = options.begin(); option != options.end(); ++option) {
    const double* number = std::get_if<double>(&*option);
    HYDRO_TRY_VOID(check_finite({number == nullptr ? 0.0 : *number}));
    const auto equal = [&](const Value& other) { return same_value(*option, other); };
    if (std::any_of(options.begin(), option, equal)) {
      return make_error("H0705", "option `" + to_text(*option) + "` is repeated");
    }
  }
  return {};
}

struct Check {
  template <Options D>
  Result<void> operator()(const D& d) const {
    return check_options(d.options);
  }

  Result<void> operator()(const RandInt& d) const {
    if (d.low >= d.high) {
      return make_error("H0701",
                        "range [" + std::to_string(d.low) + ", " + std::to_string(d.high) +
                            ") holds no integer")
          .because("the upper bound of randint does not belong to it, as in Ray");
    }
    std::int64_t width = 0;
    if (__builtin_sub_overflow(d.high, d.low, &width)) {
      return make_error("H0701", "the range of randint is wider than 63 bits");
    }
    return {};
  }

  template <class D>
  Result<void> operator()(const D& d) const {
    HYDRO_TRY_VOID(check_range(d.low, d.high));
    if constexpr (Logarithmic<D>) {
      HYDRO_TRY_VOID(check_positive(d.low));
    }
    if constexpr (Quantised<D>) {
      HYDRO_TRY_VOID(check_grid(d.low, d.high, d.q));
    }
    if (!std::isfinite(d.high - d.low)) {
      return make_error("H0703",
                        "the width of " + range_text(d.low, d.high) + " is not finite");
    }
    return {};
  }
};

// ---- Values ----

/// floor(u n), kept under n whatever the rounding.
std::int64_t index_at(double u, std::int64_t n) {
  return std::min(static_cast<std::int64_t>(u * static_cast<double>(n)), n - 1);
}

double log_value(double low, double high, double u) {
  const double start = std::log(low);
  return std::clamp(std::exp(start + u * (std::log(high) - start)), low, high);
}

struct Draw {
  double u = 0;

  Value operator()(const Uniform& d) const {
    return std::clamp(d.low + u * (d.high - d.low), d.low, d.high);
  }

  Value operator()(const LogUniform& d) const { return log_value(d.low, d.high, u); }

  Value operator()(const QUniform& d) const {
    const DecimalGrid grid = grid_of(d);
    return grid.point(index_at(u, grid.last + 1));
  }

  Value operator()(const QLogUniform& d) const {
    const DecimalGrid grid = grid_of(d);
    const double steps = (log_value(d.low, d.high, u) - d.low) / d.q;
    return grid.point(std::clamp<std::int64_t>(std::llround(steps), 0, grid.last));
  }

  Value operator()(const RandInt& d) const { return d.low + index_at(u, d.high - d.low); }

  template <Options D>
  Value operator()(const D& d) const {
    const auto count = static_cast<std::int64_t>(d.options.size());
    return d.options.at(static_cast<std::size_t>(index_at(u, count)));
  }
};

struct Count {
  std::optional<std::int64_t> operator()(const RandInt& d) const { return d.high - d.low; }

  template <Options D>
  std::optional<std::int64_t> operator()(const D& d) const {
    return static_cast<std::int64_t>(d.options.size());
  }

  template <Quantised D>
  std::optional<std::int64_t> operator()(const D& d) const {
    return grid_of(d).last + 1;
  }

  template <class D>
  std::optional<std::int64_t> operator()(const D& /*d*/) const {
    return std::nullopt;
  }
};

struct AtIndex {
  std::int64_t k = 0;

  Value operator()(const RandInt& d) const { return d.low + k; }

  template <Options D>
  Value operator()(const D& d) const {
    return d.options.at(static_cast<std::size_t>(k));
  }

  template <Quantised D>
  Value operator()(const D& d) const {
    return grid_of(d).point(k);
  }

  template <class D>
  Value operator()(const D& /*d*/) const {
    HYDRO_CHECK(false, "a continuous distribution has no k-th value");
    return {};
  }
};

struct Contains {
  const Value& value;

  template <Options D>
  bool operator()(const D& d) const {
    return std::ranges::find(d.options, value) != d.options.end();
  }

  bool operator()(const RandInt& d) const {
    const auto* integer = std::get_if<std::int64_t>(&value);
    return integer != nullptr && *integer >= d.low && *integer < d.high;
  }

  template <class D>
  bool operator()(const D& d) const {
    const auto number = std::visit(ToNumber{}, value);
    if (!number || !(*number >= d.low && *number <= d.high)) {
      return false;
    }
    if constexpr (Quantised<D>) {
      const DecimalGrid grid = grid_of(d);
      const std::int64_t k = std::llround((*number - d.low) / d.q);
      return grid.point(std::clamp<std::int64_t>(k, 0, grid.last)) == *number;
    }
    return true;
  }
};

}  // namespace

std::string_view distribution_name(const Distribution& distribution) {
  return std::visit(Name{}, distribution);
}

Result<void> check_distribution(const Distribution& distribution) {
  return std::visit(Check{}, distribution);
}

Value value_at(const Distribution& distribution, double u) {
  HYDRO_CHECK(u >= 0 && u < 1, plain_number(u));
  return std::visit(Draw{u}, distribution);
}

Value median(const Distribution& distribution) {
  const bool has_options = std::holds_alternative<Choice>(distribution) ||
                           std::holds_alternative<Grid>(distribution);
  return has_options ? value_of_index(distribution, 0) : value_at(distribution, 0.5);
}

std::optional<std::int64_t> value_count(const Distribution& distribution) {
  return std::visit(Count{}, distribution);
}

Value value_of_index(const Distribution& distribution, std::int64_t k) {
  return std::visit(AtIndex{k}, distribution);
}

std::optional<std::vector<Value>> values(const Distribution& distribution) {
  const auto count = value_count(distribution);
  if (!count || *count > kLargestList) {
    return std::nullopt;
  }
  std::vector<Value> all;
  all.reserve(static_cast<std::size_t>(*count));
  for (std::int64_t k = 0; k < *count; ++k) {
    all.push_back(value_of_index(distribution, k));
  }
  return all;
}

bool contains(const Distribution& distribution, const Value& value) {
  return std::visit(Contains{value}, distribution);
}

}  // namespace hydro::search
