// Which files an image folder's samples are.
#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/base/text.h"
#include "hydro/data/image_folder.h"

namespace hydro::data {
namespace {

namespace fs = std::filesystem;

constexpr auto kRead = std::to_array<std::string_view>({".jpg", ".jpeg", ".png"});
/// What torchvision would load besides.
constexpr auto kRefused =
    std::to_array<std::string_view>({".ppm", ".bmp", ".pgm", ".tif", ".tiff", ".webp"});

bool ends_in(const fs::path& path, std::span<const std::string_view> endings) {
  std::string name = path.filename().string();
  std::ranges::transform(
      name, name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return std::ranges::any_of(endings,
                             [&](std::string_view ending) { return name.ends_with(ending); });
}

Error cannot_open(const fs::path& path, const std::string& why) {
  return make_error("H0401", "cannot open `" + printable(path.string()) + "`")
      .at(printable(path.string()))
      .because(why);
}

Error no_image_folder(std::string what, const fs::path& path) {
  return make_error("H0421", std::move(what)).at(printable(path.string()));
}

bool lies_in(const fs::path& path, const fs::path& folder) {
  return std::mismatch(folder.begin(), folder.end(), path.begin(), path.end()).first ==
         folder.end();
}

/// Files that torchvision would list below one class, by folder and name.
struct ClassFiles {
  using Place = std::pair<std::string, std::string>;  // folder, name
  std::vector<Place> images;
  std::size_t ignored = 0;
};

/// Links lead to files of the image folder, or the folder's content would not be the data.
Result<void> check_link(const fs::path& path, const fs::path& root) {
  std::error_code error;
  const fs::path target = fs::canonical(path, error);
  if (error) {
    return cannot_open(path, "the link leads nowhere: " + error.message());
  }
  if (fs::is_directory(target, error) || !lies_in(target, root)) {
    return no_image_folder("a link leads out of the image folder or to a folder", path)
        .because("it leads to `" + printable(target.string()) + "`")
        .fix("copy the folder with what its links lead to: cp -rL FOLDER COPY");
  }
  return {};
}

Result<void> add_entry(const fs::directory_entry& entry,
                       const fs::path& root,
                       ClassFiles& found) {
  std::error_code error;
  const fs::path& path = entry.path();
  const bool is_link = entry.is_symlink(error);
  if (entry.is_directory(error) && !is_link) {
    return {};
  }
  if (is_link && (entry.is_directory(error) || ends_in(path, kRead))) {
    HYDRO_TRY_VOID(check_link(path, root));
  }
  if (ends_in(path, kRefused)) {
    return make_error("H0422", "an image that is neither JPEG nor PNG")
        .at(printable(path.string()));
  }
  if (!ends_in(path, kRead)) {
    ++found.ignored;
    return {};
  }
  if (!entry.is_regular_file(error)) {
    return cannot_open(path, error ? error.message() : "it is no regular file");
  }
  found.images.emplace_back(path.parent_path().string(), path.filename().string());
  return {};
}

/// `root` is the whole image folder's true path.
Result<ClassFiles> files_of_class(const fs::path& folder, const fs::path& root) {
  ClassFiles found;
  std::error_code error;
  for (fs::recursive_directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    HYDRO_TRY_VOID(add_entry(*entry, root, found));
  }
  if (error) {
    return cannot_open(folder, error.message());
  }
  if (found.images.empty()) {
    return no_image_folder(
               "class folder `" + printable(folder.filename().string()) + "` has no images",
               folder)
        .because(found.ignored == 0 ? "it is empty"
                                    : std::to_string(found.ignored) +
                                          " files were ignored: only names that end in .jpg, "
                                          ".jpeg or .png are images")
        .fix("put images into it, or remove it");
  }
  std::ranges::sort(found.images);
  return found;
}

Result<std::vector<std::string>> classes_of(const fs::path& folder, const fs::path& root) {
  std::error_code error;
  std::vector<std::string> classes;
  std::size_t images = 0;
  std::size_t others = 0;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code ignored;
    if (!entry->is_directory(ignored)) {
      ++(ends_in(entry->path(), kRead) ? images : others);
      continue;
    }
    if (entry->is_symlink(ignored)) {
      HYDRO_TRY_VOID(check_link(entry->path(), root));
    }
    classes.push_back(entry->path().filename().string());
  }
  if (error) {
    return cannot_open(folder, error.message());
  }
  if (classes.empty()) {
    return no_image_folder("the image folder has no class folders", folder)
        .because("it holds " + std::to_string(images) + " images and " +
                 std::to_string(others) + " other files, which were ignored");
  }
  std::ranges::sort(classes);
  return classes;
}

/// How many each class gives when they are taken one of each class in turn.
std::vector<std::size_t> shares(const std::vector<ClassFiles>& classes, std::size_t limit) {
  std::size_t left = 0;
  for (const ClassFiles& files : classes) {
    left += files.images.size();
  }
  left = std::min(left, limit);
  std::vector<std::size_t> taken(classes.size(), 0);
  while (left > 0) {
    for (std::size_t c = 0; c < classes.size() && left > 0; ++c) {
      if (taken[c] < classes[c].images.size()) {
        ++taken[c];
        --left;
      }
    }
  }
  return taken;
}

}  // namespace

Result<ImageFolder> list_image_folder(const fs::path& path, std::optional<std::int64_t> limit) {
  std::error_code error;
  const fs::path root = fs::canonical(path, error);
  if (error) {
    return cannot_open(path, error.message());
  }
  if (!fs::is_directory(root, error)) {
    return cannot_open(path, "it is a file, not a folder of class folders");
  }
  ImageFolder folder;
  HYDRO_TRY(folder.classes, classes_of(path, root));
  std::vector<ClassFiles> classes;
  for (const std::string& name : folder.classes) {
    HYDRO_TRY(ClassFiles files, files_of_class(path / name, root));
    classes.push_back(std::move(files));
  }
  const std::vector<std::size_t> taken =
      shares(classes, static_cast<std::size_t>(limit.value_or(INT64_MAX)));
  for (std::size_t c = 0; c < classes.size(); ++c) {
    for (const auto& [place, name] : std::span(classes[c].images).first(taken[c])) {
      folder.files.push_back(
          {.path = fs::path(place) / name, .label = static_cast<std::int64_t>(c)});
    }
  }
  return folder;
}

}  // namespace hydro::data
