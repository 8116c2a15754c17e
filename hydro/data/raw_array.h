// hydro/data/raw_array.h — arrays as files hold them, before they become inputs and targets of
// a data set.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hydro/base/bytes.h"
#include "hydro/base/result.h"

namespace hydro::data {

enum class NumberKind : std::uint8_t { kUInt8, kInt32, kInt64, kFloat32, kFloat64 };

[[nodiscard]] std::uint64_t byte_size(NumberKind kind);

struct RawArray {
  NumberKind kind = NumberKind::kUInt8;
  std::vector<std::int64_t> shape;  // [samples, ...]; never without an axis
  Bytes bytes;                      // row-major, little-endian
  std::int64_t file_samples = 0;    // in the file, before any limit
};

/// Product of the sizes; nothing when it does not fit.
[[nodiscard]] std::optional<std::uint64_t> element_count(std::span<const std::int64_t> shape);

/// "[3, 28, 28]", for messages.
[[nodiscard]] std::string shape_text(std::span<const std::int64_t> shape);

/// Errors: H0401
[[nodiscard]] Result<Bytes> read_data_file(const std::filesystem::path& path);

/// Drops all but the first `limit` samples.
void keep_first(RawArray& array, std::optional<std::int64_t> limit);

/// An IDX file of `rank` axes, plain or gzip: images have 3, labels 1. With a limit only the
/// needed part of a gzip file is decompressed, provided that the size its end claims is the one
/// its header announces.
///
/// Errors: H0401 H0402 H0403 H0409
[[nodiscard]] Result<RawArray> read_idx(const std::filesystem::path& path,
                                        std::size_t rank,
                                        std::optional<std::int64_t> limit);

/// A .npy file of format 1.0 to 3.0.      Source: numpy.lib.format's documentation.
///
/// Errors: H0401 H0402 H0403 H0409 H0410
[[nodiscard]] Result<RawArray> read_npy(const std::filesystem::path& path);

/// The tensor `name` of a safetensors file, or its only one.
///
/// Errors: H0401 H0409 H0410 H0412 H0604
[[nodiscard]] Result<RawArray> read_tensor(const std::filesystem::path& path,
                                           const std::string& name);

}  // namespace hydro::data
