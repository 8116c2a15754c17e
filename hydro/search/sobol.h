// hydro/search/sobol.h — points that fill a cube more evenly than chance does: Boost's Sobol
// sequence (directions of Joe and Kuo), with a random digital shift. The shift keeps the
// sequence's evenness and makes each point uniform over seeds.
// Thread-safety: const after construction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "hydro/base/result.h"

namespace hydro::search {

class Sobol {
 public:
  /// One dimension a name; the seed and the name decide its shift.
  ///
  /// Errors: H0726 more names than the sequence has dimensions
  [[nodiscard]] static Result<Sobol> make(std::uint64_t seed,
                                          const std::vector<std::string>& names);

  /// The k-th point, k from 0; coordinates in [0, 1).
  [[nodiscard]] std::vector<double> point(std::int64_t k) const;

 private:
  struct Sequence;
  Sobol(std::shared_ptr<const Sequence> sequence, std::vector<std::uint64_t> shifts);

  std::shared_ptr<const Sequence> sequence_;  // copies of a Sobol share the directions
  std::vector<std::uint64_t> shifts_;
};

}  // namespace hydro::search
