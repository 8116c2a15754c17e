// hydro/base/file.h — files read whole and written so that a crash leaves the old or the new
// content, never half.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "hydro/base/bytes.h"
#include "hydro/base/result.h"

namespace hydro {

/// Errors: H0601 cannot be opened or read; H0602 larger than `limit` bytes.
[[nodiscard]] Result<Bytes> read_file(const std::filesystem::path& path,
                                      std::uint64_t limit = UINT64_MAX);
[[nodiscard]] Result<std::string> read_text(const std::filesystem::path& path,
                                            std::uint64_t limit = UINT64_MAX);

/// Temporary file beside `path`, fsync, rename, fsync of the folder. Errors: H0603.
[[nodiscard]] Result<void> write_file_durably(const std::filesystem::path& path,
                                              std::span<const std::byte> bytes);
[[nodiscard]] Result<void> write_text_durably(const std::filesystem::path& path,
                                              std::string_view text);

/// Creates the folder and its parents. Errors: H0603.
[[nodiscard]] Result<void> make_folder(const std::filesystem::path& path);

}  // namespace hydro
