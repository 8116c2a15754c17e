// hydro/pt2/little_endian.h — numbers out of zip records.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "hydro/base/result.h"

namespace hydro::pt2 {

/// Requires: offset + sizeof(Number) <= bytes.size() (BugError)
template <class Number>
[[nodiscard]] Number little_endian(std::span<const std::byte> bytes, std::size_t offset) {
  HYDRO_CHECK(offset <= bytes.size() && sizeof(Number) <= bytes.size() - offset);
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < sizeof(Number); ++i) {
    value |= static_cast<std::uint64_t>(bytes[offset + i]) << (8 * i);
  }
  return static_cast<Number>(value);
}

}  // namespace hydro::pt2
