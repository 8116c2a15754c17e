// hydro/base/safetensors.h — reads and writes safetensors files, as PyTorch's safetensors
// package does. Byte format: 8-byte little-endian header length, JSON header {name: {dtype,
// shape, data_offsets}}, data. Source: github.com/huggingface/safetensors, format section of
// its README.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "hydro/base/bytes.h"
#include "hydro/base/result.h"

namespace hydro {

/// dtype by the format's words: "F32", "F64", "F16", "BF16", "I64", "I32", "I16", "I8", "U8",
/// "BOOL".
struct SafeTensor {
  std::string dtype;
  std::vector<std::int64_t> shape;
  std::span<const std::byte> bytes;  // row-major; not owned; may be unaligned when read
};

/// Move only: a copy's tensors would point into the original.
struct SafeTensorFile {
  SafeTensorFile() = default;
  SafeTensorFile(SafeTensorFile&&) = default;
  SafeTensorFile& operator=(SafeTensorFile&&) = default;
  SafeTensorFile(const SafeTensorFile&) = delete;
  SafeTensorFile& operator=(const SafeTensorFile&) = delete;
  ~SafeTensorFile() = default;

  Bytes content;  // owns what `tensors` points into
  std::map<std::string, SafeTensor> tensors;
  std::map<std::string, std::string> metadata;
};

/// Errors: H0604 (names file and tensor): header longer than file or 100 MB, overlap, gap,
/// overflow, duplicate
///         key, unknown dtype, size that does not fit the shape.
[[nodiscard]] Result<SafeTensorFile> read_safetensors(const std::filesystem::path& path);
/// The same over bytes in memory; `place` is what an error names.
[[nodiscard]] Result<SafeTensorFile> parse_safetensors(Bytes content, const std::string& place);

/// Written durably (see write_file_durably); the header lists tensors in the order given, the
/// data lie with larger elements first, so that each is aligned.
///
/// Requires: names unique UTF-8, known dtypes, sizes that fit the shapes (BugError)
[[nodiscard]] Result<void> write_safetensors(
    const std::filesystem::path& path,
    const std::vector<std::pair<std::string, SafeTensor>>& tensors,
    const std::map<std::string, std::string>& metadata);

}  // namespace hydro
