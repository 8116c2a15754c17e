// Searchers around a searcher: what goes first, and what is left out.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/search/searcher.h"
#include "hydro/search/space.h"

namespace hydro::search {
namespace {

class PointsFirst final : public Searcher {
 public:
  PointsFirst(std::unique_ptr<Searcher> inner, std::vector<Config> points)
      : inner_(std::move(inner)), points_(std::move(points)) {}

  [[nodiscard]] Result<std::optional<Config>> ask(std::int64_t k) override {
    HYDRO_CHECK(k >= 0);
    const auto count = static_cast<std::int64_t>(points_.size());
    return k < count ? Result(std::optional(points_[static_cast<std::size_t>(k)]))
                     : inner_->ask(k - count);
  }

  [[nodiscard]] std::int64_t total() const override { return inner_->total(); }

 private:
  std::unique_ptr<Searcher> inner_;
  std::vector<Config> points_;
};

/// Answers in order what is new, and remembers it: suggestion k is still a function of what
/// `inner` answers, thus of (seed, k).
class Distinct final : public Searcher {
 public:
  Distinct(std::unique_ptr<Searcher> inner, const Space& space)
      : inner_(std::move(inner)), total_(inner_->total()) {
    if (auto all = make_grid_searcher(space); all.has_value()) {
      all_ = *std::move(all);
      total_ = std::min(total_, all_->total());
    }
  }

  [[nodiscard]] Result<std::optional<Config>> ask(std::int64_t k) override {
    HYDRO_CHECK(k >= 0);
    const auto wanted = static_cast<std::size_t>(k);
    while (answers_.size() <= wanted) {
      HYDRO_TRY(std::optional<Config> next, next_new());
      if (!next.has_value()) {
        return next;
      }
      answers_.push_back(*std::move(next));
    }
    return std::optional(answers_[wanted]);
  }

  [[nodiscard]] std::int64_t total() const override { return total_; }

 private:
  /// Chance takes ever longer to hit what is left of a finite space: after many repeats in a
  /// row the rest comes in the grid's order.
  Result<std::optional<Config>> next_new() {
    constexpr int kPatience = 1000;
    for (int attempt = 0; attempt < kPatience && !in_order_; ++attempt) {
      HYDRO_TRY(std::optional<Config> next, inner_->ask(asked_));
      ++asked_;
      if (!next.has_value() || seen_.insert(*next).second) {
        return next;
      }
    }
    return next_of_rest();
  }

  Result<std::optional<Config>> next_of_rest() {
    if (all_ == nullptr) {
      return std::optional<Config>();
    }
    in_order_ = true;
    for (;; ++rest_) {
      HYDRO_TRY(std::optional<Config> next, all_->ask(rest_));
      if (!next.has_value() || seen_.insert(*next).second) {
        return next;
      }
    }
  }

  std::unique_ptr<Searcher> inner_;
  std::unique_ptr<Searcher> all_;  // null: no end of configurations
  std::int64_t total_;
  std::int64_t asked_ = 0;
  std::int64_t rest_ = 0;
  bool in_order_ = false;  // chance is no longer asked
  std::set<Config> seen_;
  std::vector<Config> answers_;
};

}  // namespace

std::unique_ptr<Searcher> with_points(std::unique_ptr<Searcher> searcher,
                                      std::vector<Config> points) {
  HYDRO_CHECK(!searcher->learns());
  return std::make_unique<PointsFirst>(std::move(searcher), std::move(points));
}

std::unique_ptr<Searcher> without_repeats(std::unique_ptr<Searcher> searcher,
                                          const Space& space) {
  HYDRO_CHECK(!searcher->learns());
  return std::make_unique<Distinct>(std::move(searcher), space);
}

}  // namespace hydro::search
