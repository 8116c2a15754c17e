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

struct Uniform {
  double low = 0;
  double high = 1;
};

struct LogUniform {
  double low = 0;
  double high = 1;
};

/// Grid low + k q; equal mass for every k of quniform, the log interval's mass for qloguniform;
/// both ends belong.
struct QUniform {
  double low = 0;
  double high = 1;
  double q = 1;
};

struct QLogUniform {
  double low = 0;
  double high = 1;
  double q = 1;
};

/// [low, high), as in Ray.
struct RandInt {
  std::int64_t low = 0;
  std::int64_t high = 1;
};

struct Choice {
  std::vector<Value> options;
};

/// Multiplies, as in Ray.
struct Grid {
  std::vector<Value> options;
};

using Distribution =
    std::variant<Uniform, LogUniform, QUniform, QLogUniform, RandInt, Choice, Grid>;

/// "qloguniform"
[[nodiscard]] std::string_view distribution_name(const Distribution& distribution);

/// Refuses empty and inverted ranges, log ranges that touch 0, bounds that are not finite or
/// not on the grid's step, repeated options. The error has no place; the caller adds it.
///
/// Errors: H0701 to H0705
[[nodiscard]] Result<void> check_distribution(const Distribution& distribution);

// The functions below require a distribution that check_distribution accepts (BugError).

/// The value for a uniform u in [0, 1).
[[nodiscard]] Value value_at(const Distribution& distribution, double u);
/// The middle (u = 0.5); `choice` and `grid` their first.
[[nodiscard]] Value median(const Distribution& distribution);
/// How many values it has, or nothing for a continuous one.
[[nodiscard]] std::optional<std::int64_t> value_count(const Distribution& distribution);
/// The k-th value in order. Requires: finite, k in [0, value_count) (BugError)
[[nodiscard]] Value value_of_index(const Distribution& distribution, std::int64_t k);
/// All values of a finite distribution in order, or nothing for a continuous one and for over a
/// million.
[[nodiscard]] std::optional<std::vector<Value>> values(const Distribution& distribution);
/// Whether `value` can be drawn.
[[nodiscard]] bool contains(const Distribution& distribution, const Value& value);

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
