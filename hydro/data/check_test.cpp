#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "hydro/base/bytes.h"
#include "hydro/base/result.h"
#include "hydro/base/testing.h"
#include "hydro/data/dataset.h"
#include "hydro/data/testing.h"

namespace hydro::data {
namespace {

using hydro::testing::bytes_of;
using hydro::testing::words;
using testing::counting_images;

using Transforms = std::vector<Transform>;

/// Six grey images 4x5 for a model that takes exactly them; each test changes one thing.
class CheckDataset : public ::testing::Test {
 protected:
  [[nodiscard]] Result<void> check(Use use = Use::kTraining) const {
    return check_dataset(dataset_, transforms_, expectation_, use, "train");
  }

  void expect_refusal(const std::string& id,
                      const std::string& part,
                      Use use = Use::kTraining) const {
    const std::string text = words(check(use));
    EXPECT_EQ(text.substr(0, 5), id) << text;
    EXPECT_NE(text.find("data.train"), std::string::npos) << text;
    EXPECT_NE(text.find(part), std::string::npos) << text;
  }

  Dataset dataset_ = counting_images(6, 1, 4, 5);
  Transforms transforms_;
  Expectation expectation_{
      .inputs = {{.name = "x", .type = ElementType::kFloat32, .shape = {1, 4, 5}}},
      .classes = 3,
      .target_shape = {},
      .batch_size = 6};
};

TEST_F(CheckDataset, AcceptsWhatFits) {
  EXPECT_EQ(words(check()), "ok");
}

TEST_F(CheckDataset, NamesFileIndexAndValueOfAWrongLabel) {
  dataset_.target.classes[4] = 3;
  expect_refusal("H0406", "label 3 of sample 4 is outside [0, 3) @ data.train: labels");
  dataset_.target.classes[2] = -1;
  expect_refusal("H0406", "label -1 of sample 2");
}

TEST_F(CheckDataset, ShapesAreComparedAfterTheTransforms) {
  expectation_.inputs[0].shape = {3, 4, 5};
  expect_refusal("H0407",
                 "samples are [1, 4, 5], the model takes [3, 4, 5] @ data.train: images");
  transforms_ = {Rgb{}};
  EXPECT_EQ(words(check()), "ok");
  transforms_ = {Resize{.height = 8, .width = 9}};
  expect_refusal("H0407", "in the file they are [1, 4, 5]");
}

TEST_F(CheckDataset, CropsCountInTrainingOnly) {
  transforms_ = {RandomCrop{.padding = 0, .size = 4}};
  expect_refusal("H0407", "samples are [1, 4, 4]");
  EXPECT_EQ(words(check(Use::kEvaluation)), "ok");
}

TEST_F(CheckDataset, TrainingNeedsOneFullBatch) {
  expectation_.batch_size = 7;
  expect_refusal("H0408", "6 samples are fewer than one batch of 7");
  EXPECT_EQ(words(check(Use::kEvaluation)), "ok");
}

TEST_F(CheckDataset, RefusesEmptyData) {
  dataset_ = counting_images(0, 1, 4, 5);
  expect_refusal("H0405", "no samples", Use::kEvaluation);
}

TEST_F(CheckDataset, RefusesOtherElementTypes) {
  expectation_.inputs[0].type = ElementType::kInt64;
  expect_refusal("H0409", "takes int64, the file holds float32");
  dataset_.inputs[0] = {.name = "",
                        .type = ElementType::kInt64,
                        .shape = {1},
                        .bytes = Bytes(std::size_t{6} * 8),
                        .file = "rows"};
  expectation_.inputs[0] = {.name = "x", .type = ElementType::kFloat32, .shape = {1}};
  expect_refusal("H0409", "takes float32, the file holds int64 @ data.train: rows");
}

TEST_F(CheckDataset, NumbersThatChooseRowsStayInsideTheTable) {
  std::vector<std::int64_t> ids(12, 6);
  const auto give = [&](std::int64_t id) {
    ids[7] = id;
    const auto bytes = std::as_bytes(std::span(ids));
    dataset_.inputs[0] = {.name = "ids",
                          .type = ElementType::kInt64,
                          .shape = {2},
                          .bytes = Bytes(bytes.begin(), bytes.end()),
                          .file = "ids.npy"};
  };
  expectation_.inputs[0] = {
      .name = "ids", .type = ElementType::kInt64, .shape = {2}, .rows = 7};
  give(6);
  EXPECT_EQ(words(check()), "ok");
  give(7);
  expect_refusal("H0406",
                 "number 7 of sample 3, place 1 is outside [0, 7) @ data.train: ids.npy");
  give(-1);
  expect_refusal("H0406", "number -1 of sample 3, place 1");
}

TEST_F(CheckDataset, ClassificationNeedsWholeNumbersAndRegressionFloats) {
  dataset_.target.values = std::vector<float>(6, 0.5F);
  dataset_.target.classes.clear();
  expect_refusal("H0409", "the target holds floats");
  expectation_.classes = {};
  expectation_.target_shape = std::vector<std::int64_t>{1};
  expect_refusal("H0407", "targets are [], the model's output is [1]");
  dataset_.target.shape = {1};
  EXPECT_EQ(words(check()), "ok");
  dataset_.target.classes = std::vector<std::int64_t>(6, 1);
  expect_refusal("H0409", "the target holds whole numbers");
}

TEST_F(CheckDataset, ClassLabelsAreOneNumberASample) {
  dataset_.target.shape = {1};
  expect_refusal("H0410", "whole numbers of shape [1] a sample");
}

TEST_F(CheckDataset, TokensNeedOneLabelEach) {
  dataset_.target.classes.assign(12, 1);
  dataset_.target.shape = {2};
  expectation_.label_shape = {2};
  EXPECT_EQ(words(check()), "ok");
  dataset_.target.classes[7] = 3;
  expect_refusal("H0406", "label 3 of sample 3, place 1 is outside [0, 3)");
  expectation_.label_shape = {4};
  expect_refusal("H0407", "labels are [2] a sample, the model scores [4]");
}

TEST_F(CheckDataset, ALossOfTheModelsOwnNeedsNoTarget) {
  dataset_.target.classes.clear();
  expect_refusal("H0409", "the target holds floats, this task needs whole class numbers");
  expectation_.classes = {};
  EXPECT_EQ(words(check()), "ok");
}

TEST_F(CheckDataset, NamesMustBeTheModels) {
  dataset_.inputs[0].name = "y";
  expect_refusal("H0412", "the data hold inputs `y`, the model takes `x`");
  dataset_.inputs[0].name = "x";
  EXPECT_EQ(words(check()), "ok");
  dataset_.inputs.push_back(dataset_.inputs[0]);
  expect_refusal("H0412", "`x`, `x`");
}

TEST_F(CheckDataset, RefusesValuesThatAreNotFinite) {
  std::vector<float> rows(12, 1.0F);
  rows[7] = std::numeric_limits<float>::quiet_NaN();
  dataset_.inputs[0] = {.name = "",
                        .type = ElementType::kFloat32,
                        .shape = {2},
                        .bytes = bytes_of(rows),
                        .file = "rows"};
  expectation_.inputs[0].shape = {2};
  expect_refusal("H0413", "sample 3 holds nan");
  rows[7] = 0;
  dataset_.inputs[0].bytes = bytes_of(rows);
  dataset_.target.values = std::vector<float>(6, std::numeric_limits<float>::infinity());
  expectation_.classes = {};
  expect_refusal("H0413", "sample 0 holds inf");
}

TEST_F(CheckDataset, RefusesTransformsOfNoImages) {
  dataset_.inputs[0] = {.name = "",
                        .type = ElementType::kFloat32,
                        .shape = {1, 4, 5},
                        .bytes = Bytes(480),
                        .file = "rows"};
  EXPECT_EQ(words(check()), "ok");
  transforms_ = {RandomFlip{}};
  expect_refusal("H0411", "no images to transform");
}

TEST_F(CheckDataset, RefusesTransformsThatDoNotFit) {
  const std::vector<std::pair<Transform, std::string>> rows = {
      {Normalize{.mean = {1, 2}, .std = {1}}, "2 means and 1 stds, the images have 1 channels"},
      {Normalize{.mean = {0}, .std = {0}}, "a std other than 0"},
      {Normalize{.mean = {0}, .std = {}}, "1 means and 0 stds"},
      {RandomCrop{.padding = 1, .size = 7},
       "random_crop of 7 does not fit into images [1, 4, 5] with padding 1"},
      {RandomCrop{.padding = -1, .size = 0}, "between 0 and"},
      {RandomFlip{.p = 1.5}, "p is 1.5"},
      {Resize{.height = 0, .width = 4}, "resize to 0 x 4"}};
  for (const auto& [transform, part] : rows) {
    transforms_ = {transform};
    expect_refusal("H0411", part);
  }
}

TEST_F(CheckDataset, RgbNeedsOneOrThreeChannels) {
  dataset_ = counting_images(6, 2, 4, 5);
  transforms_ = {Rgb{}};
  expect_refusal("H0411", "rgb needs 1 or 3 channels, the images are [2, 4, 5]");
}

}  // namespace
}  // namespace hydro::data
