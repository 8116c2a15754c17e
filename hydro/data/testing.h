// hydro/data/testing.h — files and data sets for tests.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <zlib.h>

#include "hydro/base/bytes.h"
#include "hydro/base/testing.h"
#include "hydro/data/dataset.h"

namespace hydro::data::testing {

inline void write_bytes(const std::filesystem::path& path, std::span<const std::byte> bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  HYDRO_CHECK(file.good(), path.string());
}

/// uint8 content with its big-endian header.
[[nodiscard]] inline Bytes idx_bytes(const std::vector<std::uint32_t>& shape,
                                     std::span<const std::uint8_t> values) {
  Bytes bytes = {
      std::byte{0}, std::byte{0}, std::byte{8}, static_cast<std::byte>(shape.size())};
  for (const std::uint32_t size : shape) {
    for (unsigned shift = 32; shift > 0; shift -= 8) {
      bytes.push_back(static_cast<std::byte>(size >> (shift - 8) & 0xFFU));
    }
  }
  const auto raw = std::as_bytes(values);
  bytes.insert(bytes.end(), raw.begin(), raw.end());
  return bytes;
}

[[nodiscard]] inline Bytes gzip(std::span<const std::byte> content) {
  z_stream stream{};
  HYDRO_CHECK(
      ::deflateInit2(
          &stream, Z_BEST_COMPRESSION, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY) ==
      Z_OK);
  Bytes packed(::deflateBound(&stream, content.size()));
  Bytes copy(content.begin(), content.end());
  stream.next_in = reinterpret_cast<Bytef*>(copy.data());
  stream.avail_in = static_cast<uInt>(copy.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  HYDRO_CHECK(::deflate(&stream, Z_FINISH) == Z_STREAM_END);
  packed.resize(packed.size() - stream.avail_out);
  ::deflateEnd(&stream);
  return packed;
}

[[nodiscard]] inline Bytes big_endian(std::size_t number) {
  Bytes bytes;
  for (unsigned shift = 32; shift > 0; shift -= 8) {
    bytes.push_back(static_cast<std::byte>(number >> (shift - 8) & 0xFFU));
  }
  return bytes;
}

[[nodiscard]] inline Bytes joined(const std::vector<Bytes>& parts) {
  Bytes all;
  for (const Bytes& part : parts) {
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

[[nodiscard]] inline Bytes png_chunk(const std::string& name, const Bytes& content) {
  const Bytes checked = joined({hydro::testing::to_bytes(name), content});
  const auto sum = ::crc32(
      0, reinterpret_cast<const Bytef*>(checked.data()), static_cast<uInt>(checked.size()));
  return joined({big_endian(content.size()), checked, big_endian(sum)});
}

/// An RGB image of one value; `claimed_height` is what its header says.
[[nodiscard]] inline Bytes png_bytes(std::size_t height,
                                     std::size_t width,
                                     std::uint8_t value,
                                     std::size_t claimed_height = 0) {
  Bytes row(1 + 3 * width, std::byte{value});
  row.front() = std::byte{0};  // no filter
  const Bytes raw = joined(std::vector<Bytes>(height, row));
  Bytes packed(::compressBound(raw.size()));
  uLongf size = packed.size();
  HYDRO_CHECK(::compress(reinterpret_cast<Bytef*>(packed.data()),
                         &size,
                         reinterpret_cast<const Bytef*>(raw.data()),
                         raw.size()) == Z_OK);
  packed.resize(size);
  const Bytes header = joined({big_endian(width),
                               big_endian(claimed_height == 0 ? height : claimed_height),
                               hydro::testing::to_bytes(std::string("\x08\x02\0\0\0", 5))});
  return joined({hydro::testing::to_bytes("\x89PNG\r\n\x1A\n"),
                 png_chunk("IHDR", header),
                 png_chunk("IDAT", packed),
                 png_chunk("IEND", {})});
}

/// Version 1 of the format; `shape` as Python writes it: "(2, 3)".
[[nodiscard]] inline Bytes npy_bytes(const std::string& descr,
                                     const std::string& shape,
                                     std::span<const std::byte> data,
                                     const std::string& fortran = "False") {
  std::string header =
      "{'descr': " + descr + ", 'fortran_order': " + fortran + ", 'shape': " + shape + ", }";
  header.resize(118, ' ');
  Bytes bytes = hydro::testing::to_bytes(std::string("\x93NUMPY\x01\x00\x76\x00", 10) + header);
  bytes.insert(bytes.end(), data.begin(), data.end());
  return bytes;
}

/// `size` images [channels, height, width] of bytes 0, 1, 2, ... and labels 0, 1, 2, 0, ...
[[nodiscard]] inline Dataset counting_images(std::int64_t size,
                                             std::int64_t channels,
                                             std::int64_t height,
                                             std::int64_t width) {
  Dataset dataset{.size = size, .inputs = {}, .target = {}};
  Field field{.name = "",
              .type = ElementType::kUInt8,
              .shape = {channels, height, width},
              .bytes = {},
              .is_image = true,
              .file = "images"};
  for (std::int64_t i = 0; i < size * channels * height * width; ++i) {
    field.bytes.push_back(static_cast<std::byte>(i % 251));
  }
  for (std::int64_t i = 0; i < size; ++i) {
    dataset.target.classes.push_back(i % 3);
  }
  dataset.target.file = "labels";
  dataset.inputs.push_back(std::move(field));
  return dataset;
}

}  // namespace hydro::data::testing
