// hydro/pt2/archive_files.h — the files inside a model archive, by name without the archive's
// own root folder.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "hydro/base/bytes.h"
#include "hydro/base/json.h"
#include "hydro/base/result.h"
#include "hydro/pt2/byte_source.h"
#include "hydro/pt2/zip.h"

namespace hydro::pt2 {

class ArchiveFiles {
 public:
  /// Decides what kind of file it is before anything of it is read.
  ///
  /// Errors: H0230 no zip; H0231 pickle; H0232 TorchScript; H0237 script objects; H0238
  /// compiled code; H0239 no
  ///         archive of `hydro export`; H0233 to H0235 as ZipReader::open
  [[nodiscard]] static Result<ArchiveFiles> open(std::unique_ptr<ByteSource> source);

  [[nodiscard]] bool has(std::string_view name) const {
    return zip_.find(root_ + std::string(name)) != nullptr;
  }

  /// Errors: H0239 absent; H0233, H0235.
  [[nodiscard]] Result<Bytes> read(std::string_view name, std::uint64_t limit);
  /// At most 64 MiB. Errors: as read(); H0242.
  [[nodiscard]] Result<Json> read_json(std::string_view name);
  /// A hash of all names, sizes and checksums but the archive's serial number: equal content,
  /// equal fingerprint.
  [[nodiscard]] std::string fingerprint() const;

 private:
  ArchiveFiles(ZipReader zip, std::string root)
      : zip_(std::move(zip)), root_(std::move(root)) {}

  ZipReader zip_;
  std::string root_;  // "model/"
};

}  // namespace hydro::pt2
