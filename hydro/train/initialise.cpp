#include "hydro/train/initialise.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <span>

#include "hydro/base/philox.h"
#include "hydro/base/result.h"
#include "hydro/ir/model.h"

namespace hydro::train {
namespace {

template <std::size_t N>
double polynomial(const std::array<double, N>& coefficients, double x) {
  double value = 0;
  for (const double c : coefficients) {
    value = (value * x) + c;
  }
  return value;
}

// Source: P. J. Acklam, "An algorithm for computing the inverse normal cumulative distribution
// function" (2003); relative error 1.2e-9 before the refining step.
constexpr std::array<double, 6> kCentreTop = {-3.969683028665376e+01,
                                              2.209460984245205e+02,
                                              -2.759285104469687e+02,
                                              1.383577518672690e+02,
                                              -3.066479806614716e+01,
                                              2.506628277459239e+00};
constexpr std::array<double, 6> kCentreBottom = {-5.447609879822406e+01,
                                                 1.615858368580409e+02,
                                                 -1.556989798598866e+02,
                                                 6.680131188771972e+01,
                                                 -1.328068155288572e+01,
                                                 1.0};
constexpr std::array<double, 6> kTailTop = {-7.784894002430293e-03,
                                            -3.223964580411365e-01,
                                            -2.400758277161838e+00,
                                            -2.549732539343734e+00,
                                            4.374664141464968e+00,
                                            2.938163982698783e+00};
constexpr std::array<double, 5> kTailBottom = {7.784695709041462e-03,
                                               3.224671290700398e-01,
                                               2.445134137142996e+00,
                                               3.754408661907416e+00,
                                               1.0};
constexpr double kTail = 0.02425;

double rough_quantile(double p) {
  if (p < kTail) {
    const double q = std::sqrt(-2 * std::log(p));
    return polynomial(kTailTop, q) / polynomial(kTailBottom, q);
  }
  if (p > 1 - kTail) {
    return -rough_quantile(1 - p);
  }
  const double q = p - 0.5;
  return polynomial(kCentreTop, q * q) * q / polynomial(kCentreBottom, q * q);
}

double normal_share(double x) {
  return 0.5 * std::erfc(-x / std::numbers::sqrt2);
}

/// One uniform of (0, 1) a value, through the quantile of the normal cut at low and high.
double truncated_normal(const ir::Law& law, double uniform) {
  const double from = normal_share((law.low - law.mean) / law.std);
  const double to = normal_share((law.high - law.mean) / law.std);
  constexpr double kHalfStep = 0x1p-33;  // uniforms are multiples of 2^-32, 0 among them
  const double value =
      law.mean + (law.std * normal_quantile(from + ((uniform + kHalfStep) * (to - from))));
  return std::clamp(value, law.low, law.high);
}

void draw(const ir::Law& law,
          const DrawSite& site,
          std::uint64_t first,
          std::span<double> out) {
  switch (law.kind) {
    case ir::LawKind::kConstant:
      std::ranges::fill(out, law.value);
      return;
    case ir::LawKind::kNormal:
      fill_normal(site, first, out);
      std::ranges::transform(
          out, out.begin(), [&](double z) { return law.mean + (law.std * z); });
      return;
    case ir::LawKind::kUniform:
      fill_uniform(site, first, out);
      std::ranges::transform(
          out, out.begin(), [&](double u) { return law.low + ((law.high - law.low) * u); });
      return;
    case ir::LawKind::kTruncatedNormal:
      fill_uniform(site, first, out);
      std::ranges::transform(
          out, out.begin(), [&](double u) { return truncated_normal(law, u); });
      return;
  }
}

/// Elements of one row of the entry.
std::int64_t row_size(const ir::StateEntry& entry) {
  std::int64_t size = 1;
  for (std::size_t i = 1; i < entry.shape.size(); ++i) {
    size *= entry.shape[i];
  }
  return size;
}

/// Zeroes what `out`, elements from `first` on, has of the block.
void clear(const ir::StateEntry& entry,
           const ir::ZeroBlock& block,
           std::int64_t first,
           std::span<double> out) {
  const auto dim = static_cast<std::size_t>(block.dim);
  std::int64_t stride = 1;
  for (std::size_t i = dim + 1; i < entry.shape.size(); ++i) {
    stride *= entry.shape[i];
  }
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::int64_t place =
        (first + static_cast<std::int64_t>(i)) / stride % entry.shape.at(dim);
    if (place >= block.begin && place < block.end) {
      out[i] = 0;
    }
  }
}

}  // namespace

double normal_quantile(double p) {
  const double x = rough_quantile(p);
  // One step of Halley's method.
  const double error =
      (normal_share(x) - p) * std::sqrt(2 * std::numbers::pi) * std::exp(x * x / 2);
  return x - (error / (1 + (x * error / 2)));
}

void draw_initial(const ir::StateEntry& entry,
                  std::uint64_t key,
                  std::int64_t first,
                  std::span<double> out) {
  const DrawSite site{.key = key, .node = static_cast<std::uint32_t>(entry.index), .step = 0};
  const std::int64_t row = row_size(entry);
  const std::int64_t end = first + static_cast<std::int64_t>(out.size());
  std::int64_t drawn = 0;
  for (const ir::Law& law : entry.laws) {
    const std::int64_t from = std::max(first, law.row_begin * row);
    const std::int64_t to = std::min(end, law.row_end * row);
    if (from < to) {
      draw(law,
           site,
           static_cast<std::uint64_t>(from),
           out.subspan(static_cast<std::size_t>(from - first),
                       static_cast<std::size_t>(to - from)));
      drawn += to - from;
    }
  }
  HYDRO_CHECK(drawn == end - first, entry.name + " has rows without a law");
  for (const ir::ZeroBlock& block : entry.zeros) {
    clear(entry, block, first, out);
  }
}

}  // namespace hydro::train
