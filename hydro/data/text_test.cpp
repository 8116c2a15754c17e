
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "hydro/base/result.h"
#include "hydro/base/testing.h"
#include "hydro/data/dataset.h"
#include "hydro/data/testing.h"

namespace hydro::data {
namespace {

using hydro::testing::TemporaryFolder;
using hydro::testing::to_bytes;
using hydro::testing::words;
using testing::write_bytes;

using Integers = std::vector<std::int64_t>;

/// "abcdefghijk": two blocks of four and their labels take nine bytes, "jk" is left.
class Text : public ::testing::Test {
 protected:
  void SetUp() override { write_bytes(path(), to_bytes("abcdefghijk")); }

  [[nodiscard]] std::filesystem::path path() const { return folder_ / "text.txt"; }

  [[nodiscard]] Result<Dataset> load(std::int64_t block = 4,
                                     std::optional<std::int64_t> limit = {}) const {
    return load_split({.source = TextSource{.path = path(), .block = block}, .limit = limit});
  }

  void expect_refusal(const std::string& id,
                      const std::string& part,
                      std::int64_t block = 4) const {
    const std::string text = words(load(block));
    EXPECT_EQ(text.substr(0, 5), id) << text;
    EXPECT_NE(text.find(path().string()), std::string::npos) << text;
    EXPECT_NE(text.find(part), std::string::npos) << text;
  }

  TemporaryFolder folder_;
};

BatchBuffer text_batch(const Dataset& dataset, const Integers& indices) {
  const Loader loader(std::make_shared<const Dataset>(dataset), {}, Use::kTraining, 1);
  BatchBuffer batch;
  loader.fill(indices, 0, batch);
  return batch;
}

TEST_F(Text, IsCutIntoBlocksWhoseLabelsAreOneFurther) {
  const auto dataset = load();
  ASSERT_EQ(words(dataset), "ok");
  EXPECT_EQ(dataset->size, 2);
  const BatchBuffer batch = text_batch(*dataset, {1, 0});
  EXPECT_EQ(batch.inputs.at(0).type, ElementType::kInt64);
  EXPECT_EQ(batch.inputs.at(0).shape, (Integers{2, 4}));
  EXPECT_EQ(batch.inputs.at(0).integers, (Integers{'e', 'f', 'g', 'h', 'a', 'b', 'c', 'd'}));
  EXPECT_EQ(batch.classes, (Integers{'f', 'g', 'h', 'i', 'b', 'c', 'd', 'e'}));
}

TEST_F(Text, StoresEachTokenOnceInOneByte) {
  EXPECT_EQ(load()->inputs.at(0).bytes, to_bytes("abcdefghi"));
}

TEST_F(Text, TokensAreUnsignedBytes) {
  write_bytes(path(), to_bytes("\x80\xFF\x7F"));
  const BatchBuffer batch = text_batch(load(2).value(), {0});
  EXPECT_EQ(batch.inputs.at(0).integers, (Integers{128, 255}));
  EXPECT_EQ(batch.classes, (Integers{255, 127}));
}

TEST_F(Text, LimitKeepsTheFirstBlocks) {
  const Dataset dataset = load(4, 1).value();
  EXPECT_EQ(dataset.size, 1);
  EXPECT_EQ(dataset.inputs.at(0).bytes, to_bytes("abcde"));
  EXPECT_EQ(load(4, 7)->size, 2);
}

TEST_F(Text, AShareIsItsTail) {
  const auto [rest, tail] = split_off(load(2).value(), 0.4, 1);
  EXPECT_EQ(rest.inputs.at(0).bytes, to_bytes("abcdefg"));
  EXPECT_EQ(tail.inputs.at(0).bytes, to_bytes("ghijk"));
  EXPECT_EQ(rest.size, 3);
  EXPECT_EQ(tail.size, 2);
  EXPECT_EQ(text_batch(tail, {0}).classes, (Integers{'h', 'i'}));
  EXPECT_EQ(split_off(load(2).value(), 0.4, 2).second.inputs.at(0).bytes, to_bytes("ghijk"));
}

TEST_F(Text, AMissingFileIsNamed) {
  std::filesystem::remove(path());
  expect_refusal("H0401", "cannot open data file");
}

TEST_F(Text, AnEmptyTextIsRefused) {
  write_bytes(path(), {});
  expect_refusal("H0405", "the text is empty");
}

TEST_F(Text, ATextShorterThanABlockAndItsLastLabelIsRefused) {
  expect_refusal("H0405", "the text has 11 tokens, one block of 11 takes 12", 11);
  EXPECT_EQ(words(load(10)), "ok");
}

/// The text of 11 letters for a model of blocks of four; each test changes one thing.
class CheckText : public Text {
 protected:
  [[nodiscard]] std::string check() const {
    return words(
        check_dataset(load().value(), transforms_, expectation_, Use::kEvaluation, "val"));
  }

  void expect_wrong(const std::string& id, const std::string& part) const {
    const std::string text = check();
    EXPECT_EQ(text.substr(0, 5), id) << text;
    EXPECT_NE(text.find("data.val"), std::string::npos) << text;
    EXPECT_NE(text.find(part), std::string::npos) << text;
  }

  std::vector<Transform> transforms_;
  Expectation expectation_{
      .inputs = {{.name = "ids", .type = ElementType::kInt64, .shape = {4}}},
      .classes = 256,
      .label_shape = {4}};
};

TEST_F(CheckText, AcceptsWhatFits) {
  EXPECT_EQ(check(), "ok");
}

TEST_F(CheckText, ABlockOfAnotherLengthNamesBoth) {
  expectation_.inputs[0].shape = {64};
  expect_wrong("H0407", "blocks of the text are [4], the model takes [64]");
  EXPECT_NE(check().find("write `block: 64`"), std::string::npos) << check();
}

TEST_F(CheckText, AnInputOfMoreAxesIsNamed) {
  expectation_.inputs[0].shape = {4, 2};
  expect_wrong("H0407", "the model takes [4, 2]");
  EXPECT_NE(check().find("int64[*, 4]"), std::string::npos) << check();
}

TEST_F(CheckText, AModelOfFloatsIsRefused) {
  expectation_.inputs[0].type = ElementType::kFloat32;
  expect_wrong("H0409", "input `ids` takes float32, the file holds int64");
}

TEST_F(CheckText, AModelOfTwoInputsIsRefused) {
  expectation_.inputs.push_back({.name = "mask", .type = ElementType::kInt64, .shape = {4}});
  expect_wrong("H0412", "a text fills one input, the model takes `ids`, `mask`");
}

TEST_F(CheckText, ATokenBeyondTheVocabularyIsNamedWithItsPosition) {
  expectation_.classes = 105;
  expect_wrong("H0406", "token 105 at position 8 is outside [0, 105)");
  expectation_.classes = 106;
  EXPECT_EQ(check(), "ok");
}

TEST_F(CheckText, ATokenBeyondTheEmbeddingTableIsNamedWithItsPosition) {
  expectation_.inputs[0].rows = 105;
  expect_wrong("H0406", "token 105 at position 8 is outside [0, 105)");
  EXPECT_NE(check().find("embedding table of input `ids`"), std::string::npos) << check();
  expectation_.inputs[0].rows = 106;
  EXPECT_EQ(check(), "ok");
}

TEST_F(CheckText, AModelThatScoresFewerTokensIsRefused) {
  expectation_.label_shape = {1};
  expect_wrong("H0407", "labels are [4] a sample, the model scores [1]");
}

TEST_F(CheckText, ATextIsNoLabelOfASample) {
  expectation_.label_shape = {};
  expect_wrong("H0410", "class labels are one number a sample");
}

TEST_F(CheckText, TransformsAreRefused) {
  transforms_ = {RandomFlip{}};
  expect_wrong("H0411", "no images to transform");
}

}  // namespace
}  // namespace hydro::data
