#include "hydro/train/feeder.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/data/dataset.h"
#include "hydro/ir/graph.h"

namespace hydro::train {
namespace {

at::Tensor wrap(data::BatchBuffer::Slot& slot, at::ScalarType dtype) {
  if (slot.type == data::ElementType::kInt64) {
    return at::from_blob(slot.integers.data(), slot.shape, at::kLong);
  }
  const auto& s = slot.shape;
  const at::Tensor tensor =
      slot.channels_last
          ? at::from_blob(
                slot.floats.data(), s, {s[1] * s[2] * s[3], 1, s[3] * s[1], s[1]}, at::kFloat)
          : at::from_blob(slot.floats.data(), s, at::kFloat);
  return tensor.to(dtype);
}

}  // namespace

Feeder::Feeder(std::shared_ptr<const data::Loader> loader, at::ScalarType dtype)
    : loader_(std::move(loader)), dtype_(dtype) {}

Batch Feeder::gather(std::span<const std::int64_t> indices, std::int64_t epoch) {
  loader_->fill(indices, epoch, buffer_);
  Batch batch;
  for (std::size_t i = 0; i < buffer_.inputs.size(); ++i) {
    batch.inputs.emplace_back(loader_->dataset().inputs[i].name,
                              wrap(buffer_.inputs[i], dtype_));
  }
  std::vector<std::int64_t> shape = loader_->dataset().target.shape;
  shape.insert(shape.begin(), static_cast<std::int64_t>(indices.size()));
  if (!buffer_.classes.empty()) {
    batch.classes = at::from_blob(buffer_.classes.data(), shape, at::kLong);
  }
  if (!buffer_.values.empty()) {
    batch.values = at::from_blob(buffer_.values.data(), shape, at::kFloat).to(dtype_);
  }
  return batch;
}

Result<void> check_inputs(const ir::Graph& graph, const data::Dataset& dataset) {
  for (const ir::Input& input : graph.inputs) {
    const auto named = [&](const data::Field& field) {
      return field.name == input.name || field.name.empty();
    };
    if (input.kind == ir::InputKind::kUser && std::ranges::none_of(dataset.inputs, named)) {
      return make_error("H0504",
                        "the data have nothing for the model input `" + input.name + "`")
          .fix("name the array `" + input.name + "` in the job's `data`");
    }
  }
  return {};
}

}  // namespace hydro::train
