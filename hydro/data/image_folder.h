// hydro/data/image_folder.h — images in one folder a class, as torchvision's ImageFolder finds
// them: classes by name, the images of each by path.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/data/dataset.h"

namespace hydro::data {

struct ImageFile {
  std::filesystem::path path;
  std::int64_t label = 0;
};

struct ImageFolder {
  std::vector<std::string> classes;  // a label is an index here
  std::vector<ImageFile> files;
};

/// With `limit`, one image of each class in turn until so many are taken: each class gives its
/// first ones.
///
/// Errors: H0401 a folder that cannot be opened, H0421 no classes, a class without images, a
///         link out of the folder; H0422 an image of another format
[[nodiscard]] Result<ImageFolder> list_image_folder(const std::filesystem::path& path,
                                                    std::optional<std::int64_t> limit);

/// Decodes them all: uint8 [3, H, W].
///
/// Errors: list_image_folder's and decode_image's, H0411 a resize that does not fit, H0420
///         images of different sizes without one
[[nodiscard]] Result<Dataset> load_image_folder(const ImageFolderSource& source,
                                                std::optional<std::int64_t> limit);

}  // namespace hydro::data
