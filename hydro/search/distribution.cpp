// What each distribution means; docs/search-space.md says it in words.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/base/text.h"
#include "hydro/search/decimal_grid.h"
#include "hydro/search/normal.h"
#include "hydro/search/space.h"
#include "hydro/search/traits.h"

namespace hydro::search {
namespace {

constexpr std::int64_t kLargestList = 1'000'000;

// ---- Draws ----

/// floor(u n), kept under n whatever the rounding.
std::int64_t index_at(double u, std::int64_t n) {
  return std::min(static_cast<std::int64_t>(u * static_cast<double>(n)), n - 1);
}

double log_value(double low, double high, double u) {
  const double start = std::log(low);
  return std::clamp(std::exp(start + u * (std::log(high) - start)), low, high);
}

/// The point whose interval holds the logarithmic draw: the nearest, or as in Ray the one
/// below.
template <Pointed D>
std::int64_t log_index(const D& d, double u) {
  const auto low = static_cast<double>(d.low);
  const double x = log_value(low, static_cast<double>(d.high), u);
  const double steps = (x - low) / static_cast<double>(step_of(d));
  return kIsHalfOpen<D> ? static_cast<std::int64_t>(steps) : std::llround(steps);
}

double multiple_of(double q, double x) {
  const auto value = decimal_multiple(q, std::llround(x / q));
  HYDRO_CHECK(value.has_value(), "an unchecked distribution");
  return *value;
}

struct Draw {
  double u = 0;

  template <Listed D>
  Value operator()(const D& d) const {
    const auto count = static_cast<std::int64_t>(d.options.size());
    return d.options.at(static_cast<std::size_t>(index_at(u, count)));
  }

  template <Normal D>
  Value operator()(const D& d) const {
    const double x = d.mean + d.sd * normal_quantile(u);
    if constexpr (Stepped<D>) {
      return multiple_of(d.q, x);
    } else {
      return x;
    }
  }

  template <Pointed D>
  Value operator()(const D& d) const {
    const auto points = points_of(d);
    const std::int64_t k = kIsLog<D> ? log_index(d, u) : index_at(u, points.last + 1);
    return points.point(std::clamp<std::int64_t>(k, 0, points.last));
  }

  template <Ranged D>
  Value operator()(const D& d) const {
    return kIsLog<D> ? log_value(d.low, d.high, u)
                     : std::clamp(d.low + u * (d.high - d.low), d.low, d.high);
  }
};

// ---- Counting ----

struct Count {
  template <Listed D>
  std::optional<std::int64_t> operator()(const D& d) const {
    return static_cast<std::int64_t>(d.options.size());
  }

  template <Pointed D>
  std::optional<std::int64_t> operator()(const D& d) const {
    return points_of(d).last + 1;
  }

  template <class D>
  std::optional<std::int64_t> operator()(const D& /*d*/) const {
    return std::nullopt;
  }
};

struct AtIndex {
  std::int64_t k = 0;

  template <Listed D>
  Value operator()(const D& d) const {
    return d.options.at(static_cast<std::size_t>(k));
  }

  template <Pointed D>
  Value operator()(const D& d) const {
    return points_of(d).point(k);
  }

  template <class D>
  Value operator()(const D& /*d*/) const {
    HYDRO_CHECK(false, "a distribution without an end has no k-th value");
    return {};
  }
};

struct Extremes {
  template <Listed D>
  std::vector<Value> operator()(const D& d) const {
    return d.options;
  }

  template <class D>
  std::vector<Value> operator()(const D& d) const {
    constexpr double kLast = 1 - 0x1p-53;  // the largest u
    return {Draw{0}(d), Draw{kLast}(d)};
  }

  template <Pointed D>
  std::vector<Value> operator()(const D& d) const {
    const auto points = points_of(d);
    return {points.point(0), points.point(points.last)};
  }

  template <Ranged D>
  std::vector<Value> operator()(const D& d) const {
    return {d.low, d.high};
  }
};

// ---- Membership ----

/// Whether `x` is meant to be `point`: what another program computed in steps of q is off by
/// rounding.
bool is_near(double x, double point, double q) {
  constexpr double kTolerance = 1e-6;
  return std::abs(x - point) <= kTolerance * q;
}

struct Member {
  const Value& given;

  template <Listed D>
  std::optional<Value> operator()(const D& d) const {
    const auto exact = std::ranges::find(d.options, given);
    const auto found = exact != d.options.end()
                           ? exact
                           : std::ranges::find_if(d.options, [this](const Value& option) {
                               return same_value(option, given);
                             });
    return found == d.options.end() ? std::nullopt : std::optional(*found);
  }

  template <Normal D>
  std::optional<Value> operator()(const D& d) const {
    const auto x = number_in(given);
    if (!x || !std::isfinite(*x)) {
      return std::nullopt;
    }
    if constexpr (Stepped<D>) {
      const auto multiple = decimal_multiple(d.q, std::llround(*x / d.q));
      return multiple && is_near(*x, *multiple, d.q) ? std::optional<Value>(*multiple)
                                                     : std::nullopt;
    } else {
      return *x;
    }
  }

  template <Whole D>
  std::optional<Value> operator()(const D& d) const {
    const auto x = number_in(given);
    const auto points = points_of(d);
    if (!x || *x != std::floor(*x) || std::abs(*x) > kExact) {
      return std::nullopt;
    }
    const auto* whole = std::get_if<std::int64_t>(&given);
    const std::int64_t value = whole != nullptr ? *whole : static_cast<std::int64_t>(*x);
    const bool inside =
        value >= d.low && value <= points.point(points.last) && (value - d.low) % points.q == 0;
    return inside ? std::optional<Value>(value) : std::nullopt;
  }

  template <Ranged D>
  std::optional<Value> operator()(const D& d) const {
    const auto x = number_in(given);
    if constexpr (Stepped<D>) {
      const auto points = points_of(d);
      if (!x || !(*x >= d.low - d.q && *x <= d.high + d.q)) {
        return std::nullopt;
      }
      const std::int64_t nearest = std::llround((*x - d.low) / d.q);
      const double point = points.point(std::clamp<std::int64_t>(nearest, 0, points.last));
      return is_near(*x, point, d.q) ? std::optional<Value>(point) : std::nullopt;
    } else {
      return x && *x >= d.low && *x <= d.high ? std::optional<Value>(*x) : std::nullopt;
    }
  }

 private:
  static constexpr double kExact = 0x1p62;  // a double up to here fits an integer
};

struct ToNumber {
  std::optional<double> operator()(bool) const { return std::nullopt; }

  std::optional<double> operator()(std::int64_t value) const {
    return static_cast<double>(value);
  }

  std::optional<double> operator()(double value) const { return value; }

  std::optional<double> operator()(const std::string&) const { return std::nullopt; }
};

}  // namespace

std::optional<double> number_in(const Value& value) {
  return std::visit(ToNumber{}, value);
}

bool same_value(const Value& a, const Value& b) {
  if (a == b) {
    return true;
  }
  const auto x = number_in(a);
  return x && x == number_in(b);
}

std::string_view distribution_name(const Distribution& distribution) {
  return std::visit([]<class D>(const D& /*d*/) { return D::kName; }, distribution);
}

bool has_options(const Distribution& distribution) {
  return std::visit([]<class D>(const D& /*d*/) { return Listed<D>; }, distribution);
}

Value value_at(const Distribution& distribution, double u) {
  HYDRO_CHECK(u >= 0 && u < 1, plain_number(u));
  return std::visit(Draw{u}, distribution);
}

Value median(const Distribution& distribution) {
  return has_options(distribution) ? value_of_index(distribution, 0)
                                   : value_at(distribution, 0.5);
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

std::vector<Value> extremes(const Distribution& distribution) {
  return std::visit(Extremes{}, distribution);
}

std::optional<Value> member(const Distribution& distribution, const Value& given) {
  return std::visit(Member{given}, distribution);
}

bool contains(const Distribution& distribution, const Value& value) {
  return member(distribution, value) == std::optional(value);
}

}  // namespace hydro::search
