// A full-width model after training: its delivered weights load in the original class and give
// there the logits that they give here.
#include <array>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "hydro/base/safetensors.h"
#include "hydro/ir/model.h"
#include "hydro/ops/torch.h"
#include "hydro/train/container.h"
#include "hydro/train/state_file.h"
#include "hydro/train/testing.h"

#include "tests/chain/chain.h"
#include "tests/chain/made_up.h"
#include "tests/chain/study_on_real_data.h"

namespace hydro::chain {
namespace {

constexpr std::int64_t kTargetSteps = 20;

SafeTensor stored(const at::Tensor& tensor) {
  return {.dtype = train::stored_name(tensor.scalar_type()),
          .shape = tensor.sizes().vec(),
          .bytes = {static_cast<const std::byte*>(tensor.const_data_ptr()), tensor.nbytes()}};
}

/// What run_graph() feeds: the batch, and one trial's trained state.
NamedTensors tensors_of(const train::Network& network, const at::Tensor& batch) {
  NamedTensors tensors{{"x", batch}};
  for (const ir::StateEntry& entry : network.state()) {
    tensors.emplace("state/" + entry.name, network.state_of(entry, 0));
  }
  return tensors;
}

/// Weights as delivered, a batch, and the logits of the graph that evaluates.
void train_and_write(const std::string& name, const std::filesystem::path& folder) {
  const train::Study study = study_on_real_data(name, 1);
  const ir::Model& model = study.models.at("m")->model;
  auto spec = train::testing::spec_of({train::testing::adamw(.001)}, kTargetSteps);
  spec.batch_size = 8;
  spec.budget.steps_per_epoch = kTargetSteps;
  const train::Container container = train::testing::trained(study, spec, kTargetSteps);
  ASSERT_TRUE(
      train::write_state(container.network(), 0, folder / (name + ".safetensors")).has_value());
  const at::Tensor x = inputs_of(model.eval, at::kFloat).front().second.contiguous();
  const NamedTensors tensors = tensors_of(container.network(), x);
  const at::Tensor single = run_graph(model, model.eval, tensors, at::kFloat).contiguous();
  const at::Tensor twice = run_graph(model, model.eval, tensors, at::kDouble).contiguous();
  ASSERT_TRUE(write_safetensors(
                  folder / (name + ".logits.safetensors"),
                  {{"x", stored(x)}, {"single", stored(single)}, {"double", stored(twice)}},
                  {})
                  .has_value());
}

TEST(TrainedTargets, GiveTheSameLogitsInTheirOwnClasses) {
  const std::filesystem::path folder = archive_path("trained");
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  std::vector<std::string> names = networks();
  names.insert(names.end(), {"tv-resnet18", "tv-mobilenet_v2"});
  for (const std::string& name : names) {
    SCOPED_TRACE(name);
    train_and_write(name, folder);
  }
  const std::string command = "'" HYDRO_SOURCE_DIR "/.venv/bin/python' '" HYDRO_SOURCE_DIR
                              "/tests/chain/same_logits.py' '" +
                              folder.string() + "'";
  EXPECT_EQ(std::system(command.c_str()), 0);
}

}  // namespace
}  // namespace hydro::chain
