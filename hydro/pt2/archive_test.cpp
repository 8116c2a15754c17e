#include "hydro/pt2/archive.h"

#include <cstddef>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hydro/base/json.h"
#include "hydro/base/result.h"
#include "hydro/ir/graph.h"
#include "hydro/ir/model.h"
#include "hydro/ir/testing.h"
#include "hydro/pt2/testing.h"

namespace hydro::pt2 {
namespace {

Archive archive_of(std::string_view name) {
  Result<Archive> archive = read_archive(fixture(name), {});
  if (!archive) {
    ADD_FAILURE() << name << ": " << archive.error().id << " " << archive.error().what << " at "
                  << archive.error().where << " because " << archive.error().why;
    return {};
  }
  return *std::move(archive);
}

// The case's input is "archive: NAME"; the output both graphs as the passes leave them.
TEST(ReadArchive, GivesTheGoldenGraphs) {
  ir::check_golden("pt2", [](const ir::GoldenCase& golden) {
    const std::string name = golden.input.substr(9, golden.input.find('\n') - 9);
    const Archive archive = archive_of(name);
    return "train " + ir::to_text(archive.model.train) + "eval " +
           ir::to_text(archive.model.eval);
  });
}

TEST(ReadArchive, ReadsManifestAndState) {
  const Archive archive = archive_of("cnn.pt2");
  EXPECT_EQ(archive.manifest.callable, "fixture_models:Cnn");
  EXPECT_EQ(archive.manifest.selected_output, "output");
  EXPECT_THAT(archive.manifest.inputs.at(0).shape, testing::ElementsAre(-1, 1, 28, 28));
  EXPECT_EQ(archive.manifest.fingerprint.size(), 16U);
  const ir::StateEntry* weight = archive.model.find_state("conv1.weight");
  ASSERT_NE(weight, nullptr);
  EXPECT_EQ(weight->kind, ir::StateKind::kParameter);
  ASSERT_EQ(weight->laws.size(), 1U);
  EXPECT_EQ(weight->laws[0].kind, ir::LawKind::kUniform);
  EXPECT_EQ(weight->laws[0].row_end, 16);
}

TEST(ReadArchive, ReadsTheDataOfBuffersAndConstants) {
  const Archive archive = archive_of("cnn.pt2");
  EXPECT_EQ(archive.model.tensors.at("bn1.num_batches_tracked").bytes.size(), 8U);
  const ir::TensorData& variance = archive.model.tensors.at("bn1.running_var");
  float first = 0;
  std::memcpy(&first, variance.bytes.data(), sizeof first);
  EXPECT_EQ(first, 1.0F);
  EXPECT_FALSE(archive.model.tensors.contains("conv1.weight"));
  const Archive slices = archive_of("slices.pt2");
  const ir::TensorData& constant = slices.model.tensors.at("lifted_tensor_0");
  std::memcpy(&first, constant.bytes.data(), sizeof first);
  EXPECT_EQ(first, 0.5F);
}

TEST(ReadArchive, ReadsEveryFixture) {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(fixture(""))) {
    if (entry.path().extension() == ".pt2") {
      ++count;
      const Archive archive = archive_of(entry.path().filename().string());
      EXPECT_TRUE(ir::verify(archive.model.train, ir::Purity::kPure)) << entry.path();
      EXPECT_TRUE(ir::verify(archive.model.eval, ir::Purity::kPure)) << entry.path();
      EXPECT_GT(archive.model.train.node_count(), 0) << entry.path();
    }
  }
  EXPECT_GE(count, 8U);
}

TEST(ReadArchive, MakesEveryStatisticOfAResNetAnOutput) {
  const Archive archive = archive_of("resnet_tiny.pt2");
  EXPECT_EQ(archive.model.train.node_count(), 53);
  EXPECT_EQ(archive.model.eval.node_count(), 41);
  EXPECT_EQ(archive.model.train.outputs.size(), 1U + 3U * 12U);
  EXPECT_EQ(archive.model.eval.outputs.size(), 1U);
}

TEST(ReadArchive, FingerprintFollowsTheContentNotTheFolderName) {
  const TestFiles files = files_of(fixture("mlp.pt2"));
  TestFiles moved;
  for (const auto& [name, data] : files) {
    moved["other" + name.substr(name.find('/'))] = data;
  }
  TestFiles changed = files;
  edit_json(
      changed, "hydro_manifest.json", [](Json& json) { json["callable"]["target"] = "a:b"; });
  const std::string original = archive_of("mlp.pt2").manifest.fingerprint;
  EXPECT_EQ(read_archive_bytes(zip_of(moved), {}).value().manifest.fingerprint, original);
  EXPECT_NE(read_archive_bytes(zip_of(changed), {}).value().manifest.fingerprint, original);
}

TEST(ReadArchive, NamesTheFileThatIsNotThere) {
  const Result<Archive> archive = read_archive("no/such/model.pt2", {});
  ASSERT_FALSE(archive);
  EXPECT_EQ(archive.error().id, "H0254");
  EXPECT_EQ(archive.error().where, "no/such/model.pt2");
}

}  // namespace
}  // namespace hydro::pt2
