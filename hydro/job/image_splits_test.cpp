#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "hydro/base/result.h"
#include "hydro/job/job.h"
#include "hydro/job/testing.h"

namespace hydro::job {
namespace {

using testing::good;
using testing::JobText;
using testing::refused;

std::string with_train_split(const std::string& split) {
  JobText text;
  text.data = "data:\n  train: " + split + "\n  val_share: 0.1\n";
  return text.text();
}

TEST(ImageSplits, ReadsAnImageFolder) {
  const Job job = good(with_train_split("{format: image_folder, path: pets/train, limit: 7}"));
  EXPECT_EQ(std::get<ImageFolderFiles>(job.data.train.files).path, "/jobs/pets/train");
  EXPECT_EQ(job.data.train.limit, 7);
}

TEST(ImageSplits, ReadsCifarFilesInOrder) {
  const Job job = good(
      with_train_split("{format: cifar_binary, files: [b.bin, /data/a.bin], labels: coarse}"));
  const auto& files = std::get<CifarFiles>(job.data.train.files);
  EXPECT_EQ(files.files, (std::vector<std::filesystem::path>{"/jobs/b.bin", "/data/a.bin"}));
  EXPECT_EQ(files.labels, CifarLabels::kCoarse);
  EXPECT_FALSE(job.data.train.limit.has_value());
}

TEST(ImageSplits, CifarLabelsAreLeftToTheFilesUnlessGiven) {
  const Job job = good(with_train_split("{format: cifar_binary, files: [a.bin], limit: 3}"));
  EXPECT_FALSE(std::get<CifarFiles>(job.data.train.files).labels.has_value());
  EXPECT_EQ(job.data.train.limit, 3);
}

void expect_same_again(const std::string& split, const std::string& path) {
  const std::string resolved = resolved_yaml(good(with_train_split(split)));
  EXPECT_NE(resolved.find(path), std::string::npos) << resolved;
  const auto again = parse_job(resolved, "again.yaml", {.folder = "/other", .overrides = {}});
  ASSERT_TRUE(again.has_value()) << resolved;
  EXPECT_EQ(resolved_yaml(*again), resolved);
}

TEST(ImageSplits, TheResolvedJobReadsAlikeFromAnyFolder) {
  expect_same_again("{format: image_folder, path: pets}", "/jobs/pets");
  expect_same_again("{format: cifar_binary, files: [a.bin, b.bin], labels: fine}",
                    "[/jobs/a.bin, /jobs/b.bin], labels: fine");
}

TEST(ImageSplits, WrongValuesAreRefused) {
  EXPECT_EQ(refused(with_train_split("{format: image_folder}")).id, "H0106");
  EXPECT_EQ(refused(with_train_split("{format: image_folder, path: [a]}")).id, "H0105");
  EXPECT_EQ(refused(with_train_split("{format: image_folder, path: a, limit: 0}")).id, "H0105");
  EXPECT_EQ(refused(with_train_split("{format: image_folder, path: a, labels: b}")).id,
            "H0103");
  EXPECT_EQ(refused(with_train_split("{format: cifar_binary}")).id, "H0106");
  EXPECT_EQ(refused(with_train_split("{format: cifar_binary, files: a}")).id, "H0105");
  EXPECT_EQ(refused(with_train_split("{format: cifar_binary, files: []}")).id, "H0105");
  EXPECT_EQ(refused(with_train_split("{format: cifar_binary, files: [[a]]}")).id, "H0105");
  EXPECT_EQ(refused(with_train_split("{format: cifar_binary, files: [a], labels: rough}")).id,
            "H0105");
}

}  // namespace
}  // namespace hydro::job
