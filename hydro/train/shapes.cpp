// Shape prediction against one real run.
#include <cstdint>
#include <string>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/ir/graph.h"
#include "hydro/ops/torch.h"
#include "hydro/shrink/surrogate.h"
#include "hydro/train/guard.h"
#include "hydro/train/network.h"
#include "hydro/train/train.h"

namespace hydro::train {
namespace {

constexpr std::int64_t kBatch = 2;

/// Irregular numbers for floats; zeros for integers, which fit any vocabulary.
at::Tensor example(const ir::TensorType& type) {
  std::vector<std::int64_t> shape;
  shape.reserve(type.shape.size());
  for (const ir::Dim& dim : type.shape) {
    shape.push_back(dim.dynamic ? kBatch : dim.size);
  }
  if (!ir::is_floating(type.dtype)) {
    return at::zeros(shape, at::kLong);
  }
  const at::Tensor values =
      at::sin(at::arange(at::zeros(shape).numel(), at::kFloat) * 1.7).view(shape);
  return shape.size() == 4 ? values.contiguous(at::MemoryFormat::ChannelsLast) : values;
}

NamedTensors examples(const ir::Graph& graph) {
  NamedTensors inputs;
  for (const ir::Input& input : graph.inputs) {
    if (input.kind == ir::InputKind::kUser) {
      inputs.emplace_back(input.name, example(graph.value(input.value).tensor()));
    }
  }
  return inputs;
}

}  // namespace

Result<void> check_shapes(const shrink::Surrogate& surrogate) {
  return guard_in_passing_thread("checking shapes", [&]() -> Result<void> {
    HYDRO_TRY(Network network,
              Network::make(surrogate, {.owners = {"shapes"}, .draws = false}));
    return network.check_shapes(examples(surrogate.model.train));
  });
}

}  // namespace hydro::train
