#include "hydro/search/rungs.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "hydro/base/result.h"

namespace hydro::search {
namespace {

std::vector<double> normalised(std::vector<double> weights) {
  double sum = 0;
  for (const double weight : weights) {
    sum += weight;
  }
  for (double& weight : weights) {
    weight /= sum;
  }
  return weights;
}

}  // namespace

std::vector<std::int64_t> rung_levels(std::int64_t first,
                                      std::int64_t max_t,
                                      std::int64_t eta) {
  HYDRO_CHECK(first >= 1 && eta >= 2, "rungs need a first of at least 1 and eta of at least 2");
  std::vector<std::int64_t> levels;
  for (std::int64_t level = first; level <= max_t; level *= eta) {
    levels.push_back(level);
    if (level > max_t / eta) {
      break;  // the next product could overflow
    }
  }
  return levels;
}

std::vector<double> softmax_shares(std::int64_t rungs, std::int64_t brackets) {
  HYDRO_CHECK(brackets >= 1 && brackets <= rungs, "a bracket has a rung");
  std::vector<double> weights;
  weights.reserve(static_cast<std::size_t>(brackets));
  for (std::int64_t s = 0; s < brackets; ++s) {
    weights.push_back(std::exp(static_cast<double>(-s)));
  }
  return normalised(std::move(weights));
}

std::vector<double> budget_shares(const std::vector<std::int64_t>& levels,
                                  std::int64_t brackets) {
  const auto rungs = static_cast<std::int64_t>(levels.size());
  HYDRO_CHECK(brackets >= 1 && brackets <= rungs, "a bracket has a rung");
  std::vector<double> weights;
  weights.reserve(static_cast<std::size_t>(brackets));
  for (std::int64_t s = 0; s < brackets; ++s) {
    weights.push_back(static_cast<double>(rungs) /
                      (static_cast<double>(rungs - s) *
                       static_cast<double>(levels[static_cast<std::size_t>(s)])));
  }
  return normalised(std::move(weights));
}

Spread::Spread(std::vector<double> shares)
    : shares_(std::move(shares)), given_(shares_.size(), 0) {
  HYDRO_CHECK(!shares_.empty(), "trials need a bracket");
}

std::int64_t Spread::next() {
  ++total_;
  std::size_t neediest = 0;
  double most = -1;
  for (std::size_t s = 0; s < shares_.size(); ++s) {
    const double need =
        shares_[s] * static_cast<double>(total_) - static_cast<double>(given_[s]);
    if (need > most) {
      most = need;
      neediest = s;
    }
  }
  ++given_[neediest];
  return static_cast<std::int64_t>(neediest);
}

}  // namespace hydro::search
