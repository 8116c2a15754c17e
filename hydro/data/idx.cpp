// IDX: two zero bytes, element type, number of axes, then each axis' size, big-endian in four
// bytes. Source: yann.lecun.com/exdb/mnist, "the IDX file format".
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hydro/base/bytes.h"
#include "hydro/base/result.h"
#include "hydro/data/gzip.h"
#include "hydro/data/raw_array.h"

namespace hydro::data {
namespace {

constexpr std::size_t kSizeBytes = 4;
constexpr std::byte kUInt8Code{0x08};
// Deflate cannot do better: a file that claims more content than this is lying, and no memory
// is asked for it.
constexpr std::uint64_t kMaxRatio = 1032;

struct IdxHeader {
  std::vector<std::int64_t> shape;
  std::uint64_t bytes = 0;      // of the header itself
  std::uint64_t announced = 0;  // of the whole content
};

std::string hex_text(std::span<const std::byte> bytes) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string text;
  for (const std::byte b : bytes) {
    text += text.empty() ? "" : " ";
    text += kHex[std::to_integer<std::size_t>(b >> 4)];
    text += kHex[std::to_integer<std::size_t>(b & std::byte{0xF})];
  }
  return text;
}

Result<void> check_magic(std::span<const std::byte> content,
                         std::size_t rank,
                         const std::string& place) {
  const auto start = content.first(std::min<std::size_t>(content.size(), 4));
  if (start.size() < 4 || start[0] != std::byte{0} || start[1] != std::byte{0}) {
    return make_error("H0402", "not an IDX file")
        .at(place)
        .because("its first bytes are `" + hex_text(start) +
                 "`, those of an IDX file are `00 00 08 0" + std::to_string(rank) + "`");
  }
  if (start[2] != kUInt8Code) {
    return make_error(
               "H0409",
               "IDX element type 0x" + hex_text(start.subspan(2, 1)) + " is not uint8 (0x08)")
        .at(place);
  }
  const auto found = std::to_integer<std::size_t>(start[3]);
  if (found != rank) {
    return make_error("H0402",
                      "the IDX file has " + std::to_string(found) + " axes, " +
                          (rank == 1 ? "labels" : "images") + " have " + std::to_string(rank))
        .at(place)
        .fix("check that `images` and `labels` are not swapped");
  }
  return {};
}

Result<IdxHeader> parse_header(std::span<const std::byte> content,
                               std::size_t rank,
                               const std::string& place) {
  HYDRO_TRY_VOID(check_magic(content, rank, place));
  IdxHeader header{.shape = {}, .bytes = kSizeBytes * (1 + rank), .announced = 0};
  if (content.size() < header.bytes) {
    return make_error("H0403", "the file ends inside its header").at(place);
  }
  for (std::size_t axis = 1; axis <= rank; ++axis) {
    std::int64_t size = 0;
    for (const std::byte b : content.subspan(kSizeBytes * axis, kSizeBytes)) {
      size = size * 256 + std::to_integer<std::int64_t>(b);
    }
    header.shape.push_back(size);
  }
  const auto count = element_count(header.shape);
  if (!count || *count > UINT64_MAX - header.bytes) {
    return make_error("H0402", "the header's sizes " + shape_text(header.shape) + " overflow")
        .at(place);
  }
  header.announced = *count + header.bytes;
  return header;
}

Error wrong_length(const IdxHeader& header, std::uint64_t found, const std::string& place) {
  const bool is_short = found < header.announced;
  return make_error(
             "H0403",
             is_short ? "the file is truncated" : "the file has bytes behind its last sample")
      .at(place)
      .because("its header announces " + shape_text(header.shape) + ", " +
               std::to_string(header.announced) + " bytes with the header; it holds " +
               (is_short ? std::to_string(found) : "at least " + std::to_string(found)));
}

/// Header and wanted samples out of gzip content.
Result<Bytes> unpack(std::span<const std::byte> gzip,
                     const IdxHeader& header,
                     std::uint64_t wanted,
                     const std::string& place) {
  if (header.announced / kMaxRatio > gzip.size()) {
    return make_error("H0403",
                      "the file is too short for the " + shape_text(header.shape) +
                          " its header announces")
        .at(place);
  }
  // A truncated file ends in other bytes than its size, so that the rest need not be
  // decompressed to notice.
  const bool whole = claimed_size(gzip) == static_cast<std::uint32_t>(header.announced);
  HYDRO_TRY(
      Bytes content,
      inflate(gzip, whole && wanted < header.announced ? wanted : header.announced + 1, place));
  if ((!whole || content.size() != wanted) && content.size() != header.announced) {
    return wrong_length(header, content.size(), place);
  }
  return content;
}

}  // namespace

Result<RawArray> read_idx(const std::filesystem::path& path,
                          std::size_t rank,
                          std::optional<std::int64_t> limit) {
  const std::string place = path.string();
  HYDRO_TRY(Bytes content, read_data_file(path));
  const bool packed = is_gzip(content);
  Bytes start;
  if (packed) {
    HYDRO_TRY(start, inflate(content, kSizeBytes * (1 + rank), place));
  }
  HYDRO_TRY(const IdxHeader header, parse_header(packed ? start : content, rank, place));
  RawArray array{.kind = NumberKind::kUInt8,
                 .shape = header.shape,
                 .bytes = {},
                 .file_samples = header.shape.front()};
  if (limit) {
    array.shape.front() = std::clamp<std::int64_t>(*limit, 0, array.shape.front());
  }
  const auto samples_bytes = element_count(std::span(array.shape));
  const std::uint64_t wanted =
      header.bytes + samples_bytes.value_or(0);  // no more than announced, so it fits
  if (packed) {
    HYDRO_TRY(content, unpack(content, header, wanted, place));
  } else if (content.size() != header.announced) {
    return wrong_length(header, content.size(), place);
  }
  const auto samples =
      std::span<const std::byte>(content).subspan(header.bytes, wanted - header.bytes);
  array.bytes.assign(samples.begin(), samples.end());
  return array;
}

}  // namespace hydro::data
