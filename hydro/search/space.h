// hydro/search/space.h — what a hyperparameter may be (distributions), all of them together
// (Space), and one choice of each (Config). Exact semantics: docs/search-space.md.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "hydro/base/result.h"

namespace hydro::search {

/// A hyperparameter's value as written: 0.1, 128, true, "relu".
using Value = std::variant<bool, std::int64_t, double, std::string>;

/// Shortest text that reads back as the same value; no quotes.
[[nodiscard]] std::string to_text(const Value& value);

// One struct a distribution. The members are its arguments in the job file's order, the
// constants say what it does with them; a new combination of these needs no other code.
// `q`: the points low + k q, both ends among them. kLog: mass by the logarithm of the value.
// Integer bounds: integers.

struct Uniform {
  static constexpr std::string_view kName = "uniform";
  double low = 0;
  double high = 1;
};

struct LogUniform {
  static constexpr std::string_view kName = "loguniform";
  static constexpr bool kLog = true;
  double low = 0;
  double high = 1;
};

/// Equal mass for every point.
struct QUniform {
  static constexpr std::string_view kName = "quniform";
  double low = 0;
  double high = 1;
  double q = 1;
};

/// A point has the mass of the interval in which it is the nearest.
struct QLogUniform {
  static constexpr std::string_view kName = "qloguniform";
  static constexpr bool kLog = true;
  double low = 0;
  double high = 1;
  double q = 1;
};

/// [low, high), as in Ray.
struct RandInt {
  static constexpr std::string_view kName = "randint";
  static constexpr bool kExcludesHigh = true;
  std::int64_t low = 0;
  std::int64_t high = 1;
};

struct QRandInt {
  static constexpr std::string_view kName = "qrandint";
  std::int64_t low = 0;
  std::int64_t high = 1;
  std::int64_t q = 1;
};

/// [low, high), as in Ray: k has the mass of [k, k + 1).
struct LogRandInt {
  static constexpr std::string_view kName = "lograndint";
  static constexpr bool kLog = true;
  static constexpr bool kExcludesHigh = true;
  std::int64_t low = 1;
  std::int64_t high = 2;
};

struct QLogRandInt {
  static constexpr std::string_view kName = "qlograndint";
  static constexpr bool kLog = true;
  std::int64_t low = 1;
  std::int64_t high = 2;
  std::int64_t q = 1;
};

/// [low, high]
struct Int {
  static constexpr std::string_view kName = "int";
  std::int64_t low = 0;
  std::int64_t high = 1;
};

/// A normal distribution.
struct RandN {
  static constexpr std::string_view kName = "randn";
  double mean = 0;
  double sd = 1;
};

/// Its multiples of q: each has the mass of the interval in which it is the nearest.
struct QRandN {
  static constexpr std::string_view kName = "qrandn";
  double mean = 0;
  double sd = 1;
  double q = 1;
};

struct Choice {
  static constexpr std::string_view kName = "choice";
  std::vector<Value> options;
};

/// Options with an order that searchers may learn from; drawn as `choice`.
struct Ordinal {
  static constexpr std::string_view kName = "ordinal";
  std::vector<Value> options;
};

/// Multiplies, as in Ray.
struct Grid {
  static constexpr std::string_view kName = "grid";
  std::vector<Value> options;
};

using Distribution = std::variant<Uniform,
                                  LogUniform,
                                  QUniform,
                                  QLogUniform,
                                  RandInt,
                                  QRandInt,
                                  LogRandInt,
                                  QLogRandInt,
                                  Int,
                                  RandN,
                                  QRandN,
                                  Choice,
                                  Ordinal,
                                  Grid>;

/// "qloguniform"
[[nodiscard]] std::string_view distribution_name(const Distribution& distribution);

/// Refuses empty and inverted ranges, log ranges that touch 0, bounds that are not finite or
/// not on the grid's step, steps and deviations that are not above 0, repeated options. The
/// error has no place; the caller adds it.
///
/// Errors: H0701 to H0705
[[nodiscard]] Result<void> check_distribution(const Distribution& distribution);

// The functions below require a distribution that check_distribution accepts (BugError).

/// The value for a uniform u in [0, 1).
[[nodiscard]] Value value_at(const Distribution& distribution, double u);
/// The middle (u = 0.5); options their first.
[[nodiscard]] Value median(const Distribution& distribution);
/// How many values it has, or nothing where there is no end of them.
[[nodiscard]] std::optional<std::int64_t> value_count(const Distribution& distribution);
/// The k-th value in order. Requires: finite, k in [0, value_count) (BugError)
[[nodiscard]] Value value_of_index(const Distribution& distribution, std::int64_t k);
/// All values of a finite distribution in order, or nothing for others and for over a million.
[[nodiscard]] std::optional<std::vector<Value>> values(const Distribution& distribution);
/// Whether `value` can be drawn.
[[nodiscard]] bool contains(const Distribution& distribution, const Value& value);
/// The value that `given` stands for: 1 is 1.0 of a real range, 64.0 is the option 64, and what
/// misses a point by less than a millionth of the step is that point. Nothing when it cannot be
/// drawn.
[[nodiscard]] std::optional<Value> member(const Distribution& distribution, const Value& given);
/// The values that a reader must accept if it accepts them all: every option, the ends of a
/// range, the farthest draws of a normal distribution.
[[nodiscard]] std::vector<Value> extremes(const Distribution& distribution);
/// A list of options, which may hold anything; else numbers.
[[nodiscard]] bool has_options(const Distribution& distribution);

/// A condition: this parameter exists only where `parameter` (a Choice of branch numbers) has
/// value `branch`.
struct Condition {
  std::string parameter;
  std::int64_t branch = 0;
};

/// Two branches of one choice may both hold a parameter of the same path: no configuration has
/// both.
struct Parameter {
  std::string path;  // "train.optimizer.lr"
  std::string name;  // short: "lr"; else the path
  Distribution distribution;
  std::optional<Condition> condition;
};

/// Values by path; only parameters whose condition holds.
using Config = std::map<std::string, Value>;

struct Space {
  std::vector<Parameter> parameters;  // in the job file's order; conditions point backwards

  /// The first of that path or name, whatever its condition; null when there is none.
  [[nodiscard]] const Parameter* find(std::string_view path_or_name) const;
};

/// Whether `parameter` exists in the configuration whose earlier values are `config`.
[[nodiscard]] bool is_active(const Parameter& parameter, const Config& config);

}  // namespace hydro::search
