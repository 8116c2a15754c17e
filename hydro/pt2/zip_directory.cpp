// Reads a zip file's central directory and decides whether the file may be read at all.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hydro/base/bytes.h"
#include "hydro/base/result.h"
#include "hydro/base/text.h"
#include "hydro/pt2/byte_source.h"
#include "hydro/pt2/little_endian.h"
#include "hydro/pt2/zip.h"

namespace hydro::pt2 {

namespace {

constexpr std::uint32_t kEndSignature = 0x06054b50;
constexpr std::uint32_t kEnd64Signature = 0x06064b50;
constexpr std::uint32_t kLocator64Signature = 0x07064b50;
constexpr std::uint32_t kCentralSignature = 0x02014b50;
constexpr std::size_t kEndSize = 22;
constexpr std::size_t kEnd64Size = 56;
constexpr std::size_t kLocator64Size = 20;
constexpr std::size_t kCentralSize = 46;
constexpr std::size_t kLocalSize = 30;
constexpr std::uint32_t kIn64 = 0xffffffff;

Error damaged(const std::string& what) {
  return make_error("H0235", what);
}

Error over(const std::string& what, std::uint64_t limit) {
  return make_error("H0233", what + " (limit " + std::to_string(limit) + ")");
}

struct DirectoryPlace {
  std::uint64_t entries = 0;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
};

// Where the end record stands: at the very end, but for a comment of the length that it gives.
Result<std::uint64_t> find_end_record(ByteSource& source) {
  constexpr std::uint64_t kLongestComment = 0xffff;
  const std::uint64_t window =
      std::min<std::uint64_t>(source.size(), kEndSize + kLongestComment);
  Bytes tail(window);
  HYDRO_TRY_VOID(source.read(source.size() - window, tail));
  for (std::size_t back = kEndSize; back <= window; ++back) {
    const std::size_t at = window - back;
    if (little_endian<std::uint32_t>(tail, at) == kEndSignature &&
        little_endian<std::uint16_t>(tail, at + 20) == back - kEndSize) {
      return source.size() - back;
    }
  }
  return make_error("H0230", "no zip file");
}

Result<DirectoryPlace> read_end64(ByteSource& source, std::uint64_t locator_at) {
  std::array<std::byte, kLocator64Size> locator{};
  HYDRO_TRY_VOID(source.read(locator_at, locator));
  const auto end_at = little_endian<std::uint64_t>(locator, 8);
  if (locator_at < kEnd64Size || end_at != locator_at - kEnd64Size) {
    return damaged("the zip64 end record is not where its locator says");
  }
  std::array<std::byte, kEnd64Size> end{};
  HYDRO_TRY_VOID(source.read(end_at, end));
  if (little_endian<std::uint32_t>(end, 0) != kEnd64Signature) {
    return damaged("the zip64 end record is missing");
  }
  const auto entries = little_endian<std::uint64_t>(end, 32);
  if (little_endian<std::uint64_t>(end, 24) != entries) {
    return damaged("the archive is split over several disks");
  }
  DirectoryPlace place{.entries = entries,
                       .offset = little_endian<std::uint64_t>(end, 48),
                       .size = little_endian<std::uint64_t>(end, 40)};
  if (place.offset > end_at || place.size != end_at - place.offset) {
    return damaged("the central directory does not end at its end record");
  }
  return place;
}

Result<DirectoryPlace> find_directory(ByteSource& source) {
  HYDRO_TRY(const std::uint64_t end_at, find_end_record(source));
  std::array<std::byte, kEndSize> end{};
  HYDRO_TRY_VOID(source.read(end_at, end));
  if (end_at >= kLocator64Size) {
    std::array<std::byte, kLocator64Size> locator{};
    HYDRO_TRY_VOID(source.read(end_at - kLocator64Size, locator));
    if (little_endian<std::uint32_t>(locator, 0) == kLocator64Signature) {
      return read_end64(source, end_at - kLocator64Size);
    }
  }
  DirectoryPlace place{.entries = little_endian<std::uint16_t>(end, 10),
                       .offset = little_endian<std::uint32_t>(end, 16),
                       .size = little_endian<std::uint32_t>(end, 12)};
  if (little_endian<std::uint16_t>(end, 8) != place.entries) {
    return damaged("the archive is split over several disks");
  }
  if (place.offset > end_at || place.size != end_at - place.offset) {
    return damaged("the central directory does not end at its end record");
  }
  return place;
}

// Sizes and offset that stand in the zip64 extra field, in this order, each only when its
// 32-bit field is full.
Result<void> read_extra64(std::span<const std::byte> extra, ZipEntry& entry) {
  std::size_t at = 0;
  while (extra.size() - at >= 4) {
    const auto tag = little_endian<std::uint16_t>(extra, at);
    const std::size_t length = little_endian<std::uint16_t>(extra, at + 2);
    at += 4;
    if (length > extra.size() - at) {
      return damaged("an extra field of `" + printable(entry.name) +
                     "` is longer than its record");
    }
    std::span<const std::byte> field = extra.subspan(at, length);
    at += length;
    if (tag != 1) {
      continue;
    }
    for (std::uint64_t* number : {&entry.size, &entry.packed, &entry.offset}) {
      if (*number == kIn64 && field.size() >= 8) {
        *number = little_endian<std::uint64_t>(field, 0);
        field = field.subspan(8);
      }
    }
  }
  return {};
}

Result<void> check_name(std::string_view name, const ZipLimits& limits) {
  const auto unsafe = [&](const char* why) {
    return make_error("H0234", "entry `" + printable(name.substr(0, 80)) + "`: " + why);
  };
  if (name.size() > limits.name_bytes) {
    return over("an entry's name has " + std::to_string(name.size()) + " bytes",
                limits.name_bytes);
  }
  if (name.empty() || name.front() == '/' || (name.size() > 1 && name[1] == ':')) {
    return unsafe("an empty or absolute name");
  }
  for (const char letter : name) {
    if (letter == '\\' || static_cast<unsigned char>(letter) < 0x20 || letter == 0x7f) {
      return unsafe("a backslash or control character in the name");
    }
  }
  std::size_t start = 0;
  while (start < name.size()) {
    const std::size_t end = std::min(name.find('/', start), name.size());
    const std::string_view part = name.substr(start, end - start);
    if (part.empty() || part == "." || part == "..") {
      return unsafe("a name that could leave its folder");
    }
    start = end + 1;
  }
  return {};
}

Result<void> check_entry(const ZipEntry& entry,
                         std::uint32_t attributes,
                         const ZipLimits& limits) {
  constexpr std::uint32_t kKindMask = 0170000;
  constexpr std::uint32_t kRegular = 0100000;
  constexpr std::uint32_t kFolder = 0040000;
  const std::string who = "entry `" + printable(entry.name) + "`";
  const std::uint32_t kind = (attributes >> 16U) & kKindMask;
  if (kind != 0 && kind != kRegular && kind != kFolder) {
    return make_error("H0234", who + ": a link or device, not a file");
  }
  if ((entry.flags & 0x2041U) != 0) {
    return make_error("H0234", who + ": encrypted");
  }
  if (entry.method != 0 && entry.method != 8) {
    return damaged(who + ": compression method " + std::to_string(entry.method) +
                   " is neither stored nor deflated");
  }
  if (entry.method == 0 && entry.packed != entry.size) {
    return damaged(who + ": stored, but its two sizes differ");
  }
  if (entry.size > limits.ratio_from && entry.size / limits.ratio > entry.packed) {
    return over(
        who + " unpacks to more than " + std::to_string(limits.ratio) + " times its size",
        limits.ratio);
  }
  return {};
}

// One record; moves `rest` past it.
Result<ZipEntry> read_record(std::span<const std::byte>& rest, const ZipLimits& limits) {
  if (rest.size() < kCentralSize ||
      little_endian<std::uint32_t>(rest, 0) != kCentralSignature) {
    return damaged("the central directory holds something that is no entry");
  }
  const std::size_t name_length = little_endian<std::uint16_t>(rest, 28);
  const std::size_t extra_length = little_endian<std::uint16_t>(rest, 30);
  const std::size_t length =
      kCentralSize + name_length + extra_length + little_endian<std::uint16_t>(rest, 32);
  if (length > rest.size()) {
    return damaged("the central directory ends inside an entry");
  }
  ZipEntry entry{.name = {},
                 .flags = little_endian<std::uint16_t>(rest, 8),
                 .method = little_endian<std::uint16_t>(rest, 10),
                 .crc = little_endian<std::uint32_t>(rest, 16),
                 .packed = little_endian<std::uint32_t>(rest, 20),
                 .size = little_endian<std::uint32_t>(rest, 24),
                 .offset = little_endian<std::uint32_t>(rest, 42)};
  for (const std::byte letter : rest.subspan(kCentralSize, name_length)) {
    entry.name += static_cast<char>(letter);
  }
  HYDRO_TRY_VOID(read_extra64(rest.subspan(kCentralSize + name_length, extra_length), entry));
  HYDRO_TRY_VOID(check_name(entry.name, limits));
  HYDRO_TRY_VOID(check_entry(entry, little_endian<std::uint32_t>(rest, 38), limits));
  rest = rest.subspan(length);
  return entry;
}

// Entries must lie one after the other before the directory: overlap makes bombs.
Result<void> check_layout(std::vector<ZipEntry> entries,
                          std::uint64_t directory_at,
                          const ZipLimits& limits) {
  std::ranges::sort(entries, {}, &ZipEntry::offset);
  std::uint64_t total = 0;
  std::uint64_t free_from = 0;
  for (const ZipEntry& entry : entries) {
    const std::uint64_t header = kLocalSize + entry.name.size();
    if (entry.offset < free_from || entry.offset > directory_at ||
        header > directory_at - entry.offset ||
        entry.packed > directory_at - entry.offset - header) {
      return damaged("entry `" + printable(entry.name) +
                     "` overlaps another or leaves the file");
    }
    free_from = entry.offset + header + entry.packed;
    if (entry.size > limits.total_bytes - total) {
      return over("the entries unpack to too many bytes", limits.total_bytes);
    }
    total += entry.size;
  }
  return {};
}

}  // namespace

Result<std::vector<ZipEntry>> read_directory(ByteSource& source, const ZipLimits& limits) {
  HYDRO_TRY(const DirectoryPlace place, find_directory(source));
  if (place.entries > limits.entries) {
    return over("the archive has " + std::to_string(place.entries) + " entries",
                limits.entries);
  }
  if (place.size > limits.directory_bytes) {
    return over("the central directory has " + std::to_string(place.size) + " bytes",
                limits.directory_bytes);
  }
  Bytes directory(place.size);
  HYDRO_TRY_VOID(source.read(place.offset, directory));
  std::span<const std::byte> rest = directory;
  std::vector<ZipEntry> entries;
  for (std::uint64_t i = 0; i < place.entries; ++i) {
    HYDRO_TRY(ZipEntry entry, read_record(rest, limits));
    entries.push_back(std::move(entry));
  }
  if (!rest.empty()) {
    return damaged("the central directory holds more than its entries");
  }
  HYDRO_TRY_VOID(check_layout(entries, place.offset, limits));
  std::ranges::sort(entries, {}, &ZipEntry::name);
  const auto twin = std::ranges::adjacent_find(entries, {}, &ZipEntry::name);
  if (twin != entries.end()) {
    return make_error("H0234", "entry `" + printable(twin->name) + "` is there twice");
  }
  return entries;
}

}  // namespace hydro::pt2
