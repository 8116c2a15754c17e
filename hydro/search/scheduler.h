// hydro/search/scheduler.h — which trials go on, stop or wait, from what they report: early
// stopping as a state machine without tensors, clock or chance. Exact semantics, with every
// difference to the peers: docs/scheduling.md.            Thread-safety: a value, one writer.
#pragma once

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "hydro/search/asha.h"
#include "hydro/search/hyperband.h"
#include "hydro/search/median.h"
#include "hydro/search/verdict.h"

namespace hydro::search {

enum class SchedulerKind : std::uint8_t { kFifo, kAsha, kHyperband, kMedian };

/// kStopping: a trial is judged when it comes to a rung, and ends or goes on. kPromotion: it
/// waits there until it is among the best. kSynchronous: until its whole bracket is there.
enum class SchedulerType : std::uint8_t { kStopping, kPromotion, kSynchronous };

/// The unit of time is an evaluation; t counts them from 1.
struct SchedulerSettings {
  SchedulerKind kind = SchedulerKind::kFifo;
  SchedulerType type = SchedulerType::kStopping;
  std::int64_t grace_period = 1;      // no trial ends before it
  std::int64_t reduction_factor = 3;  // eta
  std::int64_t max_t = 1;             // here a trial is done
  std::int64_t brackets = 1;          // of asha and hyperband
  std::int64_t min_samples = 3;       // of median: other trials that must have come so far
  bool operator==(const SchedulerSettings&) const = default;
};

/// The share of trials that each bracket gets.
[[nodiscard]] std::vector<double> bracket_shares(const SchedulerSettings& settings);

/// Trials run to their end.
class Fifo {
 public:
  explicit Fifo(std::int64_t max_t) : max_t_(max_t) {}

  void add() const {}

  [[nodiscard]] Verdict report(std::int64_t /*trial*/,
                               std::int64_t /*t*/,
                               double /*value*/) const {
    return {};
  }

  [[nodiscard]] std::int64_t milestone(std::int64_t /*trial*/) const { return max_t_; }

 private:
  std::int64_t max_t_ = 1;
};

/// Trials are numbered from 0 without gaps. Values are larger when better: the caller negates
/// what is minimised.
class Scheduler {
 public:
  Scheduler() : Scheduler(SchedulerSettings{}) {}

  /// Requires: 1 <= grace_period <= max_t, reduction_factor >= 2, brackets no more than rungs
  /// (BugError)
  explicit Scheduler(const SchedulerSettings& settings);

  /// The next trial exists.
  void add();
  /// No more trials come: what waits for others need not.
  void close();
  /// A trial reports its value at its t-th evaluation. A value that is not finite is recorded
  /// nowhere: kFail. A report that is not later than the trial's last is ignored: kContinue.
  Verdict report(std::int64_t trial, std::int64_t t, double value);
  /// The trial ended by itself: failed, or stopped by a rule.
  void remove(std::int64_t trial);
  /// The evaluation at which the trial is looked at next; max_t when nothing can stop it
  /// before.
  [[nodiscard]] std::int64_t milestone(std::int64_t trial) const;
  /// What is to be done with a waiting trial, if anything: kContinue promotes it, kStop ends
  /// it.
  [[nodiscard]] std::optional<Move> next() const;
  /// next()'s move was made.
  void make(const Move& move);
  /// How a waiting trial stands when no one can be promoted any more.
  [[nodiscard]] Verdict standing(std::int64_t trial) const;
  /// Evaluations of the highest rung that the trial came to; 0 for none.
  [[nodiscard]] std::int64_t rung(std::int64_t trial) const;

 private:
  std::variant<Fifo, AshaStopping, AshaPromotion, SynchronousHyperband, Median> rule_;
};

}  // namespace hydro::search
