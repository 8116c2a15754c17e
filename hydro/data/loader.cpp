#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "hydro/base/bytes.h"
#include "hydro/base/result.h"
#include "hydro/data/dataset.h"
#include "hydro/data/image_plan.h"
#include "hydro/data/masking.h"
#include "hydro/data/text.h"
#include "hydro/data/transform.h"

namespace hydro::data {
namespace {

constexpr std::size_t kImageAxes = 3;  // of one sample

std::size_t elements_of(std::span<const std::int64_t> shape) {
  std::int64_t count = 1;
  for (const std::int64_t size : shape) {
    count *= size;
  }
  return static_cast<std::size_t>(count);
}

using ImagePlan = std::variant<GatherPlan, StagedPlan>;

ImageShape image_shape(const Field& field) {
  return {.channels = field.shape[0], .height = field.shape[1], .width = field.shape[2]};
}

/// Without the resizes that find the images at their size, as a folder's are once loaded.
std::vector<Transform> effective(ImageShape shape, const std::vector<Transform>& transforms) {
  std::vector<Transform> kept;
  for (const Transform& transform : transforms) {
    const ImageShape after = shape_after(shape, transform).value();
    if (!std::holds_alternative<Resize>(transform) || after != shape) {
      kept.push_back(transform);
    }
    shape = after;
  }
  return kept;
}

ImagePlan plan_images(const ImageShape& shape, const std::vector<Transform>& transforms) {
  return gatherable(transforms) ? ImagePlan(std::in_place_type<GatherPlan>, shape, transforms)
                                : ImagePlan(std::in_place_type<StagedPlan>, shape, transforms);
}

/// Shapes: from [C, H, W], to [H, W, C]
void to_channels_last(const std::byte* from, std::span<const std::int64_t> shape, float* to) {
  const auto channels = static_cast<std::size_t>(shape[0]);
  const std::size_t plane = elements_of(shape.subspan(1));
  std::vector<float> planes(channels * plane);
  std::memcpy(planes.data(), from, planes.size() * sizeof(float));
  for (std::size_t c = 0; c < channels; ++c) {
    for (std::size_t i = 0; i < plane; ++i) {
      to[i * channels + c] = planes[c * plane + i];
    }
  }
}

/// Copies rows of `width` numbers as they are.
template <class Number>
void gather(const Number* from,
            std::size_t width,
            std::span<const std::int64_t> indices,
            std::vector<Number>& to) {
  to.resize(width * indices.size());
  for (std::size_t i = 0; i < indices.size(); ++i) {
    std::copy_n(
        from + static_cast<std::size_t>(indices[i]) * width, width, to.data() + i * width);
  }
}

void gather_bytes(const Bytes& from,
                  std::size_t row_bytes,
                  std::span<const std::int64_t> indices,
                  void* to) {
  auto* target = static_cast<std::byte*>(to);
  for (const std::int64_t index : indices) {
    std::memcpy(target, from.data() + static_cast<std::size_t>(index) * row_bytes, row_bytes);
    target += row_bytes;
  }
}

struct FieldPlan {
  std::vector<std::int64_t> shape;  // of one sample, after the transforms
  std::optional<ImagePlan> image;
};

FieldPlan plan_field(const Field& field, const std::vector<Transform>& transforms) {
  if (!field.is_image) {
    return {.shape = field.shape, .image = {}};
  }
  HYDRO_CHECK(field.type == ElementType::kUInt8, "images are uint8");
  HYDRO_CHECK(field.shape.size() == kImageAxes, "images are [C, H, W]");
  const ImageShape before = image_shape(field);
  const ImageShape after = final_shape(before, transforms);
  return {.shape = {after.channels, after.height, after.width},
          .image = plan_images(before, effective(before, transforms))};
}

void fill_images(const Field& field,
                 const ImagePlan& plan,
                 std::size_t out,
                 std::span<const std::int64_t> indices,
                 std::uint64_t epoch_key,
                 float* to) {
  const std::size_t sample = elements_of(field.shape);
  for (const std::int64_t index : indices) {
    const std::byte* from = field.bytes.data() + static_cast<std::size_t>(index) * sample;
    std::visit([&](const auto& image) { image.run(from, Choices(epoch_key, index), to); },
               plan);
    to += out;
  }
}

void fill_floats(const Field& field,
                 std::span<const std::int64_t> indices,
                 BatchBuffer::Slot& slot) {
  const std::size_t sample = elements_of(field.shape);
  if (!slot.channels_last) {
    gather_bytes(field.bytes, sample * sizeof(float), indices, slot.floats.data());
    return;
  }
  for (std::size_t i = 0; i < indices.size(); ++i) {
    const std::byte* from =
        field.bytes.data() + static_cast<std::size_t>(indices[i]) * sample * sizeof(float);
    to_channels_last(from, field.shape, slot.floats.data() + i * sample);
  }
}

void fill_slot(const Field& field,
               const FieldPlan& plan,
               std::span<const std::int64_t> indices,
               std::uint64_t epoch_key,
               BatchBuffer::Slot& slot) {
  const bool whole = field.is_text || field.type == ElementType::kInt64;
  slot.type = whole ? ElementType::kInt64 : ElementType::kFloat32;
  slot.shape.assign(1, static_cast<std::int64_t>(indices.size()));
  slot.shape.insert(slot.shape.end(), plan.shape.begin(), plan.shape.end());
  const std::size_t count = elements_of(slot.shape);
  slot.channels_last = !whole && plan.shape.size() == kImageAxes;
  slot.floats.resize(whole ? 0 : count);
  slot.integers.resize(whole ? count : 0);
  if (field.is_text) {
    gather_tokens(field, indices, 0, slot.integers);
  } else if (whole) {
    gather_bytes(field.bytes,
                 elements_of(field.shape) * sizeof(std::int64_t),
                 indices,
                 slot.integers.data());
  } else if (plan.image) {
    fill_images(
        field, *plan.image, elements_of(plan.shape), indices, epoch_key, slot.floats.data());
  } else {
    fill_floats(field, indices, slot);
  }
}

/// Of a text, whose labels are its tokens.
void hide(const Masking& masking,
          std::uint64_t key,
          std::span<const std::int64_t> indices,
          BatchBuffer& batch) {
  const std::span<std::int64_t> tokens(batch.inputs.front().integers);
  const std::span<std::int64_t> labels(batch.classes);
  const std::size_t block = tokens.size() / indices.size();
  for (std::size_t i = 0; i < indices.size(); ++i) {
    hide_tokens(masking,
                key,
                indices[i],
                tokens.subspan(i * block, block),
                labels.subspan(i * block, block));
  }
}

}  // namespace

struct Loader::Plan {
  std::vector<FieldPlan> fields;
};

Loader::Loader(std::shared_ptr<const Dataset> dataset,
               const std::vector<Transform>& transforms,
               Use use,
               std::uint64_t seed,
               std::optional<Masking> masking)
    : dataset_(std::move(dataset)),
      use_(use),
      seed_(seed),
      masking_(masking),
      plan_(std::make_unique<Plan>()) {
  HYDRO_CHECK(!masking_ || dataset_->is_text(), "only tokens are hidden");
  const std::vector<Transform> kept = acting(transforms, use);
  for (const Field& field : dataset_->inputs) {
    plan_->fields.push_back(plan_field(field, kept));
  }
}

Loader::~Loader() = default;

void Loader::fill(std::span<const std::int64_t> indices,
                  std::int64_t epoch,
                  BatchBuffer& batch) const {
  HYDRO_CHECK(std::ranges::all_of(
      indices, [&](std::int64_t i) { return i >= 0 && i < dataset_->size; }));
  const std::uint64_t epoch_key = augmentation_key(seed_, epoch);
  batch.inputs.resize(dataset_->inputs.size());
  for (std::size_t i = 0; i < batch.inputs.size(); ++i) {
    fill_slot(dataset_->inputs[i], plan_->fields[i], indices, epoch_key, batch.inputs[i]);
  }
  const Target& target = dataset_->target;
  const std::size_t width = elements_of(target.shape);
  gather(target.classes.data(), target.classes.empty() ? 0 : width, indices, batch.classes);
  gather(target.values.data(), target.values.empty() ? 0 : width, indices, batch.values);
  if (dataset_->is_text()) {
    const Field& text = dataset_->inputs.front();
    gather_tokens(text, indices, text.labels == TextLabels::kNext ? 1 : 0, batch.classes);
  }
  if (masking_) {
    hide(*masking_, masking_key(seed_, use_, epoch), indices, batch);
  }
}

}  // namespace hydro::data
