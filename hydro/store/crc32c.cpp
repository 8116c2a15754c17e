#include "hydro/store/crc32c.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace hydro::store {
namespace {

constexpr std::uint32_t kReversedPolynomial = 0x82F63B78;

constexpr std::array<std::uint32_t, 256> make_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t byte = 0; byte < table.size(); ++byte) {
    std::uint32_t value = byte;
    for (int bit = 0; bit < 8; ++bit) {
      value = (value >> 1U) ^ ((value & 1U) != 0 ? kReversedPolynomial : 0);
    }
    table.at(byte) = value;
  }
  return table;
}

constexpr std::array<std::uint32_t, 256> kTable = make_table();

}  // namespace

std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t before) {
  std::uint32_t value = ~before;
  for (const std::byte byte : bytes) {
    value = kTable.at((value ^ std::to_integer<std::uint32_t>(byte)) & 0xFFU) ^ (value >> 8U);
  }
  return ~value;
}

}  // namespace hydro::store
