// hydro/search/searcher.h — where configurations come from. Suggestion k depends on (seed, k)
// alone, so that a resumed study asks for k and gets the same.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "hydro/search/space.h"

namespace hydro::search {

class Searcher {
 public:
  Searcher() = default;
  Searcher(const Searcher&) = delete;
  Searcher& operator=(const Searcher&) = delete;
  virtual ~Searcher() = default;

  /// The k-th configuration, k from 0; nothing when the space is exhausted.
  [[nodiscard]] virtual std::optional<Config> suggest(std::int64_t k) const = 0;
  /// How many there are in all; nothing when unlimited.
  [[nodiscard]] virtual std::optional<std::int64_t> total() const = 0;
};

/// Random: num_samples times every combination of `grid` values (first parameter slowest), each
/// with its own draw of the other parameters, as Ray does.
///
/// Errors: H0708 a `grid` inside a branch of a choice; H0707 more than a billion configurations
[[nodiscard]] Result<std::unique_ptr<Searcher>> make_random_searcher(Space space,
                                                                     std::uint64_t seed,
                                                                     std::int64_t num_samples);
/// Grid: the product of all finite parameters, first parameter slowest; a branch's parameters
/// multiply only inside that branch.
///
/// Errors: H0706 a continuous parameter; H0707 more than a billion configurations
[[nodiscard]] Result<std::unique_ptr<Searcher>> make_grid_searcher(Space space);

}  // namespace hydro::search
