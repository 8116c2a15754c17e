// hydro/search/hyperband.h — Hyperband as Ray runs it: brackets of a fixed size, whose trials
// all come to a milestone before the best 1/eta of them go on.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "hydro/search/verdict.h"

namespace hydro::search {

struct BandSettings {
  std::int64_t grace_period = 1;  // no bracket's first milestone lies before it
  std::int64_t reduction_factor = 3;
  std::int64_t max_t = 1;
};

/// A bracket as it starts.
struct BracketPlan {
  std::int64_t trials = 0;
  std::int64_t milestone = 0;
  std::int64_t halvings = 0;
  bool operator==(const BracketPlan&) const = default;
};

/// One band: the brackets in the order in which trials fill them; then the band starts anew.
[[nodiscard]] std::vector<BracketPlan> band_of(const BandSettings& settings);

class SynchronousHyperband {
 public:
  explicit SynchronousHyperband(const BandSettings& settings);

  void add();
  /// No more trials come: brackets that are not full do not wait to be.
  void close();
  /// A trial that is not the bracket's last waits; with the last the bracket is halved.
  Verdict report(std::int64_t trial, std::int64_t t, double value);
  /// The bracket no longer waits for it.
  void remove(std::int64_t trial);
  [[nodiscard]] std::int64_t milestone(std::int64_t trial) const;
  [[nodiscard]] std::optional<Move> next() const;
  void make(const Move& move);
  [[nodiscard]] Verdict standing(std::int64_t trial) const;
  [[nodiscard]] std::int64_t rung(std::int64_t trial) const;

 private:
  struct Bracket {
    std::int64_t free = 0;    // trials that may still be added
    std::int64_t places = 0;  // how many the last halving kept
    std::int64_t milestone = 0;
    std::int64_t halvings = 0;
    std::int64_t behind = 0;            // members that have not come to the milestone
    std::vector<std::int64_t> members;  // still in the race
  };

  struct Known {
    std::int64_t bracket = 0;
    std::int64_t t = 0;
    std::int64_t rung = 0;
    bool waits = false;
    bool gone = false;
    double value = 0;
  };

  [[nodiscard]] bool is_due(const Bracket& bracket) const;
  /// The verdict on each member, best first.
  std::vector<Move> halve(Bracket& bracket);
  /// Halves while the bracket is due; the moves wait, but the one of `present` comes back.
  Verdict settle(Bracket& bracket, std::int64_t present);

  BandSettings settings_;
  std::vector<BracketPlan> band_;
  std::vector<Bracket> brackets_;
  std::vector<Known> trials_;
  std::vector<Move> moves_;
  bool closed_ = false;
};

}  // namespace hydro::search
