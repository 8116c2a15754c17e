// hydro/pt2/zip.h — a zip reader for untrusted files: stored and deflated entries, read one at
// a time into memory. Refused: encryption, links, names that could leave a folder, repeated
// names, overlapping entries, sizes over the limits, and any difference between the central
// directory and an entry's own header. Nothing is written to disk.
//
// Thread-safety: one thread.       Source: PKWARE APPNOTE.TXT 6.3.10, sections 4.3 and 4.4.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "hydro/base/bytes.h"
#include "hydro/base/result.h"
#include "hydro/pt2/byte_source.h"

namespace hydro::pt2 {

struct ZipLimits {
  std::uint64_t entries = 100'000;
  std::uint64_t directory_bytes = 32U << 20U;
  std::uint64_t name_bytes = 512;
  std::uint64_t total_bytes = 16ULL << 30U;  // all entries unpacked
  std::uint64_t ratio = 100;  // unpacked over packed, of entries over `ratio_from`
  std::uint64_t ratio_from = 1U << 20U;
};

struct ZipEntry {
  std::string name;
  std::uint16_t flags = 0;
  std::uint16_t method = 0;  // 0 stored, 8 deflated
  std::uint32_t crc = 0;
  std::uint64_t packed = 0;
  std::uint64_t size = 0;
  std::uint64_t offset = 0;  // of its local header
};

class ZipReader {
 public:
  /// Reads and checks the whole directory.
  ///
  /// Errors: H0230 no zip file; H0233 over a limit; H0234 unsafe entry; H0235 damaged.
  [[nodiscard]] static Result<ZipReader> open(std::unique_ptr<ByteSource> source,
                                              const ZipLimits& limits);

  [[nodiscard]] const std::vector<ZipEntry>& entries() const { return entries_; }

  /// Null when there is no such entry.
  [[nodiscard]] const ZipEntry* find(std::string_view name) const;
  /// An entry's bytes, checked against its own header and its checksum.
  ///
  /// Errors: H0233 larger than `limit`; H0235 damaged.
  [[nodiscard]] Result<Bytes> read(const ZipEntry& entry, std::uint64_t limit);

 private:
  ZipReader(std::unique_ptr<ByteSource> source, std::vector<ZipEntry> entries)
      : source_(std::move(source)), entries_(std::move(entries)) {}

  std::unique_ptr<ByteSource> source_;
  std::vector<ZipEntry> entries_;  // by name
};

/// The directory of an archive, checked; by name. Errors: as ZipReader::open.
[[nodiscard]] Result<std::vector<ZipEntry>> read_directory(ByteSource& source,
                                                           const ZipLimits& limits);

}  // namespace hydro::pt2
