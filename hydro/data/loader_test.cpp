#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "hydro/base/result.h"
#include "hydro/base/safetensors.h"
#include "hydro/base/testing.h"
#include "hydro/data/dataset.h"
#include "hydro/data/image_plan.h"
#include "hydro/data/testing.h"
#include "hydro/data/transform.h"

namespace hydro::data {
namespace {

using hydro::testing::bytes_of;
using hydro::testing::numbers_of;
using testing::counting_images;

using Floats = std::vector<float>;
using Integers = std::vector<std::int64_t>;

Loader loader_of(Dataset dataset,
                 const std::vector<Transform>& transforms,
                 Use use = Use::kTraining,
                 std::uint64_t seed = 1) {
  return {std::make_shared<const Dataset>(std::move(dataset)), transforms, use, seed};
}

BatchBuffer batch_of(const Loader& loader, const Integers& indices, std::int64_t epoch = 0) {
  BatchBuffer batch;
  loader.fill(indices, epoch, batch);
  return batch;
}

Floats pixels_of(const Loader& loader, const Integers& indices, std::int64_t epoch = 0) {
  return batch_of(loader, indices, epoch).inputs.at(0).floats;
}

Floats scaled(const std::vector<int>& bytes) {
  Floats out(bytes.size());
  std::ranges::transform(
      bytes, out.begin(), [](int byte) { return static_cast<float>(byte) / 255.0F; });
  return out;
}

TEST(Loader, ScalesImagesAndLaysThemChannelsLast) {
  const Loader loader = loader_of(counting_images(3, 2, 1, 2), {});
  const BatchBuffer batch = batch_of(loader, {2, 0});
  EXPECT_EQ(batch.inputs.at(0).shape, (Integers{2, 2, 1, 2}));
  EXPECT_TRUE(batch.inputs.at(0).channels_last);
  EXPECT_EQ(batch.inputs.at(0).floats, scaled({8, 10, 9, 11, 0, 2, 1, 3}));
  EXPECT_EQ(batch.classes, (Integers{2, 0}));
}

TEST(Loader, RgbRepeatsTheGreyChannel) {
  const Loader loader = loader_of(counting_images(1, 1, 1, 2), {Rgb{}});
  EXPECT_EQ(batch_of(loader, {0}).inputs.at(0).shape, (Integers{1, 3, 1, 2}));
  EXPECT_EQ(pixels_of(loader, {0}), scaled({0, 0, 0, 1, 1, 1}));
}

TEST(Loader, RgbLeavesColourImages) {
  const Loader loader = loader_of(counting_images(1, 3, 1, 2), {Rgb{}});
  EXPECT_EQ(pixels_of(loader, {0}), scaled({0, 2, 4, 1, 3, 5}));
}

TEST(Loader, NormalizesByOneValueOrOneAChannel) {
  const Loader one =
      loader_of(counting_images(1, 1, 1, 2), {Normalize{.mean = {0.5F}, .std = {0.25F}}});
  EXPECT_EQ(pixels_of(one, {0}), (Floats{(0.0F - 0.5F) / 0.25F, (1 / 255.0F - 0.5F) / 0.25F}));
  const Loader each = loader_of(counting_images(1, 1, 1, 1),
                                {Rgb{}, Normalize{.mean = {0, 1, 2}, .std = {1, 2, 4}}});
  EXPECT_EQ(pixels_of(each, {0}), (Floats{0, -0.5, -0.5}));
}

TEST(Loader, CropPadsWithZerosBeforeLaterTransforms) {
  const RandomCrop far{.padding = 3,
                       .size = 1};  // sees padding for most draws of a one-pixel image
  const Normalize shift{.mean = {-1}, .std = {1}};
  Dataset white = counting_images(64, 1, 1, 1);
  std::ranges::fill(white.inputs.at(0).bytes, std::byte{255});
  Integers all(64);
  std::iota(all.begin(), all.end(), 0);
  Floats before = pixels_of(loader_of(white, {shift, far}), all);
  Floats after =
      pixels_of(loader_of(white, {Normalize{.mean = {0}, .std = {1}}, far, shift}), all);
  std::ranges::replace(after, 1.0F, 0.0F);  // padding, shifted by 1
  EXPECT_EQ(before, after);
  EXPECT_GT(std::ranges::count(before, 0.0F), 32);
  EXPECT_GT(std::ranges::count(before, 2.0F), 0) << "no draw saw the pixel";
}

TEST(Loader, CropTakesEveryPlaceEquallyOften) {
  Dataset dataset = counting_images(9'000, 1, 3, 3);
  for (std::size_t i = 0; i < dataset.inputs.at(0).bytes.size(); ++i) {
    dataset.inputs.at(0).bytes[i] = static_cast<std::byte>(i % 9);
  }
  Integers all(9'000);
  std::iota(all.begin(), all.end(), 0);
  const Floats pixels =
      pixels_of(loader_of(dataset, {RandomCrop{.padding = 0, .size = 1}}), all);
  for (int place = 0; place < 9; ++place) {
    const auto count = std::ranges::count(pixels, static_cast<float>(place) / 255.0F);
    EXPECT_NEAR(static_cast<double>(count), 1'000, 5 * 30)
        << place;  // five standard deviations
  }
}

TEST(Loader, FlipMirrorsColumnsWithProbabilityP) {
  Dataset dataset = counting_images(4'000, 1, 2, 2);
  for (std::size_t i = 0; i < dataset.inputs.at(0).bytes.size(); ++i) {
    dataset.inputs.at(0).bytes[i] = static_cast<std::byte>(i % 4);
  }
  EXPECT_EQ(pixels_of(loader_of(dataset, {RandomFlip{.p = 1}}), {0}), scaled({1, 0, 3, 2}));
  EXPECT_EQ(pixels_of(loader_of(dataset, {RandomFlip{.p = 0}}), {0}), scaled({0, 1, 2, 3}));
  const Loader quarter = loader_of(dataset, {RandomFlip{.p = 0.25}});
  int flipped = 0;
  for (std::int64_t i = 0; i < 4'000; ++i) {
    flipped += pixels_of(quarter, {i}).at(0) > 0 ? 1 : 0;
  }
  EXPECT_NEAR(flipped, 1'000, 5 * 28);  // five standard deviations
}

TEST(Loader, AugmentationFollowsSeedEpochAndSampleOnly) {
  const std::vector<Transform> transforms = {RandomCrop{.padding = 2, .size = 0}, RandomFlip{}};
  const Loader loader = loader_of(counting_images(9, 1, 5, 5), transforms);
  const Floats together = pixels_of(loader, {4, 7, 2}, 3);
  const Floats alone = pixels_of(loader, {7}, 3);
  EXPECT_TRUE(std::equal(alone.begin(), alone.end(), together.begin() + 25));
  Integers all(9);
  std::iota(all.begin(), all.end(), 0);
  EXPECT_NE(pixels_of(loader, all, 3), pixels_of(loader, all, 4));
  EXPECT_NE(
      pixels_of(loader, all, 3),
      pixels_of(loader_of(counting_images(9, 1, 5, 5), transforms, Use::kTraining, 2), all, 3));
}

TEST(Loader, EvaluationLeavesRandomTransformsOut) {
  const std::vector<Transform> transforms = {
      RandomCrop{.padding = 2, .size = 0}, Rgb{}, RandomFlip{.p = 1}};
  EXPECT_EQ(
      pixels_of(loader_of(counting_images(2, 1, 3, 3), transforms, Use::kEvaluation), {1}),
      pixels_of(loader_of(counting_images(2, 1, 3, 3), {Rgb{}}), {1}));
}

TEST(Loader, BothWaysThroughTransformsGiveTheSameBits) {
  const std::vector<std::vector<Transform>> rows = {
      {},
      {Rgb{}, Normalize{.mean = {0.1F, 0.2F, 0.3F}, .std = {0.3F, 0.4F, 0.5F}}},
      {RandomFlip{},
       RandomCrop{.padding = 2, .size = 0},
       Rgb{},
       Normalize{.mean = {0.1F}, .std = {0.3F}}},
      {Normalize{.mean = {0.1F}, .std = {0.3F}},
       RandomCrop{.padding = 1, .size = 4},
       RandomFlip{},
       RandomFlip{}},
      {RandomFlip{}, RandomCrop{.padding = 4, .size = 11}, RandomFlip{}}};
  for (const std::int64_t channels : {1, 3}) {
    const Dataset dataset = counting_images(1, channels, 5, 6);
    const ImageShape shape{.channels = channels, .height = 5, .width = 6};
    for (const auto& transforms : rows) {
      const ImageShape out = final_shape(shape, transforms);
      Floats gathered(static_cast<std::size_t>(out.channels * out.height * out.width), -7.0F);
      Floats staged(gathered.size(), -8.0F);
      for (std::int64_t sample = 0; sample < 40; ++sample) {
        GatherPlan(shape, transforms)
            .run(dataset.inputs.at(0).bytes.data(), Choices(5, sample), gathered.data());
        StagedPlan(shape, transforms)
            .run(dataset.inputs.at(0).bytes.data(), Choices(5, sample), staged.data());
        ASSERT_EQ(gathered, staged);
      }
    }
  }
}

TEST(Loader, SeveralCropsAreTakenOneAfterAnother) {
  const std::vector<Transform> transforms = {RandomCrop{.padding = 0, .size = 2},
                                             RandomCrop{.padding = 1, .size = 0}};
  EXPECT_FALSE(gatherable(transforms));
  EXPECT_EQ(
      batch_of(loader_of(counting_images(1, 1, 4, 4), transforms), {0}).inputs.at(0).shape,
      (Integers{1, 1, 2, 2}));
}

// golden.safetensors was made by tests/data/resize/make_golden.py with torchvision.
TEST(Loader, ResizesAsTorchvisionDoes) {
  const auto golden = read_safetensors(std::filesystem::path(HYDRO_SOURCE_DIR) /
                                       "tests/data/resize/golden.safetensors")
                          .value();
  for (std::size_t i = 0; i < golden.tensors.size() / 2; ++i) {
    const SafeTensor& in = golden.tensors.at("in_" + std::to_string(i));
    const SafeTensor& out = golden.tensors.at("out_" + std::to_string(i));
    Dataset dataset = counting_images(1, in.shape[0], in.shape[1], in.shape[2]);
    dataset.inputs.at(0).bytes.assign(in.bytes.begin(), in.bytes.end());
    const Floats pixels = pixels_of(
        loader_of(dataset, {Resize{.height = out.shape[1], .width = out.shape[2]}}), {0});
    const auto expected = numbers_of<float>(out.bytes);
    ASSERT_EQ(pixels.size(), expected.size());
    const auto plane = static_cast<std::size_t>(out.shape[1] * out.shape[2]);
    for (std::size_t p = 0; p < expected.size(); ++p) {  // [C, H, W] there, [H, W, C] here
      ASSERT_NEAR(pixels[p % plane * (expected.size() / plane) + p / plane], expected[p], 1e-6)
          << "case " << i;
    }
  }
}

TEST(Loader, AResizeToTheSizeThatImagesHaveChangesNothing) {
  const std::vector<Transform> alone = {RandomFlip{}, RandomCrop{.padding = 1, .size = 0}};
  std::vector<Transform> behind_resize = alone;
  behind_resize.insert(behind_resize.begin(), Resize{.height = 3, .width = 4});
  const Integers all = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  EXPECT_EQ(pixels_of(loader_of(counting_images(10, 1, 3, 4), behind_resize), all),
            pixels_of(loader_of(counting_images(10, 1, 3, 4), alone), all));
}

TEST(Loader, PassesOtherFieldsThrough) {
  Dataset dataset{.size = 2, .inputs = {}, .target = {}};
  dataset.inputs.push_back({.name = "ids",
                            .type = ElementType::kInt64,
                            .shape = {2},
                            .bytes = bytes_of<std::int64_t>({1, 2, 3, 4})});
  dataset.inputs.push_back({.name = "row",
                            .type = ElementType::kFloat32,
                            .shape = {2},
                            .bytes = bytes_of<float>({1, 2, 3, 4})});
  dataset.inputs.push_back({.name = "maps",
                            .type = ElementType::kFloat32,
                            .shape = {2, 1, 2},
                            .bytes = bytes_of<float>({0, 1, 2, 3, 4, 5, 6, 7})});
  dataset.target.values = {10, 11, 20, 21};
  dataset.target.shape = {2};
  const BatchBuffer batch = batch_of(loader_of(dataset, {}), {1});
  EXPECT_EQ(batch.inputs.at(0).integers, (Integers{3, 4}));
  EXPECT_EQ(batch.inputs.at(1).floats, (Floats{3, 4}));
  EXPECT_FALSE(batch.inputs.at(1).channels_last);
  EXPECT_EQ(batch.inputs.at(2).floats, (Floats{4, 6, 5, 7}));
  EXPECT_TRUE(batch.inputs.at(2).channels_last);
  EXPECT_EQ(batch.values, (Floats{20, 21}));
  EXPECT_TRUE(batch.classes.empty());
}

TEST(Loader, RefusesIndicesOutsideTheData) {
  const Loader loader = loader_of(counting_images(2, 1, 1, 1), {});
  EXPECT_THROW(batch_of(loader, {2}), BugError);
  EXPECT_THROW(batch_of(loader, {-1}), BugError);
}

}  // namespace
}  // namespace hydro::data
