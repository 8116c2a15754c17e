#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/data/dataset.h"
#include "hydro/data/image_plan.h"
#include "hydro/data/transform.h"

namespace hydro::data {
namespace {

constexpr std::size_t kByteValues = 256;
constexpr float kWhite = 255.0F;

/// What each channel makes of each byte, and of the zeros that a crop pads with.
struct Values {
  std::vector<std::array<float, kByteValues>> of_byte;  // one a channel
  std::vector<float> of_padding;
};

Values scaled_bytes(std::int64_t channels) {
  std::array<float, kByteValues> scaled{};
  for (std::size_t byte = 0; byte < kByteValues; ++byte) {
    scaled.at(byte) = static_cast<float>(byte) / kWhite;
  }
  const auto count = static_cast<std::size_t>(channels);
  return {.of_byte = std::vector(count, scaled), .of_padding = std::vector<float>(count, 0.0F)};
}

void follow(Values& values, const Rgb& /*rgb*/) {
  values.of_byte.resize(3, values.of_byte.front());
  values.of_padding.resize(3, values.of_padding.front());
}

void follow(Values& values, const Normalize& normalize) {
  for (std::size_t c = 0; c < values.of_byte.size(); ++c) {
    const float mean = normalize.mean[normalize.mean.size() == 1 ? 0 : c];
    const float std = normalize.std[normalize.std.size() == 1 ? 0 : c];
    for (float& value : values.of_byte[c]) {
      value = (value - mean) / std;
    }
    values.of_padding[c] = (values.of_padding[c] - mean) / std;
  }
}

void follow(Values& values, const RandomCrop& /*crop*/) {
  std::ranges::fill(values.of_padding, 0.0F);
}

void follow(Values& /*values*/, const RandomFlip& /*flip*/) {}

void follow(Values& /*values*/, const Resize& /*resize*/) {
  HYDRO_CHECK(false, "resize is no gather");
}

}  // namespace

bool gatherable(std::span<const Transform> transforms) {
  const auto crops = std::ranges::count_if(
      transforms, [](const auto& t) { return std::holds_alternative<RandomCrop>(t); });
  const auto resizes = std::ranges::count_if(
      transforms, [](const auto& t) { return std::holds_alternative<Resize>(t); });
  return crops <= 1 && resizes == 0;
}

/// Which source pixel an output pixel shows: row y + top, column `left` + x * step; a flip
/// reads leftwards.
struct GatherPlan::Reading {
  std::int64_t top = 0;
  std::int64_t left = 0;
  std::int64_t step = 1;
};

GatherPlan::GatherPlan(const ImageShape& shape, std::vector<Transform> transforms)
    : in_(shape), out_(final_shape(shape, transforms)), transforms_(std::move(transforms)) {
  HYDRO_CHECK(gatherable(transforms_));
  Values values = scaled_bytes(shape.channels);
  for (const Transform& transform : transforms_) {
    std::visit([&](const auto& kind) { follow(values, kind); }, transform);
  }
  for (std::size_t byte = 0; byte < kByteValues; ++byte) {
    for (const auto& channel : values.of_byte) {
      table_.push_back(channel.at(byte));
    }
  }
  padding_ = std::move(values.of_padding);
}

GatherPlan::Reading GatherPlan::choose(const Choices& choices) const {
  Reading reading;
  ImageShape shape = in_;
  for (std::size_t stage = 0; stage < transforms_.size(); ++stage) {
    const Transform& transform = transforms_[stage];
    if (const auto* crop = std::get_if<RandomCrop>(&transform)) {
      const CropPlace place = crop_place(*crop, shape, choices, stage);
      reading.top += place.top;
      reading.left += reading.step * place.left;
      shape = place.shape;
    } else if (const auto* flip = std::get_if<RandomFlip>(&transform);
               flip && choices.happens(flip->p, stage)) {
      reading.left += reading.step * (shape.width - 1);
      reading.step = -reading.step;
    }
  }
  return reading;
}

void GatherPlan::copy_pixels(const std::byte* from,
                             std::int64_t step,
                             std::int64_t count,
                             float* to) const {
  const auto channels = static_cast<std::size_t>(out_.channels);
  const std::int64_t plane = in_.height * in_.width;
  if (in_.channels == 1 && channels == 3) {  // the common grey image for a colour model
    for (std::int64_t x = 0; x < count; ++x, to += 3) {
      const float* values = table_.data() + 3 * std::to_integer<std::size_t>(from[x * step]);
      to[0] = values[0];
      to[1] = values[1];
      to[2] = values[2];
    }
    return;
  }
  for (std::size_t c = 0; c < channels; ++c) {
    const std::byte* row =
        from + (in_.channels == 1 ? 0 : static_cast<std::int64_t>(c) * plane);
    for (std::int64_t x = 0; x < count; ++x) {
      to[static_cast<std::size_t>(x) * channels + c] =
          table_[std::to_integer<std::size_t>(row[x * step]) * channels + c];
    }
  }
}

void GatherPlan::copy_row(const std::byte* from, const Reading& reading, float* to) const {
  // Columns [first, end) lie inside the source; a crop's padding is to both sides of them.
  const bool forward = reading.step > 0;
  const std::int64_t before = forward ? -reading.left : reading.left - (in_.width - 1);
  const std::int64_t first = std::clamp<std::int64_t>(before, 0, out_.width);
  const std::int64_t reach = forward ? in_.width - reading.left : reading.left + 1;
  const std::int64_t end = std::clamp<std::int64_t>(reach, first, out_.width);
  for (std::int64_t x = 0; x < out_.width; ++x) {
    if (x == first && first < end) {
      copy_pixels(from + reading.left + x * reading.step,
                  reading.step,
                  end - first,
                  to + x * out_.channels);
      x = end - 1;
      continue;
    }
    std::ranges::copy(padding_, to + x * out_.channels);
  }
}

void GatherPlan::run(const std::byte* from, const Choices& choices, float* to) const {
  const Reading reading = choose(choices);
  const std::int64_t row_size = out_.width * out_.channels;
  for (std::int64_t y = 0; y < out_.height; ++y, to += row_size) {
    const std::int64_t row = y + reading.top;
    if (row >= 0 && row < in_.height) {
      copy_row(from + row * in_.width, reading, to);
      continue;
    }
    for (std::int64_t x = 0; x < out_.width; ++x) {
      std::ranges::copy(padding_, to + x * out_.channels);
    }
  }
}

}  // namespace hydro::data
