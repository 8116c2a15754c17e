#include "hydro/search/sobol.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <boost/random/sobol.hpp>

#include "hydro/base/philox.h"
#include "hydro/base/result.h"

namespace hydro::search {
namespace {

std::uint64_t shift_of(std::uint64_t seed, const std::string& name) {
  const PhiloxBlock words = philox(stream_key(seed, "sobol", name), {0, 0, 0, 0});
  return std::uint64_t{words[0]} << 32U | words[1];
}

/// The upper 53 bits.
double unit_of(std::uint64_t bits) {
  return static_cast<double>(bits >> 11U) * 0x1p-53;
}

}  // namespace

struct Sobol::Sequence {
  boost::random::sobol engine;  // before its first point
};

Sobol::Sobol(std::shared_ptr<const Sequence> sequence, std::vector<std::uint64_t> shifts)
    : sequence_(std::move(sequence)), shifts_(std::move(shifts)) {}

Result<Sobol> Sobol::make(std::uint64_t seed, const std::vector<std::string>& names) {
  constexpr std::size_t kMost = boost::random::default_sobol_table::max_dimension;
  if (names.size() > kMost) {
    return make_error("H0726",
                      "sobol search over " + std::to_string(names.size()) +
                          " hyperparameters; the sequence has " + std::to_string(kMost) +
                          " dimensions");
  }
  std::vector<std::uint64_t> shifts;
  shifts.reserve(names.size());
  for (const std::string& name : names) {
    shifts.push_back(shift_of(seed, name));
  }
  std::shared_ptr<const Sequence> sequence;
  if (!names.empty()) {
    sequence = std::make_shared<const Sequence>(
        Sequence{.engine = boost::random::sobol(names.size())});
  }
  return Sobol(std::move(sequence), std::move(shifts));
}

std::vector<double> Sobol::point(std::int64_t k) const {
  HYDRO_CHECK(k >= 0);
  std::vector<double> out;
  out.reserve(shifts_.size());
  if (k == 0 || sequence_ == nullptr) {
    // Boost leaves out the origin, with which alone stretches of 2^n points are even.
    std::ranges::transform(shifts_, std::back_inserter(out), unit_of);
    return out;
  }
  boost::random::sobol engine = sequence_->engine;
  engine.discard((static_cast<std::uint64_t>(k) - 1) * shifts_.size());
  for (const std::uint64_t shift : shifts_) {
    out.push_back(unit_of(engine() ^ shift));
  }
  return out;
}

}  // namespace hydro::search
