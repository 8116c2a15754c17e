// hydro/search/rungs.h — where trials are compared, and how they are spread over brackets.
// Source: Li et al., Hyperband (JMLR 2018) and ASHA (MLSys 2020); the peers' forms in
// docs/scheduling.md.
#pragma once

#include <cstdint>
#include <vector>

namespace hydro::search {

/// first, first * eta, first * eta^2, ... up to max_t. By integers: logarithms lose the last
/// rung of (1, 243, 3).
///
/// Requires: 1 <= first, 2 <= eta (BugError)
[[nodiscard]] std::vector<std::int64_t> rung_levels(std::int64_t first,
                                                    std::int64_t max_t,
                                                    std::int64_t eta);

/// Ray's shares of `brackets` brackets, bracket s without the s lowest of `rungs` rungs:
/// softmax of the number of rungs.
[[nodiscard]] std::vector<double> softmax_shares(std::int64_t rungs, std::int64_t brackets);

/// Hyperband's: equal budgets, so that bracket s of S gets trials in proportion to
/// S / ((S - s) level[s]).
[[nodiscard]] std::vector<double> budget_shares(const std::vector<std::int64_t>& levels,
                                                std::int64_t brackets);

/// Spreads trials over brackets so that after any number of them each bracket's count is within
/// one of its share. No chance: the k-th trial always comes to the same bracket.
class Spread {
 public:
  explicit Spread(std::vector<double> shares);

  /// The bracket of the next trial.
  std::int64_t next();

 private:
  std::vector<double> shares_;
  std::vector<std::int64_t> given_;
  std::int64_t total_ = 0;
};

}  // namespace hydro::search
