// hydro/search/asha.h — asynchronous successive halving, in Ray's form (a trial is judged when
// it comes to a rung) and in the paper's (it waits there until it is among the best). With
// several brackets each has rungs of its own, bracket s without the s lowest: Hyperband.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "hydro/search/order_statistics.h"
#include "hydro/search/rungs.h"
#include "hydro/search/verdict.h"

namespace hydro::search {

struct RungSettings {
  std::int64_t grace_period = 1;
  std::int64_t reduction_factor = 3;
  std::int64_t max_t = 1;
  std::vector<double> shares = {1};  // of trials, by bracket
};

/// A newcomer is compared with the earlier values at the rung: it stops if it is under their
/// (1 - 1/eta) quantile, and is recorded either way. The first always goes on.
class AshaStopping {
 public:
  explicit AshaStopping(const RungSettings& settings);

  void add();
  /// Requires: a finite value, here and in the schedulers beside this one (BugError)
  Verdict report(std::int64_t trial, std::int64_t t, double value);
  [[nodiscard]] std::int64_t milestone(std::int64_t trial) const;
  [[nodiscard]] std::int64_t rung(std::int64_t trial) const;

 private:
  struct Known {
    std::int64_t bracket = 0;
    std::int64_t t = 0;          // last report
    std::uint64_t recorded = 0;  // a bit a rung
  };

  std::int64_t max_t_;
  std::vector<std::int64_t> levels_;
  std::vector<std::vector<Quantile>> values_;  // by bracket and rung
  Spread spread_;
  std::vector<Known> trials_;
};

/// A trial runs exactly to its rung and waits. Whoever asks for work gets, from the top rung
/// down, the best waiting trial among the best count / eta of its rung.
class AshaPromotion {
 public:
  explicit AshaPromotion(const RungSettings& settings);

  void add();
  Verdict report(std::int64_t trial, std::int64_t t, double value);
  [[nodiscard]] std::int64_t milestone(std::int64_t trial) const;
  [[nodiscard]] std::optional<Move> next() const;
  void make(const Move& move);
  /// A waiting trial is no longer to be promoted; its value stays in the rung.
  void remove(std::int64_t trial);
  [[nodiscard]] Verdict standing(std::int64_t trial) const;
  [[nodiscard]] std::int64_t rung(std::int64_t trial) const;

 private:
  struct Known {
    std::int64_t bracket = 0;
    std::int64_t t = 0;
    std::int64_t rung = 0;  // the one it runs to, or waits at
    bool waits = false;
    double value = 0;  // at the last rung
  };

  [[nodiscard]] const BestShare& rung_of(const Known& trial) const;

  std::int64_t max_t_;
  std::vector<std::int64_t> levels_;  // under max_t: behind the last a trial runs to its end
  std::vector<std::vector<BestShare>> rungs_;  // by bracket and rung
  Spread spread_;
  std::vector<Known> trials_;
};

}  // namespace hydro::search
