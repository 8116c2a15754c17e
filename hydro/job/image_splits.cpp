// Splits of `format: image_folder` and `format: cifar_binary`.
#include <array>
#include <cstdint>
#include <optional>
#include <span>
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

struct ImageFolderSplit : ImageFolderFiles {
  std::optional<std::int64_t> limit;
};

struct CifarSplit : CifarFiles {
  std::optional<std::int64_t> limit;
};

Result<void> read_files(const Reader& reader,
                        const Node& node,
                        const Row<CifarSplit>& row,
                        CifarSplit& out) {
  if (!node.is_sequence() || node.items.empty()) {
    return reader.wrong(node, row.key, row.type);
  }
  for (const Node& item : node.items) {
    if (!item.is_scalar() || item.text.empty()) {
      return reader.wrong(item, row.key, row.type);
    }
    out.files.push_back(reader.absolute(item.text));
  }
  return {};
}

constexpr auto kLabels = std::to_array<std::pair<std::string_view, CifarLabels>>(
    {{"fine", CifarLabels::kFine}, {"coarse", CifarLabels::kCoarse}});

constexpr auto kImageFolderRows = std::to_array<Row<ImageFolderSplit>>({
    {"format", "image_folder", "", "how the files are written", &ignore<ImageFolderSplit>},
    {"path",
     "a path",
     "",
     "a folder with one folder a class, JPEG and PNG files in it",
     &read_path<&ImageFolderSplit::path, ImageFolderSplit>},
    {"limit",
     "an integer of at least 1",
     "",
     "N samples, evenly by class",
     &read_integer<&ImageFolderSplit::limit, 1, ImageFolderSplit>},
});

constexpr auto kCifarRows = std::to_array<Row<CifarSplit>>({
    {"format", "cifar_binary", "", "how the files are written", &ignore<CifarSplit>},
    {"files", "a list of paths", "", "the split's .bin files, in order", &read_files},
    {"labels",
     "fine or coarse",
     "",
     "of CIFAR-100; default fine",
     &read_word<&CifarSplit::labels, kLabels, CifarSplit>},
    {"limit",
     "an integer of at least 1",
     "",
     "the first N samples",
     &read_integer<&CifarSplit::limit, 1, CifarSplit>},
});

template <class Section, class Files>
Result<Split> read_with(const Reader& reader,
                        const Node& node,
                        std::string_view name,
                        std::span<const Row<Section>> rows,
                        std::string_view needed) {
  Section split;
  HYDRO_TRY_VOID(read_rows(reader, node, name, rows, split));
  HYDRO_TRY_VOID(require_keys(reader, node, std::span(&needed, 1)));
  const std::optional<std::int64_t> limit = split.limit;
  return Split{.files = static_cast<Files&&>(std::move(split)), .limit = limit};
}

}  // namespace

Result<Split> read_image_folder_split(const Reader& reader,
                                      const Node& node,
                                      std::string_view name) {
  return read_with<ImageFolderSplit, ImageFolderFiles>(
      reader, node, name, kImageFolderRows, "path");
}

Result<Split> read_cifar_split(const Reader& reader, const Node& node, std::string_view name) {
  return read_with<CifarSplit, CifarFiles>(reader, node, name, kCifarRows, "files");
}

void list_image_splits(std::vector<KnownKey>& keys) {
  list_rows(
      "format image_folder", std::span<const Row<ImageFolderSplit>>(kImageFolderRows), keys);
  list_rows("format cifar_binary", std::span<const Row<CifarSplit>>(kCifarRows), keys);
}

}  // namespace hydro::job
