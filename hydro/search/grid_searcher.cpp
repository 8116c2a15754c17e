// The product of all values.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/search/counting.h"
#include "hydro/search/searcher.h"
#include "hydro/search/space.h"

namespace hydro::search {
namespace {

/// A tree of depth "parameters": level i has one child a value. Only a parameter that some
/// condition names can change what is below it; below all others every child has the same size.
class GridSearcher final : public Searcher {
 public:
  explicit GridSearcher(Space space) : space_(std::move(space)) {
    for (const Parameter& parameter : space_.parameters) {
      const auto names_it = [&](const Parameter& other) {
        return other.condition && other.condition->parameter == parameter.path;
      };
      branching_.push_back(std::ranges::any_of(space_.parameters, names_it));
    }
    total_ = size_below(0, {});
  }

  [[nodiscard]] Result<std::optional<Config>> ask(std::int64_t k) override {
    HYDRO_CHECK(k >= 0);
    if (k >= total_) {
      return std::optional<Config>();
    }
    Config config;
    for (std::size_t level = 0; level < space_.parameters.size(); ++level) {
      if (is_active(space_.parameters[level], config)) {
        descend(level, k, config);
      }
    }
    return std::optional(std::move(config));
  }

  [[nodiscard]] std::int64_t total() const override { return total_; }

 private:
  /// Takes the child of `level` that holds the k-th configuration; k becomes its place inside
  /// that child.
  void descend(std::size_t level, std::int64_t& k, Config& config) const {
    const Parameter& parameter = space_.parameters[level];
    std::int64_t index = 0;
    if (!branching_[level]) {
      const std::int64_t below = size_below(level + 1, config);
      index = k / below;
      k %= below;
      config.insert_or_assign(parameter.path, value_of_index(parameter.distribution, index));
      return;
    }
    for (;; ++index) {
      config.insert_or_assign(parameter.path, value_of_index(parameter.distribution, index));
      const std::int64_t below = size_below(level + 1, config);
      if (k < below) {
        return;
      }
      k -= below;
    }
  }

  // NOLINTNEXTLINE(misc-no-recursion): as deep as the space has parameters
  [[nodiscard]] std::int64_t size_below(std::size_t level, const Config& config) const {
    if (level == space_.parameters.size()) {
      return 1;
    }
    const Parameter& parameter = space_.parameters[level];
    if (!is_active(parameter, config)) {
      return size_below(level + 1, config);
    }
    const std::int64_t count = finite_count(parameter.distribution);
    if (!branching_[level]) {
      return capped_product(count, size_below(level + 1, config));
    }
    std::int64_t total = 0;
    for (std::int64_t k = 0; k < count && total <= kMostConfigurations; ++k) {
      Config with = config;
      with.insert_or_assign(parameter.path, value_of_index(parameter.distribution, k));
      total += size_below(level + 1, with);
    }
    return total;
  }

  Space space_;
  std::vector<bool> branching_;
  std::int64_t total_ = 0;
};

}  // namespace

Result<std::unique_ptr<Searcher>> make_grid_searcher(Space space) {
  for (const Parameter& parameter : space.parameters) {
    if (!value_count(parameter.distribution)) {
      return make_error("H0706",
                        "`" + parameter.path + "` is continuous (" +
                            std::string(distribution_name(parameter.distribution)) +
                            "), but `search: grid` tries every value");
    }
  }
  auto searcher = std::make_unique<GridSearcher>(std::move(space));
  HYDRO_TRY_VOID(check_total(searcher->total()));
  return std::unique_ptr<Searcher>(std::move(searcher));
}

std::optional<std::int64_t> configuration_count(const Space& space) {
  const auto grid = make_grid_searcher(space);
  return grid.has_value() ? std::optional((*grid)->total()) : std::nullopt;
}

}  // namespace hydro::search
