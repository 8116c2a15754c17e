#include "hydro/pt2/zip.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <zlib.h>

#include "hydro/base/bytes.h"
#include "hydro/base/result.h"
#include "hydro/base/text.h"
#include "hydro/pt2/byte_source.h"
#include "hydro/pt2/little_endian.h"

namespace hydro::pt2 {

namespace {

constexpr std::uint32_t kLocalSignature = 0x04034b50;
constexpr std::uint32_t kDescriptorSignature = 0x08074b50;
constexpr std::size_t kLocalSize = 30;
constexpr std::uint16_t kDescriptorFlag = 8;

Error damaged(const ZipEntry& entry, const std::string& what) {
  return make_error("H0235", "entry `" + printable(entry.name) + "`: " + what);
}

// Sizes and checksum behind the data, where the local header left them out: with or without a
// signature, the sizes in 4 or 8 bytes.
Result<void> check_descriptor(ByteSource& source, const ZipEntry& entry, std::uint64_t at) {
  std::array<std::byte, 24> field{};
  const std::uint64_t available =
      std::min<std::uint64_t>(field.size(), source.size() - std::min(at, source.size()));
  HYDRO_TRY_VOID(source.read(at, std::span(field).first(available)));
  const std::size_t start =
      little_endian<std::uint32_t>(field, 0) == kDescriptorSignature ? 4 : 0;
  const bool narrow = little_endian<std::uint32_t>(field, start + 4) == entry.packed &&
                      little_endian<std::uint32_t>(field, start + 8) == entry.size;
  const bool wide = little_endian<std::uint64_t>(field, start + 4) == entry.packed &&
                    little_endian<std::uint64_t>(field, start + 12) == entry.size;
  if (little_endian<std::uint32_t>(field, start) != entry.crc || !(narrow || wide)) {
    return damaged(entry, "its data descriptor contradicts the central directory");
  }
  return {};
}

// Where the entry's data begin, after comparing its own header with the directory's.
Result<std::uint64_t> check_local_header(ByteSource& source, const ZipEntry& entry) {
  std::array<std::byte, kLocalSize> header{};
  HYDRO_TRY_VOID(source.read(entry.offset, header));
  const std::size_t name_length = little_endian<std::uint16_t>(header, 26);
  if (little_endian<std::uint32_t>(header, 0) != kLocalSignature ||
      name_length != entry.name.size()) {
    return damaged(entry, "its own header is missing");
  }
  Bytes name(name_length);
  HYDRO_TRY_VOID(source.read(entry.offset + kLocalSize, name));
  const bool same_name = std::ranges::equal(name, entry.name, [](std::byte left, char right) {
    return static_cast<char>(left) == right;
  });
  if (!same_name || little_endian<std::uint16_t>(header, 8) != entry.method ||
      little_endian<std::uint16_t>(header, 6) != entry.flags) {
    return damaged(entry, "its own header contradicts the central directory");
  }
  const std::uint64_t data =
      entry.offset + kLocalSize + name_length + little_endian<std::uint16_t>(header, 28);
  if ((entry.flags & kDescriptorFlag) != 0) {
    HYDRO_TRY_VOID(check_descriptor(source, entry, data + entry.packed));
    return data;
  }
  const auto packed = little_endian<std::uint32_t>(header, 18);
  const auto size = little_endian<std::uint32_t>(header, 22);
  const bool in_extra = packed == 0xffffffff || size == 0xffffffff;
  if (little_endian<std::uint32_t>(header, 14) != entry.crc ||
      (!in_extra && (packed != entry.packed || size != entry.size))) {
    return damaged(entry, "its own header contradicts the central directory");
  }
  return data;
}

// Inflates exactly entry.size bytes: one more, or one less, is damage.
Result<Bytes> inflate_entry(const ZipEntry& entry, Bytes packed) {
  Bytes out(entry.size + 1);
  z_stream stream{};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) {
    return make_error("H0235", "zlib cannot start");
  }
  // NOLINTBEGIN(cppcoreguidelines-pro-type-reinterpret-cast): zlib speaks unsigned char
  stream.next_in = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  // NOLINTEND(cppcoreguidelines-pro-type-reinterpret-cast)
  const int status = inflate(&stream, Z_FINISH);
  const bool whole =
      status == Z_STREAM_END && stream.total_out == entry.size && stream.avail_in == 0;
  inflateEnd(&stream);
  if (!whole) {
    return damaged(entry, "its compressed data do not give the size that is written");
  }
  out.resize(entry.size);
  return out;
}

std::uint32_t checksum(const Bytes& bytes) {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): zlib speaks unsigned char
  return static_cast<std::uint32_t>(
      crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

}  // namespace

Result<ZipReader> ZipReader::open(std::unique_ptr<ByteSource> source, const ZipLimits& limits) {
  HYDRO_TRY(std::vector<ZipEntry> entries, read_directory(*source, limits));
  return ZipReader(std::move(source), std::move(entries));
}

const ZipEntry* ZipReader::find(std::string_view name) const {
  const auto found = std::ranges::lower_bound(entries_, name, {}, &ZipEntry::name);
  return found != entries_.end() && found->name == name ? &*found : nullptr;
}

Result<Bytes> ZipReader::read(const ZipEntry& entry, std::uint64_t limit) {
  constexpr std::uint64_t kInflateLimit = 1U << 30U;
  const std::uint64_t most = entry.method == 0 ? limit : std::min(limit, kInflateLimit);
  if (entry.size > most || entry.packed > most) {
    return make_error("H0233",
                      "entry `" + printable(entry.name) + "` has " +
                          std::to_string(entry.size) + " bytes (limit " + std::to_string(most) +
                          ")");
  }
  HYDRO_TRY(const std::uint64_t data, check_local_header(*source_, entry));
  if (data > source_->size() || entry.packed > source_->size() - data) {
    return damaged(entry, "its data leave the file");
  }
  Bytes bytes(entry.packed);
  HYDRO_TRY_VOID(source_->read(data, bytes));
  if (entry.method != 0) {
    HYDRO_TRY(bytes, inflate_entry(entry, std::move(bytes)));
  }
  if (checksum(bytes) != entry.crc) {
    return damaged(entry, "its checksum does not fit");
  }
  return bytes;
}

}  // namespace hydro::pt2
