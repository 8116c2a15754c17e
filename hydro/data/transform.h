// hydro/data/transform.h — what transforms do to shapes, and the random choices of
// augmentation. Thread-safety: pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/data/dataset.h"

namespace hydro::data {

struct ImageShape {
  std::int64_t channels = 0;
  std::int64_t height = 0;
  std::int64_t width = 0;
  bool operator==(const ImageShape&) const = default;
};

/// Errors: H0411
[[nodiscard]] Result<ImageShape> shape_after(const ImageShape& shape,
                                             const Transform& transform);

/// The transforms that act in `use`: random ones act in training only.
[[nodiscard]] std::vector<Transform> acting(std::span<const Transform> transforms, Use use);

/// The augmentation of one sample in one epoch: a choice depends on nothing else.
class Choices {
 public:
  Choices(std::uint64_t epoch_key, std::int64_t sample) : key_(epoch_key), sample_(sample) {}

  /// Uniform in [0, bound) for the `axis`-th choice of the `stage`-th transform.
  [[nodiscard]] std::int64_t below(std::int64_t bound, std::size_t stage, unsigned axis) const;
  [[nodiscard]] bool happens(double p, std::size_t stage) const;

 private:
  std::uint64_t key_;
  std::int64_t sample_;
};

/// Where a crop's first pixel lies in the image before it; negative inside the padding.
struct CropPlace {
  std::int64_t top = 0;
  std::int64_t left = 0;
  ImageShape shape;  // after the crop
};

[[nodiscard]] CropPlace crop_place(const RandomCrop& crop,
                                   const ImageShape& shape,
                                   const Choices& choices,
                                   std::size_t stage);

[[nodiscard]] std::uint64_t augmentation_key(std::uint64_t seed, std::int64_t epoch);

}  // namespace hydro::data
