// hydro/store/crc32c.h — the Castagnoli checksum, which SQLite's pages lack.
// Source: RFC 3720, appendix B.4 (polynomial, test vectors).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace hydro::store {

/// Continues `before`, the checksum of what precedes `bytes`.
[[nodiscard]] std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t before = 0);

}  // namespace hydro::store
