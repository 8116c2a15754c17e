// hydro/search/searcher.h — where configurations come from: ask for the k-th, tell how it went.
// Searchers that do not learn answer from (seed, k) alone, so that a resumed study gets the
// same; what learns outside this process is hydro/run/external_searcher.h.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/search/space.h"

namespace hydro::search {

/// How a trial ended: its budget used up, stopped early, or without a value.
enum class Ending : std::uint8_t { kFinished, kStopped, kFailed };

struct Outcome {
  std::int64_t k = 0;
  Ending ending = Ending::kFinished;
  std::optional<double> value;  // of the study's metric
  std::int64_t step = 0;        // trained so far
};

class Searcher {
 public:
  Searcher() = default;
  Searcher(const Searcher&) = delete;
  Searcher& operator=(const Searcher&) = delete;
  virtual ~Searcher() = default;

  /// The k-th configuration, k from 0; nothing when the space is exhausted. A searcher that
  /// learns is asked for each k once, in order, except that a k without an answer is asked
  /// again.
  [[nodiscard]] virtual Result<std::optional<Config>> ask(std::int64_t k) = 0;

  /// Requires: `outcome.k` was answered
  [[nodiscard]] virtual Result<void> tell(const Outcome& /*outcome*/) { return {}; }

  /// How many a study takes.
  [[nodiscard]] virtual std::int64_t total() const = 0;

  /// Whether answers depend on what was told: then asking early wastes what is learned.
  [[nodiscard]] virtual bool learns() const { return false; }
};

/// Random: num_samples times every combination of `grid` values (first parameter slowest), each
/// with its own draw of the other parameters, as Ray does. Never exhausted.
///
/// Errors: H0708 a `grid` inside a branch of a choice; H0707 more than a billion configurations
[[nodiscard]] Result<std::unique_ptr<Searcher>> make_random_searcher(Space space,
                                                                     std::uint64_t seed,
                                                                     std::int64_t num_samples);
/// Points of a Sobol sequence, shifted by the seed, one dimension a parameter in the space's
/// order; every combination of `grid` values is tried at the same points. Never exhausted.
///
/// Errors: as above; H0726 more parameters than the sequence has dimensions
[[nodiscard]] Result<std::unique_ptr<Searcher>> make_sobol_searcher(Space space,
                                                                    std::uint64_t seed,
                                                                    std::int64_t num_samples);
/// Grid: the product of all finite parameters, first parameter slowest; a branch's parameters
/// multiply only inside that branch.
///
/// Errors: H0706 a continuous parameter; H0707 more than a billion configurations
[[nodiscard]] Result<std::unique_ptr<Searcher>> make_grid_searcher(Space space);

/// `points` first, then what `searcher` has, of which there are as many fewer.
///
/// Requires: `searcher` does not learn
[[nodiscard]] std::unique_ptr<Searcher> with_points(std::unique_ptr<Searcher> searcher,
                                                    std::vector<Config> points);
/// No configuration twice: a repeated one is left out and the next asked. A finite space ends
/// with its last configuration.
///
/// Requires: `searcher` does not learn
[[nodiscard]] std::unique_ptr<Searcher> without_repeats(std::unique_ptr<Searcher> searcher,
                                                        const Space& space);

/// How many configurations a space has; nothing when there is no end of them, or over a
/// billion.
[[nodiscard]] std::optional<std::int64_t> configuration_count(const Space& space);

/// `given` with a draw for every other active parameter.
[[nodiscard]] Config complete_by_chance(const Space& space,
                                        Config given,
                                        std::uint64_t seed,
                                        std::int64_t k);

}  // namespace hydro::search
