#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "hydro/base/bytes.h"
#include "hydro/base/result.h"
#include "hydro/base/testing.h"
#include "hydro/data/dataset.h"
#include "hydro/data/testing.h"
#include "hydro/job/job.h"
#include "hydro/run/material.h"

namespace hydro::run {
namespace {

namespace fs = std::filesystem;
using data::testing::png_bytes;
using data::testing::write_bytes;
using hydro::testing::TemporaryFolder;
using hydro::testing::words;

using Integers = std::vector<std::int64_t>;

/// Image folders `train`, `val` and `other`, which has another class; jobs about them.
class Splits : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"train/cat", "train/dog", "val/cat", "val/dog", "other/cat"}) {
      fs::create_directories(folder_ / name);
      write_bytes(folder_ / name / "a.png", png_bytes(2, 3, 1));
    }
  }

  /// The data section's lines, without a model to check them against.
  [[nodiscard]] Result<Loaders> load(const std::string& section) const {
    const std::string text =
        "model: {export: a:b, input: 'float32[*, 3, 2, 3]'}\ndata:\n" + section +
        "train: {task: classification, epochs: 1, batch_size: 1, optimizer: {name: sgd, lr: "
        "0.1}}\n";
    const job::Job job =
        job::parse_job(text, "job.yaml", {.folder = folder_.path(), .overrides = {}}).value();
    return prepare_data(job, {});
  }

  static std::string folder_line(const std::string& split, const std::string& path) {
    return "  " + split + ": {format: image_folder, path: " + path + "}\n";
  }

  TemporaryFolder folder_;
};

TEST_F(Splits, LoadsImageFolders) {
  const auto loaders = load(folder_line("train", "train") + folder_line("val", "val"));
  ASSERT_EQ(words(loaders), "ok");
  EXPECT_EQ(loaders->training->dataset().target.classes, (Integers{0, 1}));
  EXPECT_EQ(loaders->validation->dataset().size, 2);
}

TEST_F(Splits, RefusesClassesThatDifferFromTheTrainingSplits) {
  const std::string val =
      words(load(folder_line("train", "train") + folder_line("val", "other")));
  EXPECT_EQ(val.substr(0, 5), "H0423") << val;
  EXPECT_NE(val.find("data.val: " + (folder_ / "other").string()), std::string::npos) << val;
  EXPECT_NE(val.find("only in train: `dog`"), std::string::npos) << val;
  const std::string test =
      words(load(folder_line("train", "train") + folder_line("val", "val") +
                 folder_line("test", "other")));
  EXPECT_EQ(test.substr(0, 5), "H0423") << test;
  EXPECT_NE(test.find("data.test"), std::string::npos) << test;
}

TEST_F(Splits, AFirstTransformThatResizesActsWhileImagesAreLoaded) {
  write_bytes(folder_ / "train" / "cat" / "b.png", png_bytes(5, 5, 1));
  const std::string splits = folder_line("train", "train") + folder_line("val", "val");
  EXPECT_EQ(words(load(splits)).substr(0, 5), "H0420");
  EXPECT_EQ(
      words(load(splits + "  transform: [random_flip, {resize: {size: 4}}]\n")).substr(0, 5),
      "H0420");
  const auto loaders = load(splits + "  transform: [{resize: {size: [4, 6]}}, random_flip]\n");
  ASSERT_EQ(words(loaders), "ok");
  EXPECT_EQ(loaders->training->dataset().inputs.at(0).shape, (Integers{3, 4, 6}));
  data::BatchBuffer batch;
  loaders->training->fill(Integers{1}, 0, batch);
  EXPECT_EQ(batch.inputs.at(0).shape, (Integers{1, 3, 4, 6}));
}

TEST_F(Splits, LoadsCifarWithTheLabelsAskedFor) {
  Bytes record(3074);
  record[0] = std::byte{7};
  record[1] = std::byte{70};
  write_bytes(folder_ / "a.bin", record);
  const std::string files = "{format: cifar_binary, files: [a.bin]";
  const auto loaders = load("  train: " + files + "}\n  val: " + files + ", labels: coarse}\n");
  ASSERT_EQ(words(loaders), "ok");
  EXPECT_EQ(loaders->training->dataset().target.classes, (Integers{70}));
  EXPECT_EQ(loaders->validation->dataset().target.classes, (Integers{7}));
}

}  // namespace
}  // namespace hydro::run
