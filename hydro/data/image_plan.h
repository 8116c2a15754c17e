// hydro/data/image_plan.h — how the images of one field become floats: either one gather
// through a table (any row of rgb, normalize, flips and at most one crop), or stage by stage
// (resize, several crops). Both give the same bits. Thread-safety: const after construction.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "hydro/data/dataset.h"
#include "hydro/data/resize.h"
#include "hydro/data/transform.h"

namespace hydro::data {

/// Shapes: from [C, H, W] bytes, to [H', W', C'] floats.
class GatherPlan {
 public:
  /// Requires: gatherable(transforms) (BugError)
  GatherPlan(const ImageShape& shape, std::vector<Transform> transforms);
  void run(const std::byte* from, const Choices& choices, float* to) const;

 private:
  struct Reading;
  [[nodiscard]] Reading choose(const Choices& choices) const;
  void copy_row(const std::byte* from, const Reading& reading, float* to) const;
  void copy_pixels(const std::byte* from,
                   std::int64_t step,
                   std::int64_t count,
                   float* to) const;

  ImageShape in_;
  ImageShape out_;
  std::vector<Transform> transforms_;
  std::vector<float> table_;    // [256][C']: the value of a byte
  std::vector<float> padding_;  // [C']: what a crop finds outside
};

[[nodiscard]] bool gatherable(std::span<const Transform> transforms);

class StagedPlan {
 public:
  StagedPlan(const ImageShape& shape, std::vector<Transform> transforms);
  void run(const std::byte* from, const Choices& choices, float* to) const;

 private:
  struct ResizeWeights {
    AxisWeights rows;
    AxisWeights columns;
  };

  ImageShape in_;
  std::vector<Transform> transforms_;
  std::vector<std::optional<ResizeWeights>> weights_;  // one a transform
};

/// The shape after all of `transforms`.
///
/// Requires: they fit (BugError)
[[nodiscard]] ImageShape final_shape(const ImageShape& shape,
                                     std::span<const Transform> transforms);

}  // namespace hydro::data
