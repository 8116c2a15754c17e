// hydro/search/order_statistics.h — values that only come and never go, kept so that what a
// scheduler asks of them costs O(log n) however many there are.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <queue>
#include <set>
#include <utility>
#include <vector>

namespace hydro::search {

/// A fixed quantile, numerator / denominator, of the values so far, interpolated linearly
/// (numpy.percentile, with the place between two values in integers instead of floats).
class Quantile {
 public:
  /// Requires: 0 <= numerator < denominator (BugError)
  Quantile(std::int64_t numerator, std::int64_t denominator);

  void add(double value);
  /// Nothing before the first value.
  [[nodiscard]] std::optional<double> value() const;

  [[nodiscard]] std::int64_t count() const { return count_; }

 private:
  [[nodiscard]] std::int64_t place() const { return (count_ - 1) * numerator_; }

  std::int64_t numerator_;
  std::int64_t denominator_;
  std::int64_t count_ = 0;
  // The place-th smallest is on top of low_, the next larger one on top of high_.
  std::priority_queue<double> low_;
  std::priority_queue<double, std::vector<double>, std::greater<>> high_;
};

/// Who of those who came is among the best 1 / eta and was not taken yet. Equal values: the
/// lower id is better.
class BestShare {
 public:
  explicit BestShare(std::int64_t eta) : eta_(eta) {}

  void add(std::int64_t id, double value);
  /// The best that is among the best count / eta (rounded down) and was not taken.
  [[nodiscard]] std::optional<std::int64_t> best() const;
  /// Takes one that was added and not taken, the best or another.
  void take(std::int64_t id, double value);

  [[nodiscard]] std::int64_t count() const { return count_; }

  [[nodiscard]] std::int64_t places() const { return count_ / eta_; }

 private:
  using Entry = std::pair<double, std::int64_t>;  // negated value, id: the best is the least

  std::int64_t eta_;
  std::int64_t count_ = 0;
  // The best count / eta; the worst of them, and the next best, on top.
  std::priority_queue<Entry> top_;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> rest_;
  std::set<Entry> free_;  // not taken
};

}  // namespace hydro::search
