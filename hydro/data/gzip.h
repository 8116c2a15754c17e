// hydro/data/gzip.h — gzip content from memory to memory, with the caller's limit on what comes
// out.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "hydro/base/bytes.h"
#include "hydro/base/result.h"

namespace hydro::data {

[[nodiscard]] bool is_gzip(std::span<const std::byte> content);

/// What the file's last four bytes claim: the content's size modulo 2^32 (of the last member).
///
/// Requires: is_gzip (BugError)
[[nodiscard]] std::uint32_t claimed_size(std::span<const std::byte> gzip);

/// The first `limit` bytes of the content, or all of it where it is shorter. Where the end is
/// reached, its checksum has been compared and nothing but further members follows.
///
/// Errors: H0403 naming `place`
[[nodiscard]] Result<Bytes> inflate(std::span<const std::byte> gzip,
                                    std::uint64_t limit,
                                    const std::string& place);

}  // namespace hydro::data
