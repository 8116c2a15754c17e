// What a distribution must be before anything is drawn from it.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/base/text.h"
#include "hydro/search/decimal_grid.h"
#include "hydro/search/space.h"
#include "hydro/search/traits.h"

namespace hydro::search {
namespace {

Result<void> check_finite(std::initializer_list<double> bounds) {
  for (const double bound : bounds) {
    if (!std::isfinite(bound)) {
      return make_error("H0703", "bound " + plain_number(bound) + " is not a finite number");
    }
  }
  return {};
}

std::string text_of(double number) {
  return plain_number(number);
}

std::string text_of(std::int64_t number) {
  return std::to_string(number);
}

template <class Number>
std::string range_text(Number low, Number high) {
  return "[" + text_of(low) + ", " + text_of(high) + "]";
}

template <Ranged D>
Result<void> check_order(const D& d) {
  if constexpr (kIsHalfOpen<D>) {
    if (d.low >= d.high) {
      return make_error(
                 "H0701",
                 "range [" + text_of(d.low) + ", " + text_of(d.high) + ") holds no integer")
          .because("the upper bound of " + std::string(D::kName) +
                   " does not belong to it, as in Ray");
    }
  }
  if (d.low == d.high) {
    return make_error("H0701", "range " + range_text(d.low, d.high) + " is empty")
        .fix("write the value itself, or a wider range");
  }
  if (d.low > d.high) {
    return make_error("H0701", "range " + range_text(d.low, d.high) + " is inverted")
        .fix("write " + range_text(d.high, d.low));
  }
  return {};
}

/// [-4, 0] is how some tools write [1e-4, 1].
bool looks_like_exponents(double low, double high) {
  constexpr double kLargest = 30;
  return low == std::floor(low) && high == std::floor(high) && low < 0 && low >= -kLargest &&
         high <= kLargest;
}

template <Ranged D>
Result<void> check_positive(const D& d) {
  const auto low = static_cast<double>(d.low);
  const auto high = static_cast<double>(d.high);
  if (low > 0) {
    return {};
  }
  Error fault = make_error("H0702", "a logarithmic range cannot start at " + text_of(d.low))
                    .because(
                        "bounds are values, not exponents; the logarithm of 0 is not "
                        "finite");
  if (Whole<D>) {
    return std::move(fault).fix("start at 1");
  }
  return std::move(fault).fix(looks_like_exponents(low, high)
                                  ? "for powers of ten write [" +
                                        plain_number(std::pow(10.0, low)) + ", " +
                                        plain_number(std::pow(10.0, high)) + "]"
                                  : "start above 0, such as 1e-6");
}

template <class Number>
Result<void> check_step(Number q) {
  if (q > 0) {
    return {};
  }
  return make_error("H0704", "step " + text_of(q) + " is not above 0");
}

template <Stepped D>
Error off_grid(const D& d) {
  return make_error("H0704",
                    "upper bound " + text_of(d.high) + " is not reached from " +
                        text_of(d.low) + " in steps of " + text_of(d.q))
      .because("the grid starts at the lower bound and both ends belong to it");
}

template <Stepped D>
Result<void> check_grid(const D& d) {
  HYDRO_TRY_VOID(check_step(d.q));
  bool fits = false;
  if constexpr (Whole<D>) {
    fits = (d.high - d.low) % d.q == 0;
  } else {
    fits = make_decimal_grid(d.low, d.high, d.q).has_value();
  }
  return fits ? Result<void>() : off_grid(d);
}

template <Ranged D>
Result<void> check_width(const D& d) {
  if constexpr (Whole<D>) {
    std::int64_t width = 0;
    if (__builtin_sub_overflow(d.high, d.low, &width) || width == INT64_MAX) {
      return make_error("H0701",
                        "the range of " + std::string(D::kName) + " is wider than 63 bits");
    }
  } else if (!std::isfinite(d.high - d.low)) {
    return make_error("H0703", "the width of " + range_text(d.low, d.high) + " is not finite");
  }
  return {};
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
  template <Listed D>
  Result<void> operator()(const D& d) const {
    return check_options(d.options);
  }

  template <Normal D>
  Result<void> operator()(const D& d) const {
    HYDRO_TRY_VOID(check_finite({d.mean, d.sd}));
    if (d.sd <= 0) {
      return make_error("H0701", "standard deviation " + plain_number(d.sd) + " is not above 0")
          .fix("write [mean, standard deviation] with a deviation above 0");
    }
    if constexpr (Stepped<D>) {
      HYDRO_TRY_VOID(check_finite({d.q}));
      HYDRO_TRY_VOID(check_step(d.q));
      const double farthest = (std::abs(d.mean) + kFarthestDraw * d.sd) / d.q;
      if (farthest >= kMostPoints ||
          !decimal_multiple(d.q, static_cast<std::int64_t>(farthest))) {
        return make_error("H0704", "step " + plain_number(d.q) + " is too fine");
      }
    }
    return {};
  }

  template <Ranged D>
  Result<void> operator()(const D& d) const {
    if constexpr (!Whole<D>) {
      HYDRO_TRY_VOID(check_finite({d.low, d.high}));
      if constexpr (Stepped<D>) {
        HYDRO_TRY_VOID(check_finite({d.q}));
      }
    }
    HYDRO_TRY_VOID(check_order(d));
    if constexpr (kIsLog<D>) {
      HYDRO_TRY_VOID(check_positive(d));
    }
    HYDRO_TRY_VOID(check_width(d));
    if constexpr (Stepped<D>) {
      return check_grid(d);
    }
    return {};
  }

 private:
  static constexpr double kFarthestDraw = 9;  // standard deviations; 53 bits reach 8.3
  static constexpr double kMostPoints = 0x1p53;
};

}  // namespace

Result<void> check_distribution(const Distribution& distribution) {
  return std::visit(Check{}, distribution);
}

}  // namespace hydro::search
