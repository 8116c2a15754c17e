#include "hydro/pt2/zip.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hydro/base/bytes.h"
#include "hydro/base/result.h"
#include "hydro/pt2/byte_source.h"
#include "hydro/pt2/testing.h"

namespace hydro::pt2 {
namespace {

// Counts what a reader takes, so that a test can bound it.
class CountingSource : public ByteSource {
 public:
  CountingSource(const Bytes& bytes, std::uint64_t& taken)
      : inner_(make_memory_source(bytes)), taken_(taken) {}

  std::uint64_t size() const override { return inner_->size(); }

  Result<void> read(std::uint64_t offset, std::span<std::byte> out) override {
    taken_ += out.size();
    return inner_->read(offset, out);
  }

 private:
  std::unique_ptr<ByteSource> inner_;
  std::uint64_t& taken_;
};

// The error of opening, or of reading the entry "a/x".
std::string failure(const Bytes& bytes, const ZipLimits& limits = {}) {
  Result<ZipReader> zip = ZipReader::open(make_memory_source(bytes), limits);
  if (!zip) {
    return zip.error().id + ": " + zip.error().what;
  }
  const ZipEntry* entry = zip->find("a/x");
  if (entry == nullptr) {
    return "no entry";
  }
  const Result<Bytes> data = zip->read(*entry, 1U << 20U);
  return data ? "" : data.error().id + ": " + data.error().what;
}

TestEntry entry_named(std::string name, std::string data = "hello") {
  TestEntry entry;
  entry.name = std::move(name);
  entry.data = std::move(data);
  return entry;
}

TEST(Zip, ReadsStoredAndDeflatedEntries) {
  TestEntry packed = entry_named("a/packed", std::string(5000, 'z'));
  packed.deflate = true;
  const Bytes bytes =
      ZipBuilder().add(entry_named("a/x")).add(packed).add(entry_named("a/none", "")).bytes();
  ZipReader zip = ZipReader::open(make_memory_source(bytes), {}).value();
  EXPECT_EQ(text_of(zip.read(*zip.find("a/x"), 100).value()), "hello");
  EXPECT_EQ(text_of(zip.read(*zip.find("a/packed"), 5000).value()), std::string(5000, 'z'));
  EXPECT_TRUE(zip.read(*zip.find("a/none"), 0).value().empty());
  EXPECT_EQ(zip.find("a/other"), nullptr);
}

TEST(Zip, RefusesNamesThatCouldLeaveAFolder) {
  for (const std::string name :
       {"../x", "a/../x", "/etc/x", "a//x", "a/./x", "C:x", "a\\x", "a/\nx", ""}) {
    EXPECT_THAT(failure(ZipBuilder().add(entry_named(name)).bytes()),
                testing::StartsWith("H0234"))
        << name;
  }
  EXPECT_THAT(failure(ZipBuilder().add(entry_named(std::string(600, 'n'))).bytes()),
              testing::StartsWith("H0233"));
}

TEST(Zip, RefusesLinksEncryptionAndRepeatedNames) {
  TestEntry link = entry_named("a/x");
  link.attributes = 0120777U << 16U;
  EXPECT_THAT(failure(ZipBuilder().add(link).bytes()),
              testing::HasSubstr("H0234: entry `a/x`: a link"));
  TestEntry secret = entry_named("a/x");
  secret.flags = 1;
  EXPECT_THAT(failure(ZipBuilder().add(secret).bytes()), testing::HasSubstr("encrypted"));
  EXPECT_THAT(failure(ZipBuilder().add(entry_named("a/x")).add(entry_named("a/x")).bytes()),
              testing::HasSubstr("H0234: entry `a/x` is there twice"));
}

TEST(Zip, RefusesABombByItsRatio) {
  TestEntry bomb = entry_named("a/x", std::string(4U << 20U, '\0'));
  bomb.deflate = true;
  EXPECT_THAT(failure(ZipBuilder().add(bomb).bytes()),
              testing::HasSubstr("H0233: entry `a/x` unpacks to more than 100"));
}

TEST(Zip, RefusesAMillionEntriesWithoutReadingThem) {
  ZipBuilder zip;
  for (int i = 0; i < 20'000; ++i) {
    zip.add(entry_named("a/" + std::to_string(i), ""));
  }
  const Bytes bytes = zip.bytes(1'000'000);
  std::uint64_t taken = 0;
  const Result<ZipReader> opened =
      ZipReader::open(std::make_unique<CountingSource>(bytes, taken), {});
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().id, "H0233");
  EXPECT_LT(taken, 70'000U);
}

TEST(Zip, RefusesSizesThatLie) {
  TestEntry larger = entry_named("a/x");
  larger.declared_size = 4;
  larger.declared_local_size = 5;
  EXPECT_THAT(failure(ZipBuilder().add(larger).bytes()),
              testing::HasSubstr("contradicts the central directory"));
  TestEntry inflated = entry_named("a/x", std::string(500, 'z'));
  inflated.deflate = true;
  inflated.declared_size = 400;
  EXPECT_THAT(failure(ZipBuilder().add(inflated).bytes()),
              testing::HasSubstr("do not give the size"));
  inflated.declared_size = 600;
  EXPECT_THAT(failure(ZipBuilder().add(inflated).bytes()),
              testing::HasSubstr("do not give the size"));
  TestEntry huge = entry_named("a/x");
  huge.declared_size = 1 << 30;
  EXPECT_THAT(failure(ZipBuilder().add(huge).bytes()), testing::StartsWith("H0235"));
}

TEST(Zip, RefusesOtherContradictions) {
  TestEntry renamed = entry_named("a/x");
  renamed.local_name = "a/y";
  EXPECT_THAT(failure(ZipBuilder().add(renamed).bytes()),
              testing::HasSubstr("own header contradicts"));
  TestEntry torn = entry_named("a/x");
  torn.wrong_checksum = true;
  EXPECT_THAT(failure(ZipBuilder().add(torn).bytes()), testing::HasSubstr("checksum"));
}

TEST(Zip, RefusesATruncatedFileAtEveryLength) {
  const Bytes whole = ZipBuilder().add(entry_named("a/x")).add(entry_named("a/y")).bytes();
  for (std::size_t length = 0; length < whole.size(); ++length) {
    const Bytes cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length));
    EXPECT_NE(failure(cut), "") << length;
  }
}

TEST(Zip, SurvivesEveryChangedByte) {
  const Bytes whole = ZipBuilder().add(entry_named("a/x")).add(entry_named("a/y")).bytes();
  std::size_t refused = 0;
  for (std::size_t i = 0; i < whole.size(); ++i) {
    Bytes changed = whole;
    changed[i] ^= std::byte{0xff};
    refused += failure(changed).empty() ? 0 : 1;
  }
  EXPECT_GT(refused, whole.size() / 2);
}

TEST(Zip, RefusesMoreThanTheTotalLimit) {
  const Bytes bytes = ZipBuilder().add(entry_named("a/x")).add(entry_named("a/y")).bytes();
  ZipLimits limits;
  limits.total_bytes = 9;
  EXPECT_THAT(failure(bytes, limits),
              testing::HasSubstr("H0233: the entries unpack to too many bytes"));
}

TEST(Zip, RefusesAnEntryOverTheCallersLimit) {
  const Bytes bytes = ZipBuilder().add(entry_named("a/x")).bytes();
  ZipReader zip = ZipReader::open(make_memory_source(bytes), {}).value();
  const Result<Bytes> data = zip.read(*zip.find("a/x"), 4);
  ASSERT_FALSE(data);
  EXPECT_EQ(data.error().id, "H0233");
}

}  // namespace
}  // namespace hydro::pt2
