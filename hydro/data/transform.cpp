#include "hydro/data/transform.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "hydro/base/philox.h"
#include "hydro/base/result.h"
#include "hydro/base/text.h"
#include "hydro/data/dataset.h"

namespace hydro::data {
namespace {

constexpr std::int64_t kLargestSide = 65'536;

std::string text_of(const ImageShape& s) {
  return "[" + std::to_string(s.channels) + ", " + std::to_string(s.height) + ", " +
         std::to_string(s.width) + "]";
}

Error unfit(const std::string& problem) {
  return make_error("H0411", problem);
}

Result<ImageShape> shape_of(const ImageShape& shape, const Rgb& /*rgb*/) {
  if (shape.channels != 1 && shape.channels != 3) {
    return unfit("rgb needs 1 or 3 channels, the images are " + text_of(shape));
  }
  return ImageShape{.channels = 3, .height = shape.height, .width = shape.width};
}

Result<ImageShape> shape_of(const ImageShape& shape, const Normalize& normalize) {
  const auto fits = [&](const std::vector<float>& values) {
    return values.size() == 1 || static_cast<std::int64_t>(values.size()) == shape.channels;
  };
  if (!fits(normalize.mean) || !fits(normalize.std)) {
    return unfit("normalize has " + std::to_string(normalize.mean.size()) + " means and " +
                 std::to_string(normalize.std.size()) + " stds, the images have " +
                 std::to_string(shape.channels) + " channels");
  }
  const auto is_finite = [](float value) { return std::isfinite(value); };
  const auto is_divisor = [](float value) { return std::isfinite(value) && value != 0; };
  if (!std::ranges::all_of(normalize.mean, is_finite) ||
      !std::ranges::all_of(normalize.std, is_divisor)) {
    return unfit("normalize needs finite numbers and a std other than 0");
  }
  return shape;
}

Result<ImageShape> shape_of(const ImageShape& shape, const RandomCrop& crop) {
  if (crop.padding < 0 || crop.size < 0 || crop.padding > kLargestSide ||
      crop.size > kLargestSide) {
    return unfit("random_crop's padding and size must lie between 0 and " +
                 std::to_string(kLargestSide));
  }
  if (crop.size == 0) {
    return shape;
  }
  if (crop.size > std::min(shape.height, shape.width) + 2 * crop.padding) {
    return unfit("random_crop of " + std::to_string(crop.size) + " does not fit into images " +
                 text_of(shape) + " with padding " + std::to_string(crop.padding));
  }
  return ImageShape{.channels = shape.channels, .height = crop.size, .width = crop.size};
}

Result<ImageShape> shape_of(const ImageShape& shape, const RandomFlip& flip) {
  if (std::isnan(flip.p) || flip.p < 0 || flip.p > 1) {
    return unfit("random_flip's p is " + shortest(flip.p) +
                 ", a probability lies between 0 and 1");
  }
  return shape;
}

Result<ImageShape> shape_of(const ImageShape& shape, const Resize& resize) {
  if (resize.height < 1 || resize.width < 1 || resize.height > kLargestSide ||
      resize.width > kLargestSide) {
    return unfit("resize to " + std::to_string(resize.height) + " x " +
                 std::to_string(resize.width) + ": sides lie between 1 and " +
                 std::to_string(kLargestSide));
  }
  return ImageShape{.channels = shape.channels, .height = resize.height, .width = resize.width};
}

}  // namespace

Result<ImageShape> shape_after(const ImageShape& shape, const Transform& transform) {
  return std::visit([&](const auto& kind) { return shape_of(shape, kind); }, transform);
}

std::vector<Transform> acting(std::span<const Transform> transforms, Use use) {
  std::vector<Transform> kept;
  std::ranges::copy_if(transforms, std::back_inserter(kept), [&](const Transform& transform) {
    const bool is_random = std::holds_alternative<RandomCrop>(transform) ||
                           std::holds_alternative<RandomFlip>(transform);
    return use == Use::kTraining || !is_random;
  });
  return kept;
}

std::int64_t Choices::below(std::int64_t bound, std::size_t stage, unsigned axis) const {
  // Two choices a stage, 128 stages: the sample's number starts above them.
  const std::uint64_t counter = static_cast<std::uint64_t>(sample_) << 8U | stage << 1U | axis;
  return static_cast<std::int64_t>(bounded(key_, counter, static_cast<std::uint64_t>(bound)));
}

bool Choices::happens(double p, std::size_t stage) const {
  constexpr std::int64_t kSteps = std::int64_t{1} << 53;
  return static_cast<double>(below(kSteps, stage, 0)) < p * static_cast<double>(kSteps);
}

CropPlace crop_place(const RandomCrop& crop,
                     const ImageShape& shape,
                     const Choices& choices,
                     std::size_t stage) {
  const std::int64_t height = crop.size == 0 ? shape.height : crop.size;
  const std::int64_t width = crop.size == 0 ? shape.width : crop.size;
  return {.top = choices.below(shape.height + 2 * crop.padding - height + 1, stage, 0) -
                 crop.padding,
          .left = choices.below(shape.width + 2 * crop.padding - width + 1, stage, 1) -
                  crop.padding,
          .shape = {.channels = shape.channels, .height = height, .width = width}};
}

std::uint64_t augmentation_key(std::uint64_t seed, std::int64_t epoch) {
  return stream_key(seed, "epoch " + std::to_string(epoch), "augmentation");
}

}  // namespace hydro::data
