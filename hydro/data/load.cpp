#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "hydro/base/bytes.h"
#include "hydro/base/result.h"
#include "hydro/data/cifar.h"
#include "hydro/data/dataset.h"
#include "hydro/data/image_folder.h"
#include "hydro/data/raw_array.h"
#include "hydro/data/text.h"

namespace hydro::data {
namespace {

constexpr std::size_t kImageAxes = 4;  // [N, C, H, W]

template <class From, class To>
std::vector<To> converted(const Bytes& bytes) {
  std::vector<From> numbers(bytes.size() / sizeof(From));
  if (!bytes.empty()) {  // memcpy takes no null pointer, not even for nothing
    std::memcpy(numbers.data(), bytes.data(), bytes.size());
  }
  std::vector<To> out(numbers.size());
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    out[i] = static_cast<To>(numbers[i]);
  }
  return out;
}

bool holds_floats(const RawArray& array) {
  return array.kind == NumberKind::kFloat32 || array.kind == NumberKind::kFloat64;
}

std::vector<std::int64_t> to_integers(const RawArray& array) {
  switch (array.kind) {
    case NumberKind::kUInt8:
      return converted<std::uint8_t, std::int64_t>(array.bytes);
    case NumberKind::kInt32:
      return converted<std::int32_t, std::int64_t>(array.bytes);
    default:
      return converted<std::int64_t, std::int64_t>(array.bytes);
  }
}

std::vector<float> to_floats(const RawArray& array) {
  return array.kind == NumberKind::kFloat32 ? converted<float, float>(array.bytes)
                                            : converted<double, float>(array.bytes);
}

template <class Number>
Bytes to_bytes(const std::vector<Number>& numbers) {
  const auto raw = std::as_bytes(std::span(numbers));
  return {raw.begin(), raw.end()};
}

std::vector<std::int64_t> sample_shape(const RawArray& array) {
  return {array.shape.begin() + 1, array.shape.end()};
}

Field to_field(RawArray array, const std::string& name, const std::filesystem::path& file) {
  Field field{.name = name,
              .type = ElementType::kUInt8,
              .shape = sample_shape(array),
              .bytes = {},
              .is_image = array.kind == NumberKind::kUInt8 && array.shape.size() == kImageAxes,
              .file = file};
  if (field.is_image) {
    field.bytes = std::move(array.bytes);
  } else if (holds_floats(array)) {
    field.type = ElementType::kFloat32;
    field.bytes = to_bytes(to_floats(array));
  } else {
    field.type = ElementType::kInt64;
    field.bytes = to_bytes(to_integers(array));
  }
  return field;
}

Target to_target(const RawArray& array, const std::filesystem::path& file) {
  Target target{.classes = {}, .values = {}, .shape = sample_shape(array), .file = file};
  if (holds_floats(array)) {
    target.values = to_floats(array);
  } else {
    target.classes = to_integers(array);
  }
  return target;
}

Result<RawArray> read_array(const std::filesystem::path& path,
                            const std::string& name,
                            std::optional<std::int64_t> limit) {
  Result<RawArray> array =
      make_error("H0402", "`" + path.filename().string() + "` is neither .npy nor .safetensors")
          .at(path.string())
          .fix(
              "save the array with numpy.save, or with safetensors; pickled files are not "
              "read");
  if (path.extension() == ".npy") {
    array = read_npy(path);
  } else if (path.extension() == ".safetensors") {
    array = read_tensor(path, name);
  }
  if (array) {
    array->file_samples = array->shape.front();
    keep_first(*array, limit);
  }
  return array;
}

Error unequal(std::int64_t count,
              const std::filesystem::path& file,
              std::int64_t other_count,
              const std::filesystem::path& other_file) {
  return make_error("H0404",
                    std::to_string(count) + " samples in one file, " +
                        std::to_string(other_count) + " in another")
      .at(file.string())
      .because("`" + other_file.string() + "` holds " + std::to_string(other_count));
}

Result<Dataset> load(const IdxSource& source, std::optional<std::int64_t> limit) {
  constexpr std::size_t kImageFileAxes = 3;
  HYDRO_TRY(RawArray images, read_idx(source.images, kImageFileAxes, limit));
  HYDRO_TRY(const RawArray labels, read_idx(source.labels, 1, limit));
  if (images.file_samples != labels.file_samples) {
    return unequal(images.file_samples, source.images, labels.file_samples, source.labels);
  }
  images.shape.insert(images.shape.begin() + 1, 1);
  Dataset dataset{.size = images.shape.front(), .inputs = {}, .target = {}};
  dataset.target = to_target(labels, source.labels);
  dataset.inputs.push_back(to_field(std::move(images), "", source.images));
  return dataset;
}

/// The first array of a split decides how many samples there are.
struct SampleCount {
  std::int64_t in_file = 0;
  std::filesystem::path file = {};

  Result<void> agree(const RawArray& array, const std::filesystem::path& path) {
    if (file.empty()) {
      in_file = array.file_samples;
      file = path;
    }
    return array.file_samples == in_file ? Result<void>()
                                         : unequal(array.file_samples, path, in_file, file);
  }
};

Result<Dataset> load(const ArraySource& source, std::optional<std::int64_t> limit) {
  Dataset dataset;
  SampleCount count;
  if (!source.target.empty()) {
    HYDRO_TRY(const RawArray target, read_array(source.target, "target", limit));
    HYDRO_TRY_VOID(count.agree(target, source.target));
    dataset.size = target.shape.front();
    dataset.target = to_target(target, source.target);
  }
  for (const auto& [name, path] : source.inputs) {
    HYDRO_TRY(RawArray array, read_array(path, name, limit));
    HYDRO_TRY_VOID(count.agree(array, path));
    dataset.size = array.shape.front();
    dataset.inputs.push_back(to_field(std::move(array), name, path));
  }
  dataset.target.file = count.file;
  return dataset;
}

Result<Dataset> load(const ImageFolderSource& source, std::optional<std::int64_t> limit) {
  return load_image_folder(source, limit);
}

Result<Dataset> load(const CifarSource& source, std::optional<std::int64_t> limit) {
  return load_cifar(source, limit);
}

Result<Dataset> load(const TextSource& source, std::optional<std::int64_t> limit) {
  return read_text_blocks(source, limit);
}

}  // namespace

Result<Dataset> load_split(const SplitSource& source) {
  HYDRO_TRY(
      Dataset dataset,
      std::visit([&](const auto& files) { return load(files, source.limit); }, source.source));
  if (dataset.size == 0) {
    return make_error("H0405", "the data set has no samples").at(dataset.target.file.string());
  }
  return dataset;
}

}  // namespace hydro::data
