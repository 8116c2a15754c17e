#include "hydro/base/safetensors.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "hydro/base/bytes.h"
#include "hydro/base/file.h"
#include "hydro/base/testing.h"

namespace hydro {
namespace {

using testing::bytes_of;
using testing::numbers_of;
using testing::outcome;
using testing::TemporaryFolder;
using testing::to_bytes;
using testing::words;

Bytes file_of(const std::string& header, const std::string& data, std::uint64_t claimed) {
  std::string text;
  for (unsigned i = 0; i < 8; ++i) {
    text += static_cast<char>(claimed >> (8 * i) & 0xFFU);
  }
  return to_bytes(text + header + data);
}

Bytes file_of(const std::string& header, const std::string& data) {
  return file_of(header, data, header.size());
}

std::string refusal(const std::string& header, const std::string& data) {
  return words(parse_safetensors(file_of(header, data), "x.safetensors"));
}

std::string entry(const std::string& name,
                  const std::string& dtype,
                  const std::string& shape,
                  const std::string& offsets) {
  return "\"" + name + R"(":{"dtype":")" + dtype + R"(","shape":)" + shape +
         R"(,"data_offsets":)" + offsets + "}";
}

TEST(Safetensors, ReadsBackWhatItWrote) {
  const TemporaryFolder folder;
  const Bytes weight = bytes_of<float>({1, 2, 3, 4, 5, 6});
  const Bytes steps = bytes_of<std::int64_t>({7});
  const auto written =
      write_safetensors(folder / "a",
                        {{"w", {.dtype = "F32", .shape = {2, 3}, .bytes = weight}},
                         {"steps", {.dtype = "I64", .shape = {}, .bytes = steps}}},
                        {{"made", "by a test"}});
  ASSERT_EQ(words(written), "ok");
  const auto read = read_safetensors(folder / "a");
  ASSERT_EQ(words(read), "ok");
  EXPECT_EQ(numbers_of<float>(read->tensors.at("w").bytes),
            (std::vector<float>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(read->tensors.at("w").shape, (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(numbers_of<std::int64_t>(read->tensors.at("steps").bytes),
            (std::vector<std::int64_t>{7}));
  EXPECT_EQ(read->metadata.at("made"), "by a test");
}

// golden.safetensors was read by Python's safetensors (make_golden.py checks it): the same
// bytes stay readable.
TEST(Safetensors, WritesTheBytesThatPythonReads) {
  const TemporaryFolder folder;
  const Bytes bias = bytes_of<float>({0.5F, -1.5F, 2.25F});
  const Bytes steps = bytes_of<std::int64_t>({7});
  const Bytes mask = bytes_of<std::uint8_t>({1, 0, 1});
  ASSERT_EQ(words(write_safetensors(folder / "b",
                                    {{"mask", {.dtype = "BOOL", .shape = {3}, .bytes = mask}},
                                     {"bias", {.dtype = "F32", .shape = {3}, .bytes = bias}},
                                     {"steps", {.dtype = "I64", .shape = {}, .bytes = steps}},
                                     {"none", {.dtype = "F32", .shape = {0, 4}, .bytes = {}}}},
                                    {{"format", "pt"}})),
            "ok");
  const std::filesystem::path golden =
      std::filesystem::path(HYDRO_SOURCE_DIR) / "tests/data/safetensors/golden.safetensors";
  EXPECT_EQ(read_file(folder / "b").value(), read_file(golden).value());
}

TEST(Safetensors, AlignsLargerElementsFirst) {
  const TemporaryFolder folder;
  const Bytes odd = bytes_of<std::uint8_t>({1});
  const Bytes steps = bytes_of<std::int64_t>({7});
  ASSERT_EQ(words(write_safetensors(folder / "c",
                                    {{"odd", {.dtype = "U8", .shape = {1}, .bytes = odd}},
                                     {"steps", {.dtype = "I64", .shape = {}, .bytes = steps}}},
                                    {})),
            "ok");
  const auto read = read_safetensors(folder / "c");
  ASSERT_EQ(words(read), "ok");
  EXPECT_EQ((read->tensors.at("steps").bytes.data() - read->content.data()) % 8, 0);
}

TEST(Safetensors, RefusesAHeaderLongerThanTheFile) {
  EXPECT_EQ(outcome(parse_safetensors(file_of("{}", "", 3), "x")), "H0604");
  EXPECT_EQ(outcome(parse_safetensors(file_of("{}", "", UINT64_MAX), "x")), "H0604");
  EXPECT_EQ(outcome(parse_safetensors(to_bytes("short"), "x")), "H0604");
}

TEST(Safetensors, NamesFileAndTensorOfAnOverlap) {
  const std::string text = refusal(
      "{" + entry("a", "U8", "[2]", "[0,2]") + "," + entry("b", "U8", "[2]", "[1,3]") + "}",
      "xyz");
  EXPECT_NE(text.find("H0604: "), std::string::npos) << text;
  EXPECT_NE(text.find("`b`: its data overlap"), std::string::npos) << text;
  EXPECT_NE(text.find("x.safetensors"), std::string::npos) << text;
}

TEST(Safetensors, RefusesAGapBetweenTensorsAndAtTheEnd) {
  const std::string gap = refusal(
      "{" + entry("a", "U8", "[1]", "[0,1]") + "," + entry("b", "U8", "[1]", "[2,3]") + "}",
      "xyz");
  EXPECT_NE(gap.find("`b`: there is a gap"), std::string::npos) << gap;
  const std::string tail = refusal("{" + entry("a", "U8", "[1]", "[0,1]") + "}", "xyz");
  EXPECT_NE(tail.find("2 bytes at the end belong to no tensor"), std::string::npos) << tail;
}

TEST(Safetensors, RefusesDataBeyondTheFile) {
  const std::string text = refusal("{" + entry("a", "U8", "[9]", "[0,9]") + "}", "xyz");
  EXPECT_NE(text.find("end at byte 9, the file holds 3"), std::string::npos) << text;
}

TEST(Safetensors, RefusesAShapeThatOverflows) {
  const std::string text =
      refusal("{" + entry("a", "F64", "[4294967296,4294967296]", "[0,0]") + "}", "");
  EXPECT_NE(text.find("`a`: its shape overflows"), std::string::npos) << text;
}

TEST(Safetensors, RefusesASizeThatDoesNotFitTheShape) {
  const std::string text = refusal("{" + entry("a", "F32", "[2]", "[0,4]") + "}", "wxyz");
  EXPECT_NE(text.find("its shape needs 8 bytes, its data_offsets are [0, 4]"),
            std::string::npos)
      << text;
}

TEST(Safetensors, RefusesARepeatedKey) {
  const std::string a = entry("a", "U8", "[1]", "[0,1]");
  const std::string text = refusal("{" + a + "," + a + "}", "x");
  EXPECT_NE(text.find("the key `a` appears twice"), std::string::npos) << text;
}

TEST(Safetensors, RefusesAnUnknownDtypeByName) {
  const std::string text = refusal("{" + entry("a", "F8_E4M3", "[1]", "[0,1]") + "}", "x");
  EXPECT_NE(text.find("`a`: unknown dtype `F8_E4M3`"), std::string::npos) << text;
}

TEST(Safetensors, RefusesNegativeAndFractionalSizes) {
  EXPECT_NE(
      refusal("{" + entry("a", "U8", "[-1]", "[0,1]") + "}", "x").find("no whole numbers"),
      std::string::npos);
  EXPECT_NE(
      refusal("{" + entry("a", "U8", "[1]", "[0,1.0]") + "}", "x").find("no whole numbers"),
      std::string::npos);
  EXPECT_NE(refusal("{" + entry("a", "U8", "[1]", "[1,0]") + "}", "x").find("data_offsets are"),
            std::string::npos);
}

TEST(Safetensors, RefusesAHeaderThatIsNoSuchObject) {
  EXPECT_NE(refusal("[]", "").find("no JSON object"), std::string::npos);
  EXPECT_NE(refusal("{\"a\":", "").find("no JSON object"), std::string::npos);
  EXPECT_NE(refusal("{\"a\":{}}", "").find("no dtype"), std::string::npos);
  EXPECT_NE(refusal("{\"__metadata__\":{\"k\":1}}", "").find("something other than text"),
            std::string::npos);
  EXPECT_NE(refusal("{\"__metadata__\":1}", "").find("is no object"), std::string::npos);
}

TEST(Safetensors, RefusesDeepNestingWithoutRecursion) {
  const std::string deep =
      "{\"a\":" + std::string(1'000'000, '[') + std::string(1'000'000, ']') + "}";
  EXPECT_NE(refusal(deep, "").find("nested too deeply"), std::string::npos);
}

}  // namespace
}  // namespace hydro
