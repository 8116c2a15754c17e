#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "hydro/base/bytes.h"
#include "hydro/base/result.h"
#include "hydro/base/safetensors.h"
#include "hydro/base/testing.h"
#include "hydro/data/dataset.h"
#include "hydro/data/testing.h"

namespace hydro::data {
namespace {

using hydro::testing::bytes_of;
using hydro::testing::numbers_of;
using hydro::testing::TemporaryFolder;
using hydro::testing::to_bytes;
using hydro::testing::words;
using testing::npy_bytes;
using testing::write_bytes;

using Floats = std::vector<float>;
using Integers = std::vector<std::int64_t>;

/// x.npy of two samples and y.npy of labels 0, 1; each test writes another x.npy.
class Arrays : public ::testing::Test {
 protected:
  void SetUp() override {
    write_bytes(folder_ / "y.npy", npy_bytes("'<i8'", "(2,)", bytes_of<std::int64_t>({0, 1})));
  }

  void write_x(const Bytes& content) const { write_bytes(folder_ / "x.npy", content); }

  [[nodiscard]] Result<Dataset> load(const std::string& x = "x.npy",
                                     const std::string& y = "y.npy",
                                     std::optional<std::int64_t> limit = {}) const {
    return load_split(
        {.source = ArraySource{.inputs = {{"", folder_ / x}}, .target = folder_ / y},
         .limit = limit});
  }

  void expect_refusal(const Bytes& content,
                      const std::string& id,
                      const std::string& part) const {
    write_x(content);
    const std::string text = words(load());
    EXPECT_EQ(text.substr(0, 5), id) << text;
    EXPECT_NE(text.find((folder_ / "x.npy").string()), std::string::npos) << text;
    EXPECT_NE(text.find(part), std::string::npos) << text;
  }

  TemporaryFolder folder_;
};

TEST_F(Arrays, FloatsOfBothSizesBecomeFloat32) {
  for (const bool wide : {false, true}) {
    write_x(wide ? npy_bytes("'<f8'", "(2, 2)", bytes_of<double>({1, 2, 3.5, 4}))
                 : npy_bytes("'<f4'", "(2, 2)", bytes_of<float>({1, 2, 3.5, 4})));
    const auto dataset = load();
    ASSERT_EQ(words(dataset), "ok");
    EXPECT_EQ(dataset->inputs.at(0).type, ElementType::kFloat32);
    EXPECT_EQ(dataset->inputs.at(0).shape, (Integers{2}));
    EXPECT_EQ(numbers_of<float>(dataset->inputs.at(0).bytes), (Floats{1, 2, 3.5, 4}));
  }
}

TEST_F(Arrays, WholeNumbersBecomeInt64) {
  write_x(npy_bytes("'<i4'", "(2, 2)", bytes_of<std::int32_t>({1, -2, 3, 4})));
  EXPECT_EQ(numbers_of<std::int64_t>(load()->inputs.at(0).bytes), (Integers{1, -2, 3, 4}));
  write_x(npy_bytes("'|u1'", "(2, 2)", bytes_of<std::uint8_t>({1, 2, 3, 255})));
  const auto dataset = load();
  EXPECT_EQ(numbers_of<std::int64_t>(dataset->inputs.at(0).bytes), (Integers{1, 2, 3, 255}));
  EXPECT_FALSE(dataset->inputs.at(0).is_image);
}

TEST_F(Arrays, BytesOfFourAxesAreImages) {
  write_x(npy_bytes("'|u1'", "(2, 3, 1, 1)", bytes_of<std::uint8_t>({1, 2, 3, 4, 5, 6})));
  const auto dataset = load();
  ASSERT_EQ(words(dataset), "ok");
  EXPECT_TRUE(dataset->inputs.at(0).is_image);
  EXPECT_EQ(dataset->inputs.at(0).type, ElementType::kUInt8);
}

TEST_F(Arrays, LimitKeepsTheFirstSamples) {
  write_x(npy_bytes("'<f4'", "(2, 2)", bytes_of<float>({1, 2, 3, 4})));
  const auto dataset = load("x.npy", "y.npy", 1);
  EXPECT_EQ(dataset->size, 1);
  EXPECT_EQ(numbers_of<float>(dataset->inputs.at(0).bytes), (Floats{1, 2}));
  EXPECT_EQ(dataset->target.classes, (Integers{0}));
}

TEST_F(Arrays, ReadsVersionTwoHeaders) {
  const Bytes first = npy_bytes("'<f4'", "(2,)", bytes_of<float>({1, 2}));
  Bytes second = to_bytes(std::string("\x93NUMPY\x02\x00\x76\x00\x00\x00", 12));
  second.insert(second.end(), first.begin() + 10, first.end());
  write_x(second);
  EXPECT_EQ(numbers_of<float>(load()->inputs.at(0).bytes), (Floats{1, 2}));
}

TEST_F(Arrays, FloatTargetsAreRegressionValues) {
  write_x(npy_bytes("'<f4'", "(2,)", bytes_of<float>({1, 2})));
  write_bytes(folder_ / "y.npy", npy_bytes("'<f8'", "(2, 1)", bytes_of<double>({0.5, 1.5})));
  const auto dataset = load();
  ASSERT_EQ(words(dataset), "ok");
  EXPECT_EQ(dataset->target.values, (Floats{0.5, 1.5}));
  EXPECT_EQ(dataset->target.shape, (Integers{1}));
  EXPECT_TRUE(dataset->target.classes.empty());
}

TEST_F(Arrays, ReadsTensorsByNameOrTheOnlyOne) {
  const Bytes a = bytes_of<float>({1, 2});
  const Bytes b = bytes_of<std::int64_t>({5, 6});
  ASSERT_EQ(words(write_safetensors(folder_ / "both.safetensors",
                                    {{"", {.dtype = "F32", .shape = {2}, .bytes = a}},
                                     {"target", {.dtype = "I64", .shape = {2}, .bytes = b}}},
                                    {})),
            "ok");
  ASSERT_EQ(words(write_safetensors(folder_ / "one.safetensors",
                                    {{"labels", {.dtype = "I64", .shape = {2}, .bytes = b}}},
                                    {})),
            "ok");
  for (const char* target : {"both.safetensors", "one.safetensors"}) {
    const auto dataset = load("both.safetensors", target);
    ASSERT_EQ(words(dataset), "ok");
    EXPECT_EQ(numbers_of<float>(dataset->inputs.at(0).bytes), (Floats{1, 2}));
    EXPECT_EQ(dataset->target.classes, (Integers{5, 6}));
  }
}

TEST_F(Arrays, NamesTheTensorsThatAreThere) {
  const Bytes a = bytes_of<float>({1, 2});
  ASSERT_EQ(words(write_safetensors(folder_ / "x.safetensors",
                                    {{"p", {.dtype = "F32", .shape = {2}, .bytes = a}},
                                     {"q", {.dtype = "F16", .shape = {4}, .bytes = a}}},
                                    {})),
            "ok");
  const std::string text = words(load("x.safetensors"));
  EXPECT_EQ(text.substr(0, 5), "H0412");
  EXPECT_NE(text.find("`p`, `q`"), std::string::npos) << text;
}

TEST_F(Arrays, TensorsOfOtherTypesAreRefused) {
  const Bytes a = bytes_of<float>({1, 2});
  ASSERT_EQ(
      words(write_safetensors(
          folder_ / "h.safetensors", {{"p", {.dtype = "F16", .shape = {4}, .bytes = a}}}, {})),
      "ok");
  EXPECT_EQ(words(load("h.safetensors")).substr(0, 5), "H0409");
  const Bytes one = bytes_of<float>({1});
  ASSERT_EQ(
      words(write_safetensors(
          folder_ / "s.safetensors", {{"p", {.dtype = "F32", .shape = {}, .bytes = one}}}, {})),
      "ok");
  EXPECT_EQ(words(load("s.safetensors")).substr(0, 5), "H0410");
}

TEST_F(Arrays, DamagedSafetensorsAreRefused) {
  write_bytes(folder_ / "x.safetensors", to_bytes("nonsense"));
  EXPECT_EQ(words(load("x.safetensors")).substr(0, 5), "H0604");
}

TEST_F(Arrays, PickledObjectsAreNeverRead) {
  expect_refusal(
      npy_bytes("'|O'", "(2,)", to_bytes("cposix\nsystem")), "H0410", "pickled Python objects");
}

TEST_F(Arrays, StructuredRecordsAndFortranOrderAreRefused) {
  expect_refusal(npy_bytes("[('a', '<f4'), ('b', '<i4')]", "(2,)", Bytes(16)),
                 "H0410",
                 "structured records");
  expect_refusal(npy_bytes("'<f4'", "(2, 2)", Bytes(16), "True"), "H0410", "Fortran order");
}

TEST_F(Arrays, OtherElementTypesAreRefusedByName) {
  expect_refusal(npy_bytes("'>f4'", "(2,)", Bytes(8)), "H0409", "`>f4`");
  expect_refusal(npy_bytes("'<f2'", "(2,)", Bytes(4)), "H0409", "astype");
}

TEST_F(Arrays, OtherFilesAreRefused) {
  expect_refusal(to_bytes("PK\x03\x04 an archive"), "H0402", "npz");
  expect_refusal(to_bytes("\x80\x02 a pickle"), "H0402", "not a .npy file");
  expect_refusal(to_bytes(std::string("\x93NUMPY\x09\x00\x00\x00", 10)), "H0402", "version 9");
}

TEST_F(Arrays, FilesWithOtherEndingsAreRefused) {
  write_bytes(folder_ / "x.pt", to_bytes("\x80\x02 a pickle"));
  const std::string text = words(load("x.pt"));
  EXPECT_EQ(text.substr(0, 5), "H0402");
  EXPECT_NE(text.find("neither .npy nor .safetensors"), std::string::npos) << text;
}

TEST_F(Arrays, WrongLengthsAreNamed) {
  expect_refusal(
      npy_bytes("'<f4'", "(2, 2)", Bytes(15)), "H0403", "takes 16 bytes, the file holds 15");
  expect_refusal(npy_bytes("'<f4'", "(2, 2)", Bytes(17)), "H0403", "behind its array");
  expect_refusal(
      to_bytes(std::string("\x93NUMPY\x01\x00\x76\x00{", 11)), "H0403", "inside its header");
  expect_refusal(
      to_bytes(std::string("\x93NUMPY\x02\x00\x76", 9)), "H0403", "inside its header");
}

TEST_F(Arrays, BrokenHeadersAreRefused) {
  expect_refusal(npy_bytes("'<f4'", "(2, -2)", {}), "H0402", "no dictionary");
  expect_refusal(npy_bytes("'<f4'", "[2]", {}), "H0402", "no dictionary");
  expect_refusal(npy_bytes("'<f4'", "()", Bytes(4)), "H0402", "one entry a sample");
  expect_refusal(npy_bytes("'<f4'", "(4000000000, 4000000000, 4000000000)", {}),
                 "H0402",
                 "one entry a sample");
  expect_refusal(to_bytes(std::string("\x93NUMPY\x02\x00\xFF\xFF\xFF\x0F", 12)),
                 "H0402",
                 "more than 10000");
}

TEST_F(Arrays, MissingFileIsNamed) {
  EXPECT_EQ(words(load("none.npy")).substr(0, 5), "H0401");
}

TEST_F(Arrays, UnequalCountsNameBothFiles) {
  write_x(npy_bytes("'<f4'", "(3,)", bytes_of<float>({1, 2, 3})));
  const std::string text = words(load());
  EXPECT_EQ(text.substr(0, 5), "H0404") << text;
  EXPECT_NE(text.find("x.npy"), std::string::npos) << text;
  EXPECT_NE(text.find("y.npy"), std::string::npos) << text;
}

TEST_F(Arrays, ASplitMayHaveNoTarget) {
  write_x(npy_bytes("'<f4'", "(3,)", bytes_of<float>({1, 2, 3})));
  write_bytes(folder_ / "y.npy", npy_bytes("'<i8'", "(3,)", bytes_of<std::int64_t>({4, 5, 6})));
  SplitSource source{
      .source = ArraySource{.inputs = {{"x", folder_ / "x.npy"}, {"y", folder_ / "y.npy"}},
                            .target = {}},
      .limit = 2};
  const auto dataset = load_split(source);
  ASSERT_EQ(words(dataset), "ok");
  EXPECT_EQ(dataset->size, 2);
  EXPECT_EQ(numbers_of<std::int64_t>(dataset->inputs.at(1).bytes), (Integers{4, 5}));
  EXPECT_TRUE(dataset->target.classes.empty());
  EXPECT_EQ(split_off(*dataset, 0.5, 1).first.inputs.at(1).bytes.size(), 8U);
  write_x(npy_bytes("'<f4'", "(2,)", bytes_of<float>({1, 2})));
  EXPECT_EQ(words(load_split(source)).substr(0, 5), "H0404");
}

TEST_F(Arrays, WholeNumberTargetsKeepTheirShape) {
  write_x(npy_bytes("'<f4'", "(2,)", bytes_of<float>({1, 2})));
  write_bytes(folder_ / "y.npy",
              npy_bytes("'<i8'", "(2, 3)", bytes_of<std::int64_t>({0, 1, 2, 3, 4, 5})));
  const auto dataset = load();
  ASSERT_EQ(words(dataset), "ok");
  EXPECT_EQ(dataset->target.shape, (Integers{3}));
  EXPECT_EQ(dataset->target.classes, (Integers{0, 1, 2, 3, 4, 5}));
}

}  // namespace
}  // namespace hydro::data
