// hydro/pt2/byte_source.h — random access to bytes that are not in memory at once: a file, or a
// test's buffer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>

#include "hydro/base/result.h"

namespace hydro::pt2 {

class ByteSource {
 public:
  virtual ~ByteSource() = default;
  [[nodiscard]] virtual std::uint64_t size() const = 0;
  /// Fills `out` from `offset` on. Errors: H0235 past the end, H0601 when the system refuses.
  [[nodiscard]] virtual Result<void> read(std::uint64_t offset, std::span<std::byte> out) = 0;
};

/// Errors: H0254, with the system's reason.
[[nodiscard]] Result<std::unique_ptr<ByteSource>> open_file_source(
    const std::filesystem::path& path);
/// Reads `bytes`, which must outlive it.
[[nodiscard]] std::unique_ptr<ByteSource> make_memory_source(std::span<const std::byte> bytes);

}  // namespace hydro::pt2
