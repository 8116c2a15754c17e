#include "hydro/data/resize.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace hydro::data {
namespace {

double triangle(double x) {
  return std::max(0.0, 1.0 - std::abs(x));
}

/// Towards zero, also from below zero: torchvision's bounds of a filter window.
std::int64_t window_bound(double x) {
  return static_cast<std::int64_t>(x + 0.5);  // NOLINT(bugprone-incorrect-roundings): as there
}

/// Adds `weight` times a run of floats to another.
void accumulate(const float* from, float weight, std::int64_t count, float* to) {
  for (std::int64_t i = 0; i < count; ++i) {
    to[i] += weight * from[i];
  }
}

FloatImage resized_columns(const FloatImage& image, const AxisWeights& columns) {
  const auto width = static_cast<std::int64_t>(columns.windows.size());
  const std::int64_t c = image.channels;
  FloatImage out{.height = image.height, .width = width, .channels = c, .pixels = {}};
  out.pixels.resize(static_cast<std::size_t>(image.height * width * c));
  for (std::int64_t y = 0; y < image.height; ++y) {
    const float* row = image.pixels.data() + y * image.width * c;
    float* to = out.pixels.data() + y * width * c;
    for (const AxisWindow& window : columns.windows) {
      for (std::int64_t i = 0; i < window.count; ++i) {
        accumulate(row + (window.first + i) * c,
                   columns.weights[window.weights + static_cast<std::size_t>(i)],
                   c,
                   to);
      }
      to += c;
    }
  }
  return out;
}

FloatImage resized_rows(const FloatImage& image, const AxisWeights& rows) {
  const auto height = static_cast<std::int64_t>(rows.windows.size());
  const std::int64_t row_size = image.width * image.channels;
  FloatImage out{
      .height = height, .width = image.width, .channels = image.channels, .pixels = {}};
  out.pixels.resize(static_cast<std::size_t>(height * row_size));
  float* to = out.pixels.data();
  for (const AxisWindow& window : rows.windows) {
    for (std::int64_t i = 0; i < window.count; ++i) {
      const float* row = image.pixels.data() + (window.first + i) * row_size;
      accumulate(row, rows.weights[window.weights + static_cast<std::size_t>(i)], row_size, to);
    }
    to += row_size;
  }
  return out;
}

}  // namespace

AxisWeights antialias_weights(std::int64_t from, std::int64_t to) {
  const double scale = static_cast<double>(from) / static_cast<double>(to);
  const double stretch = std::max(scale, 1.0);  // shrinking widens the filter, growing does not
  AxisWeights axis;
  for (std::int64_t i = 0; i < to; ++i) {
    const double center = scale * (static_cast<double>(i) + 0.5);
    const std::int64_t first = std::max<std::int64_t>(window_bound(center - stretch), 0);
    const std::int64_t end = std::min(window_bound(center + stretch), from);
    axis.windows.push_back(
        {.first = first, .count = end - first, .weights = axis.weights.size()});
    double total = 0;
    for (std::int64_t j = first; j < end; ++j) {
      total += triangle((static_cast<double>(j) - center + 0.5) / stretch);
    }
    for (std::int64_t j = first; j < end; ++j) {
      axis.weights.push_back(static_cast<float>(
          triangle((static_cast<double>(j) - center + 0.5) / stretch) / total));
    }
  }
  return axis;
}

FloatImage resized(const FloatImage& image,
                   const AxisWeights& rows,
                   const AxisWeights& columns) {
  return resized_rows(resized_columns(image, columns), rows);
}

}  // namespace hydro::data
