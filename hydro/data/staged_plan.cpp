#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/data/dataset.h"
#include "hydro/data/image_plan.h"
#include "hydro/data/resize.h"
#include "hydro/data/transform.h"

namespace hydro::data {
namespace {

constexpr float kWhite = 255.0F;

FloatImage blank(const ImageShape& shape) {
  FloatImage image{
      .height = shape.height, .width = shape.width, .channels = shape.channels, .pixels = {}};
  image.pixels.resize(static_cast<std::size_t>(shape.height * shape.width * shape.channels));
  return image;
}

ImageShape shape_of(const FloatImage& image) {
  return {.channels = image.channels, .height = image.height, .width = image.width};
}

FloatImage scaled(const std::byte* from, const ImageShape& shape) {
  FloatImage image = blank(shape);
  const std::int64_t plane = shape.height * shape.width;
  for (std::int64_t c = 0; c < shape.channels; ++c) {
    for (std::int64_t i = 0; i < plane; ++i) {
      const auto value = std::to_integer<unsigned char>(from[c * plane + i]);
      image.pixels[static_cast<std::size_t>(i * shape.channels + c)] =
          static_cast<float>(value) / kWhite;
    }
  }
  return image;
}

FloatImage to_rgb(const FloatImage& image) {
  if (image.channels == 3) {
    return image;
  }
  FloatImage out = blank({.channels = 3, .height = image.height, .width = image.width});
  for (std::size_t i = 0; i < image.pixels.size(); ++i) {
    std::fill_n(out.pixels.begin() + static_cast<std::ptrdiff_t>(3 * i), 3, image.pixels[i]);
  }
  return out;
}

void normalized(FloatImage& image, const Normalize& normalize) {
  const auto channels = static_cast<std::size_t>(image.channels);
  for (std::size_t i = 0; i < image.pixels.size(); ++i) {
    const std::size_t c = i % channels;
    const float mean = normalize.mean[normalize.mean.size() == 1 ? 0 : c];
    const float std = normalize.std[normalize.std.size() == 1 ? 0 : c];
    image.pixels[i] = (image.pixels[i] - mean) / std;
  }
}

FloatImage cropped(const FloatImage& image, const CropPlace& place) {
  FloatImage out = blank(place.shape);
  const std::int64_t c = image.channels;
  const std::int64_t first = std::clamp<std::int64_t>(-place.left, 0, out.width);
  const std::int64_t end = std::clamp<std::int64_t>(image.width - place.left, first, out.width);
  for (std::int64_t y = 0; y < out.height; ++y) {
    const std::int64_t row = y + place.top;
    if (row >= 0 && row < image.height) {
      const float* from = image.pixels.data() + (row * image.width + first + place.left) * c;
      std::copy_n(from, (end - first) * c, out.pixels.data() + (y * out.width + first) * c);
    }
  }
  return out;
}

void flip(FloatImage& image) {
  const std::int64_t c = image.channels;
  for (std::int64_t y = 0; y < image.height; ++y) {
    float* row = image.pixels.data() + y * image.width * c;
    for (std::int64_t x = 0; x < image.width / 2; ++x) {
      std::swap_ranges(row + x * c, row + (x + 1) * c, row + (image.width - 1 - x) * c);
    }
  }
}

}  // namespace

ImageShape final_shape(const ImageShape& shape, std::span<const Transform> transforms) {
  ImageShape after = shape;
  for (const Transform& transform : transforms) {
    after = shape_after(after, transform).value();
  }
  return after;
}

StagedPlan::StagedPlan(const ImageShape& shape, std::vector<Transform> transforms)
    : in_(shape), transforms_(std::move(transforms)), weights_(transforms_.size()) {
  ImageShape before = shape;
  for (std::size_t stage = 0; stage < transforms_.size(); ++stage) {
    if (const auto* resize = std::get_if<Resize>(&transforms_[stage])) {
      weights_[stage] = {.rows = antialias_weights(before.height, resize->height),
                         .columns = antialias_weights(before.width, resize->width)};
    }
    before = shape_after(before, transforms_[stage]).value();
  }
}

void StagedPlan::run(const std::byte* from, const Choices& choices, float* to) const {
  FloatImage image = scaled(from, in_);
  for (std::size_t stage = 0; stage < transforms_.size(); ++stage) {
    const Transform& transform = transforms_[stage];
    if (std::holds_alternative<Rgb>(transform)) {
      image = to_rgb(image);
    } else if (const auto* normalize = std::get_if<Normalize>(&transform)) {
      normalized(image, *normalize);
    } else if (const auto* crop = std::get_if<RandomCrop>(&transform)) {
      image = cropped(image, crop_place(*crop, shape_of(image), choices, stage));
    } else if (const auto* chance = std::get_if<RandomFlip>(&transform)) {
      if (choices.happens(chance->p, stage)) {
        flip(image);
      }
    } else {
      const auto& weights = weights_[stage];
      HYDRO_CHECK(weights.has_value(), "only resizes are left");
      image = resized(image, weights->rows, weights->columns);
    }
  }
  std::ranges::copy(image.pixels, to);
}

}  // namespace hydro::data
