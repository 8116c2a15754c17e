#include "hydro/search/searcher.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "hydro/base/philox.h"
#include "hydro/base/result.h"
#include "hydro/search/space.h"

namespace hydro::search {
namespace {

constexpr std::int64_t kMostConfigurations = 1'000'000'000;

/// a x b, or one more than the limit.
std::int64_t capped_product(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) {
    return kMostConfigurations + 1;
  }
  return std::min(product, kMostConfigurations + 1);
}

/// Requires: the distribution is finite
std::int64_t finite_count(const Distribution& distribution) {
  const std::optional<std::int64_t> count = value_count(distribution);
  HYDRO_CHECK(count.has_value(), std::string(distribution_name(distribution)));
  return *count;
}

Result<void> check_total(std::int64_t total) {
  if (total > kMostConfigurations) {
    return make_error("H0707", "the search space asks for more than a billion configurations");
  }
  return {};
}

/// The uniform of parameter `path` in suggestion k. Every (seed, k, path) has a stream of its
/// own, so that a parameter added to the space moves no other's draws.
double draw(std::uint64_t seed, std::int64_t k, std::string_view path) {
  std::string purpose = "suggest/";
  purpose += path;
  const PhiloxBlock words = philox(stream_key(seed, std::to_string(k), purpose), {0, 0, 0, 0});
  return unit_double(words[0], words[1]);
}

class RandomSearcher final : public Searcher {
 public:
  RandomSearcher(Space space, std::uint64_t seed, std::int64_t total)
      : space_(std::move(space)), seed_(seed), total_(total) {}

  [[nodiscard]] std::optional<Config> suggest(std::int64_t k) const override {
    HYDRO_CHECK(k >= 0);
    if (k >= total_) {
      return std::nullopt;
    }
    Config config = grid_values(k);
    for (const Parameter& parameter : space_.parameters) {
      if (is_active(parameter, config) &&
          !std::holds_alternative<Grid>(parameter.distribution)) {
        const double u = draw(seed_, k, parameter.path);
        config.insert_or_assign(parameter.path, value_at(parameter.distribution, u));
      }
    }
    return config;
  }

  [[nodiscard]] std::optional<std::int64_t> total() const override { return total_; }

 private:
  /// Digits of k in the mixed base of the grids, last parameter fastest.
  [[nodiscard]] Config grid_values(std::int64_t k) const {
    Config config;
    for (auto it = space_.parameters.rbegin(); it != space_.parameters.rend(); ++it) {
      if (std::holds_alternative<Grid>(it->distribution)) {
        const std::int64_t count = finite_count(it->distribution);
        config.insert_or_assign(it->path, value_of_index(it->distribution, k % count));
        k /= count;
      }
    }
    return config;
  }

  Space space_;
  std::uint64_t seed_;
  std::int64_t total_;
};

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

  [[nodiscard]] std::int64_t size() const { return total_; }

  [[nodiscard]] std::optional<Config> suggest(std::int64_t k) const override {
    HYDRO_CHECK(k >= 0);
    if (k >= total_) {
      return std::nullopt;
    }
    Config config;
    for (std::size_t level = 0; level < space_.parameters.size(); ++level) {
      if (is_active(space_.parameters[level], config)) {
        descend(level, k, config);
      }
    }
    return config;
  }

  [[nodiscard]] std::optional<std::int64_t> total() const override { return total_; }

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

Result<std::unique_ptr<Searcher>> make_random_searcher(Space space,
                                                       std::uint64_t seed,
                                                       std::int64_t num_samples) {
  HYDRO_CHECK(num_samples >= 1);
  std::int64_t total = num_samples;
  for (const Parameter& parameter : space.parameters) {
    if (!std::holds_alternative<Grid>(parameter.distribution)) {
      continue;
    }
    if (parameter.condition) {
      return make_error("H0708",
                        "`" + parameter.path + "`: a `grid` inside an option of a choice")
          .because("it would multiply only some of the samples");
    }
    total = capped_product(total, finite_count(parameter.distribution));
  }
  HYDRO_TRY_VOID(check_total(total));
  return std::unique_ptr<Searcher>(
      std::make_unique<RandomSearcher>(std::move(space), seed, total));
}

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
  HYDRO_TRY_VOID(check_total(searcher->size()));
  return std::unique_ptr<Searcher>(std::move(searcher));
}

}  // namespace hydro::search
