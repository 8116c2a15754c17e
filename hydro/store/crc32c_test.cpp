#include "hydro/store/crc32c.h"

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

namespace hydro::store {
namespace {

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

TEST(Crc32c, MatchesTheVectorsOfTheStandard) {
  EXPECT_EQ(crc32c(std::vector<std::byte>(32, std::byte{0})), 0x8A9136AAU);
  EXPECT_EQ(crc32c(std::vector<std::byte>(32, std::byte{0xFF})), 0x62A8AB43U);
  EXPECT_EQ(crc32c(bytes_of("123456789")), 0xE3069283U);
}

TEST(Crc32c, ContinuesWhereItStopped) {
  EXPECT_EQ(crc32c(bytes_of("6789"), crc32c(bytes_of("12345"))), crc32c(bytes_of("123456789")));
}

}  // namespace
}  // namespace hydro::store
