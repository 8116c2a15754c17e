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
