// hydro/data/resize.h — bilinear resizing with antialiasing, as torchvision's resize of float
// images. Source: aten/src/ATen/native/cpu/UpSampleKernel.cpp (_upsample_bilinear2d_aa),
// align_corners false.
#pragma once

#include <cstdint>
#include <vector>

namespace hydro::data {

/// Pixels [H, W, C].
struct FloatImage {
  std::int64_t height = 0;
  std::int64_t width = 0;
  std::int64_t channels = 0;
  std::vector<float> pixels;
};

/// One output position is a weighted mean of `count` inputs from `first` on.
struct AxisWindow {
  std::int64_t first = 0;
  std::int64_t count = 0;
  std::size_t weights = 0;  // where its weights start
};

struct AxisWeights {
  std::vector<AxisWindow> windows;  // one an output position
  std::vector<float> weights;
};

[[nodiscard]] AxisWeights antialias_weights(std::int64_t from, std::int64_t to);

[[nodiscard]] FloatImage resized(const FloatImage& image,
                                 const AxisWeights& rows,
                                 const AxisWeights& columns);

}  // namespace hydro::data
