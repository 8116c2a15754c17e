// Random and Sobol search: both turn a vector of uniforms, one a parameter, into a
// configuration; they differ in where the uniforms come from.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "hydro/base/philox.h"
#include "hydro/base/result.h"
#include "hydro/search/counting.h"
#include "hydro/search/searcher.h"
#include "hydro/search/sobol.h"
#include "hydro/search/space.h"

namespace hydro::search {
namespace {

/// Which uniforms are wanted: of the k-th suggestion, which is the sample-th of its combination
/// of grid values.
struct Place {
  std::int64_t k = 0;
  std::int64_t sample = 0;
};

using Uniforms = std::function<std::vector<double>(const Place&)>;

/// Every (seed, owner, path) has a stream of its own, so that a parameter added to the space
/// moves no other's draws.
double draw(std::uint64_t seed, std::string_view owner, std::string_view path) {
  std::string purpose = "suggest/";
  purpose += path;
  const PhiloxBlock words = philox(stream_key(seed, owner, purpose), {0, 0, 0, 0});
  return unit_double(words[0], words[1]);
}

bool is_grid(const Parameter& parameter) {
  return std::holds_alternative<Grid>(parameter.distribution);
}

class SampledSearcher final : public Searcher {
 public:
  SampledSearcher(Space space, Uniforms uniforms, std::int64_t combinations, std::int64_t total)
      : space_(std::move(space)),
        uniforms_(std::move(uniforms)),
        combinations_(combinations),
        total_(total) {}

  [[nodiscard]] Result<std::optional<Config>> ask(std::int64_t k) override {
    HYDRO_CHECK(k >= 0);
    const std::vector<double> uniforms = uniforms_({.k = k, .sample = k / combinations_});
    Config config = grid_values(k);
    for (std::size_t i = 0; i < space_.parameters.size(); ++i) {
      const Parameter& parameter = space_.parameters[i];
      if (!is_grid(parameter) && is_active(parameter, config)) {
        config.insert_or_assign(parameter.path, value_at(parameter.distribution, uniforms[i]));
      }
    }
    return std::optional(std::move(config));
  }

  [[nodiscard]] std::int64_t total() const override { return total_; }

 private:
  /// Digits of k in the mixed base of the grids, last parameter fastest.
  [[nodiscard]] Config grid_values(std::int64_t k) const {
    Config config;
    for (auto it = space_.parameters.rbegin(); it != space_.parameters.rend(); ++it) {
      if (is_grid(*it)) {
        const std::int64_t count = finite_count(it->distribution);
        config.insert_or_assign(it->path, value_of_index(it->distribution, k % count));
        k /= count;
      }
    }
    return config;
  }

  Space space_;
  Uniforms uniforms_;
  std::int64_t combinations_;
  std::int64_t total_;
};

/// How many combinations the grids of a space have.
Result<std::int64_t> grid_combinations(const Space& space) {
  std::int64_t combinations = 1;
  for (const Parameter& parameter : space.parameters) {
    if (!is_grid(parameter)) {
      continue;
    }
    if (parameter.condition) {
      return make_error("H0708",
                        "`" + parameter.path + "`: a `grid` inside an option of a choice")
          .because("it would multiply only some of the samples");
    }
    combinations = capped_product(combinations, finite_count(parameter.distribution));
  }
  return combinations;
}

Result<std::unique_ptr<Searcher>> make_sampled(Space space,
                                               Uniforms uniforms,
                                               std::int64_t num_samples) {
  HYDRO_CHECK(num_samples >= 1);
  HYDRO_TRY(const std::int64_t combinations, grid_combinations(space));
  const std::int64_t total = capped_product(combinations, num_samples);
  HYDRO_TRY_VOID(check_total(total));
  return std::unique_ptr<Searcher>(std::make_unique<SampledSearcher>(
      std::move(space), std::move(uniforms), combinations, total));
}

std::vector<std::string> paths_of(const Space& space) {
  std::vector<std::string> paths;
  paths.reserve(space.parameters.size());
  for (const Parameter& parameter : space.parameters) {
    paths.push_back(parameter.path);
  }
  return paths;
}

}  // namespace

Result<std::unique_ptr<Searcher>> make_random_searcher(Space space,
                                                       std::uint64_t seed,
                                                       std::int64_t num_samples) {
  Uniforms uniforms = [paths = paths_of(space), seed](const Place& place) {
    const std::string owner = std::to_string(place.k);
    std::vector<double> out;
    out.reserve(paths.size());
    for (const std::string& path : paths) {
      out.push_back(draw(seed, owner, path));
    }
    return out;
  };
  return make_sampled(std::move(space), std::move(uniforms), num_samples);
}

Result<std::unique_ptr<Searcher>> make_sobol_searcher(Space space,
                                                      std::uint64_t seed,
                                                      std::int64_t num_samples) {
  HYDRO_TRY(Sobol sobol, Sobol::make(seed, paths_of(space)));
  Uniforms uniforms = [sobol = std::move(sobol)](const Place& place) {
    return sobol.point(place.sample);
  };
  return make_sampled(std::move(space), std::move(uniforms), num_samples);
}

Config complete_by_chance(const Space& space,
                          Config given,
                          std::uint64_t seed,
                          std::int64_t k) {
  const std::string owner = "point " + std::to_string(k);
  for (const Parameter& parameter : space.parameters) {
    if (is_active(parameter, given) && !given.contains(parameter.path)) {
      given.insert_or_assign(
          parameter.path, value_at(parameter.distribution, draw(seed, owner, parameter.path)));
    }
  }
  return given;
}

}  // namespace hydro::search
