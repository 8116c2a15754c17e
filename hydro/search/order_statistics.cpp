#include "hydro/search/order_statistics.h"

#include <cstddef>
#include <cstdint>
#include <optional>

#include "hydro/base/result.h"

namespace hydro::search {

Quantile::Quantile(std::int64_t numerator, std::int64_t denominator)
    : numerator_(numerator), denominator_(denominator) {
  HYDRO_CHECK(numerator >= 0 && numerator < denominator, "a quantile is in [0, 1)");
}

void Quantile::add(double value) {
  ++count_;
  if (low_.empty() || value < low_.top()) {
    low_.push(value);
  } else {
    high_.push(value);
  }
  const auto wanted = static_cast<std::size_t>(place() / denominator_ + 1);
  while (low_.size() < wanted) {
    low_.push(high_.top());
    high_.pop();
  }
  while (low_.size() > wanted) {
    high_.push(low_.top());
    low_.pop();
  }
}

std::optional<double> Quantile::value() const {
  if (count_ == 0) {
    return std::nullopt;
  }
  const std::int64_t rest = place() % denominator_;
  const double a = low_.top();
  if (rest == 0) {
    return a;
  }
  const double b = high_.top();
  const double t = static_cast<double>(rest) / static_cast<double>(denominator_);
  // From the nearer end, as numpy does: the last digit agrees.
  return t < 0.5 ? a + (b - a) * t : b - (b - a) * (1 - t);
}

void BestShare::add(std::int64_t id, double value) {
  ++count_;
  const Entry entry{-value, id};
  free_.insert(entry);
  if (!top_.empty() && entry < top_.top()) {
    rest_.push(top_.top());
    top_.pop();
    top_.push(entry);
  } else {
    rest_.push(entry);
  }
  if (static_cast<std::int64_t>(top_.size()) < places()) {
    top_.push(rest_.top());
    rest_.pop();
  }
}

std::optional<std::int64_t> BestShare::best() const {
  const bool is_among = !top_.empty() && !free_.empty() && *free_.begin() <= top_.top();
  return is_among ? std::optional(free_.begin()->second) : std::nullopt;
}

void BestShare::take(std::int64_t id, double value) {
  HYDRO_CHECK(free_.erase({-value, id}) == 1, "it never came, or was taken before");
}

}  // namespace hydro::search
