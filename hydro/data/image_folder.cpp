#include "hydro/data/image_folder.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <future>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "hydro/base/bytes.h"
#include "hydro/base/result.h"
#include "hydro/data/dataset.h"
#include "hydro/data/image.h"
#include "hydro/data/raw_array.h"
#include "hydro/data/resize.h"
#include "hydro/data/transform.h"

namespace hydro::data {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kChannels = 3;

std::string size_text(const RgbImage& image) {
  return std::to_string(image.height) + " x " + std::to_string(image.width);
}

Result<RgbImage> decode_file(const fs::path& path) {
  HYDRO_TRY(const Bytes content, read_data_file(path));
  return decode_image(content, path.string());
}

/// As torchvision's resize of a uint8 image with antialiasing.
RgbImage at_size(const RgbImage& image, const Resize& size) {
  if (image.height == size.height && image.width == size.width) {
    return image;
  }
  FloatImage floats{.height = image.height,
                    .width = image.width,
                    .channels = kChannels,
                    .pixels = std::vector<float>(image.pixels.size())};
  std::ranges::transform(image.pixels, floats.pixels.begin(), [](std::byte b) {
    return static_cast<float>(std::to_integer<unsigned char>(b));
  });
  floats = resized(floats,
                   antialias_weights(image.height, size.height),
                   antialias_weights(image.width, size.width));
  RgbImage out{
      .height = size.height, .width = size.width, .pixels = Bytes(floats.pixels.size())};
  std::ranges::transform(floats.pixels, out.pixels.begin(), [](float value) {
    return static_cast<std::byte>(std::clamp(std::nearbyint(value), 0.0F, 255.0F));
  });
  return out;
}

/// Shapes: from [H, W, 3], to [3, H, W]
void to_planes(const Bytes& pixels, std::span<std::byte> to) {
  const std::size_t plane = to.size() / kChannels;
  for (std::size_t i = 0; i < plane; ++i) {
    for (std::size_t c = 0; c < kChannels; ++c) {
      to[c * plane + i] = pixels[i * kChannels + c];
    }
  }
}

/// Decodes files of one size, or brings them to it, into [files, 3, H, W].
class Decoding {
 public:
  Decoding(std::span<const ImageFile> files, const RgbImage& first, bool resize)
      : files_(files), first_(first), resize_(resize) {}

  /// The first error in the files' order, whichever thread found it.
  Result<Bytes> run() {
    bytes_.resize(files_.size() * first_.pixels.size());
    const std::size_t middle = files_.size() / 2;
    auto upper = std::async(std::launch::async, [&] { return decode(middle, files_.size()); });
    const Result<void> lower = decode(0, middle);
    const Result<void> rest = upper.get();
    HYDRO_TRY_VOID(lower);
    HYDRO_TRY_VOID(rest);
    return std::move(bytes_);
  }

 private:
  Result<void> decode(std::size_t begin, std::size_t end) {
    const std::size_t sample = first_.pixels.size();
    for (std::size_t i = begin; i < end; ++i) {
      HYDRO_TRY(RgbImage image, decode_file(files_[i].path));
      if (resize_) {
        image = at_size(image, {.height = first_.height, .width = first_.width});
      } else if (image.height != first_.height || image.width != first_.width) {
        return make_error("H0420", "the images differ in size")
            .at(files_[i].path.string())
            .because("it is " + size_text(image) + " (height x width), `" +
                     files_.front().path.string() + "` is " + size_text(first_));
      }
      to_planes(image.pixels, std::span(bytes_).subspan(i * sample, sample));
    }
    return {};
  }

  std::span<const ImageFile> files_;
  const RgbImage& first_;
  bool resize_;
  Bytes bytes_;
};

}  // namespace

Result<Dataset> load_image_folder(const ImageFolderSource& source,
                                  std::optional<std::int64_t> limit) {
  HYDRO_TRY(ImageFolder folder, list_image_folder(source.path, limit));
  if (folder.files.empty()) {
    return make_error("H0405", "the data set has no samples").at(source.path.string());
  }
  HYDRO_TRY(RgbImage first, decode_file(folder.files.front().path));
  if (source.resize) {
    const ImageShape shape{.channels = kChannels, .height = first.height, .width = first.width};
    auto after = shape_after(shape, *source.resize);
    if (!after) {
      return std::move(after).error().at("data.transform");
    }
    first = at_size(first, *source.resize);
  }
  Decoding decoding(folder.files, first, source.resize.has_value());
  HYDRO_TRY(Bytes bytes, decoding.run());
  Dataset dataset{
      .size = static_cast<std::int64_t>(folder.files.size()), .inputs = {}, .target = {}};
  dataset.inputs.push_back({.name = "",
                            .type = ElementType::kUInt8,
                            .shape = {kChannels, first.height, first.width},
                            .bytes = std::move(bytes),
                            .is_image = true,
                            .file = source.path});
  for (const ImageFile& file : folder.files) {
    dataset.target.classes.push_back(file.label);
  }
  dataset.target.file = source.path;
  dataset.target.class_names = std::move(folder.classes);
  return dataset;
}

}  // namespace hydro::data
