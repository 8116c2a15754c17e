// hydro/search/stop_rules.h — rules that end a trial whatever the scheduler says, joined by an
// explicit `any` or `all`. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace hydro::search {

enum class StopKind : std::uint8_t { kAny, kAll, kAbove, kBelow, kTime };

/// kAny and kAll join `rules`; kAbove and kBelow hold where `metric` is over or under `bound`
/// (not at it); kTime where the trial has trained for more than `bound` seconds.
struct StopRule {
  StopKind kind = StopKind::kAny;
  std::string metric;
  double bound = 0;
  std::vector<StopRule> rules;
  bool operator==(const StopRule&) const = default;

  /// No rule at all: nothing ever holds.
  [[nodiscard]] bool is_empty() const {
    return rules.empty() && (kind == StopKind::kAny || kind == StopKind::kAll);
  }
};

/// What a trial has come to.
struct Progress {
  const std::map<std::string, double>& metrics;  // of its last report
  double seconds = 0;                            // in training
};

/// Why the rule holds ("val_loss 12 above 10"), or nothing. A metric that was not reported
/// holds in no rule.
[[nodiscard]] std::optional<std::string> broken(const StopRule& rule, const Progress& progress);

}  // namespace hydro::search
