// `data.transform`: a list of names, each alone or with its arguments.
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/job/job.h"
#include "hydro/job/node.h"
#include "hydro/job/reader.h"
#include "hydro/job/schema.h"
#include "hydro/job/sections.h"

namespace hydro::job {
namespace {

/// One number, or a list of them.
std::optional<std::vector<float>> as_floats(const Node& node) {
  std::vector<float> values;
  const std::span<const Node> items =
      node.is_sequence() ? std::span<const Node>(node.items) : std::span(&node, 1);
  for (const Node& item : items) {
    const auto number = as_number(item);
    if (!number || !std::isfinite(*number)) {
      return std::nullopt;
    }
    values.push_back(static_cast<float>(*number));
  }
  return values.empty() ? std::nullopt : std::optional(std::move(values));
}

Result<void> read_mean(const Reader& reader,
                       const Node& node,
                       const Row<Normalize>& row,
                       Normalize& out) {
  auto values = as_floats(node);
  if (!values) {
    return reader.wrong(node, row.key, row.type);
  }
  out.mean = *std::move(values);
  return {};
}

Result<void> read_std(const Reader& reader,
                      const Node& node,
                      const Row<Normalize>& row,
                      Normalize& out) {
  auto values = as_floats(node);
  if (!values || std::ranges::any_of(*values, [](float value) { return value <= 0; })) {
    return reader.wrong(node, row.key, row.type);
  }
  out.std = *std::move(values);
  return {};
}

Result<void> read_size(const Reader& reader,
                       const Node& node,
                       const Row<Resize>& row,
                       Resize& out) {
  const bool pair = node.is_sequence() && node.items.size() == 2;
  const auto height = as_integer(pair ? node.items[0] : node);
  const auto width = as_integer(pair ? node.items[1] : node);
  if (!height || !width || *height < 1 || *width < 1) {
    return reader.wrong(node, row.key, row.type);
  }
  out = {.height = *height, .width = *width};
  return {};
}

constexpr auto kNormalizeRows = std::to_array<Row<Normalize>>({
    {"mean", "a number, or one a channel", "", "subtracted from images in [0, 1]", &read_mean},
    {"std", "a number above 0, or one a channel", "", "then divided by", &read_std},
});
constexpr auto kCropRows = std::to_array<Row<RandomCrop>>({
    {"padding",
     "an integer of at least 0",
     "0",
     "zeros added on every side",
     &read_integer<&RandomCrop::padding, 0, RandomCrop>},
    {"size",
     "an integer of at least 1",
     "",
     "of the crop; default the image's",
     &read_integer<&RandomCrop::size, 1, RandomCrop>},
});
constexpr auto kFlipRows = std::to_array<Row<RandomFlip>>({
    {"p",
     "a number in [0, 1]",
     "0.5",
     "probability of a left-right flip",
     &read_number<&RandomFlip::p, Limits{.low = 0, .high = 1}, RandomFlip>},
});
constexpr auto kResizeRows = std::to_array<Row<Resize>>({
    {"size", "an integer, or [height, width]", "", "bilinear, antialiased", &read_size},
});
constexpr std::array<Row<Rgb>, 0> kRgbRows{};

template <class T>
Result<Transform> read_with(const Reader& reader,
                            const Node& node,
                            std::string_view name,
                            std::span<const Row<T>> rows,
                            std::span<const std::string_view> needed) {
  T transform;
  HYDRO_TRY_VOID(read_rows(reader, node, name, rows, transform));
  HYDRO_TRY_VOID(require_keys(reader, node, needed));
  return Transform(std::move(transform));
}

/// `name` or `name: {arguments}`.
Result<Transform> read_transform(const Reader& reader, const Node& node) {
  const bool has_arguments = node.is_map() && node.keys.size() == 1;
  if (!node.is_scalar() && !has_arguments) {
    return reader.wrong(
        node,
        "transform",
        "a list of names, each alone or with its arguments: `- random_crop: {padding: 2}`");
  }
  constexpr auto kMeanStd = std::to_array<std::string_view>({"mean", "std"});
  constexpr auto kSize = std::to_array<std::string_view>({"size"});
  const std::string& name = has_arguments ? node.keys[0].text : node.text;
  Node arguments = has_arguments ? node.items[0] : make_map();
  if (!has_arguments) {
    arguments.place = node.place;
  }
  if (name == "rgb") {
    return read_with<Rgb>(reader, arguments, name, kRgbRows, {});
  }
  if (name == "normalize") {
    return read_with<Normalize>(reader, arguments, name, kNormalizeRows, kMeanStd);
  }
  if (name == "random_crop") {
    return read_with<RandomCrop>(reader, arguments, name, kCropRows, {});
  }
  if (name == "random_flip") {
    return read_with<RandomFlip>(reader, arguments, name, kFlipRows, {});
  }
  if (name == "resize") {
    return read_with<Resize>(reader, arguments, name, kResizeRows, kSize);
  }
  return reader.wrong(node, "transform", "rgb, normalize, random_crop, random_flip or resize");
}

}  // namespace

Result<std::vector<Transform>> read_transforms(const Reader& reader, const Node& node) {
  if (!node.is_sequence()) {
    return reader.wrong(node, "transform", "a list");
  }
  std::vector<Transform> transforms;
  for (const Node& item : node.items) {
    HYDRO_TRY(Transform transform, read_transform(reader, item));
    transforms.push_back(std::move(transform));
  }
  return transforms;
}

void list_transforms(std::vector<KnownKey>& keys) {
  list_rows("normalize", std::span<const Row<Normalize>>(kNormalizeRows), keys);
  list_rows("random_crop", std::span<const Row<RandomCrop>>(kCropRows), keys);
  list_rows("random_flip", std::span<const Row<RandomFlip>>(kFlipRows), keys);
  list_rows("resize", std::span<const Row<Resize>>(kResizeRows), keys);
}

}  // namespace hydro::job
