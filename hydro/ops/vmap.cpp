// K trials of an op that has no function of ours: one call under functorch's vmap, or, where
// vmap cannot do it, one call a trial. functorch's layers are internal to libtorch and may
// change with its version; all that we use of them stands here.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "hydro/fuse/trial_axis.h"
#include "hydro/ir/graph.h"
#include "hydro/ops/boxed.h"
#include "hydro/ops/families.h"
#include "hydro/ops/ops.h"
#include "hydro/ops/program_cache.h"
#include "hydro/ops/torch.h"

namespace hydro::ops {

namespace {

using c10::IValue;
using fuse::Axis;

std::int64_t place_of(Axis axis) {
  return axis == Axis::kFront ? 0 : 1;
}

/// Where a result carries the axis: `fuse` marks each output.
Axis output_axis(const Call& call, std::size_t output) {
  return call.axis(call.node().outputs[output]);
}

/// One layer of vmap for the life of the object. Ops that would draw random numbers throw.
class VmapLayer {
 public:
  explicit VmapLayer(std::int64_t trials)
      : level_(at::functorch::initAndPushDynamicLayer(at::functorch::TransformType::Vmap,
                                                      c10::SymInt(trials),
                                                      at::functorch::RandomnessType::Error)) {}

  ~VmapLayer() { at::functorch::popDynamicLayerAndDeleteMetadata(); }

  VmapLayer(const VmapLayer&) = delete;
  VmapLayer& operator=(const VmapLayer&) = delete;
  VmapLayer(VmapLayer&&) = delete;
  VmapLayer& operator=(VmapLayer&&) = delete;

  [[nodiscard]] at::Tensor wrapped(const at::Tensor& tensor, Axis axis) const {
    return axis == Axis::kShared ? tensor
                                 : at::functorch::makeBatched(tensor, place_of(axis), level_);
  }

  /// With its axis at `wanted`; what the op made without one is expanded.
  [[nodiscard]] at::Tensor unwrapped(const at::Tensor& tensor,
                                     Axis wanted,
                                     std::int64_t trials) const {
    const auto [plain, place] = at::functorch::unwrapTensorAtLevel(tensor, level_);
    return place ? plain.movedim(*place, place_of(wanted))
                 : move_axis(plain, Axis::kShared, wanted, trials);
  }

 private:
  std::int64_t level_;
};

/// vmap has a loop of its own for ops without a rule, and warns of it once an op.
void silence_vmap() {
  static const bool silenced = [] {
    at::functorch::setVmapFallbackWarningEnabled(false);
    return true;
  }();
  static_cast<void>(silenced);
}

std::vector<IValue> run_vmapped(const Call& call) {
  silence_vmap();
  const VmapLayer layer(call.trials());
  std::vector<IValue> results = call_boxed(call, [&](ir::ValueId value) {
    return layer.wrapped(call.tensor(value), call.axis(value));
  });
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (results[i].isTensor()) {
      results[i] = layer.unwrapped(results[i].toTensor(), output_axis(call, i), call.trials());
    }
  }
  return results;
}

/// Nothing where vmap fails: it has no rule, or the op writes into a tensor that trials share.
std::optional<std::vector<IValue>> try_vmap(const Call& call) {
  if (call.cache() != nullptr && call.cache()->loops(call.node_index())) {
    return std::nullopt;
  }
  try {
    return run_vmapped(call);
  } catch (const c10::OutOfMemoryError&) {
    throw;
  } catch (const c10::Error&) {  // a fault of the op itself comes again in the loop
    if (call.cache() != nullptr) {
      call.cache()->set_loops(call.node_index());
    }
    return std::nullopt;
  }
}

std::vector<IValue> run_trial(const Call& call, std::int64_t trial) {
  return call_boxed(call, [&](ir::ValueId value) {
    const Axis axis = call.axis(value);
    const at::Tensor& operand = call.tensor(value);
    return axis == Axis::kShared ? operand : operand.select(place_of(axis), trial);
  });
}

std::vector<IValue> run_one_by_one(const Call& call) {
  std::vector<std::vector<IValue>> trials;
  trials.reserve(static_cast<std::size_t>(call.trials()));
  for (std::int64_t trial = 0; trial < call.trials(); ++trial) {
    trials.push_back(run_trial(call, trial));
  }
  std::vector<IValue> results;
  for (std::size_t i = 0; i < trials.front().size(); ++i) {
    if (!trials.front()[i].isTensor()) {
      results.push_back(trials.front()[i]);
      continue;
    }
    std::vector<at::Tensor> parts;
    parts.reserve(trials.size());
    for (const std::vector<IValue>& trial : trials) {
      parts.push_back(trial[i].toTensor());
    }
    results.emplace_back(at::stack(parts, place_of(output_axis(call, i))));
  }
  return results;
}

}  // namespace

void boxed_stacked(const Call& call) {
  std::optional<std::vector<IValue>> results = try_vmap(call);
  put_results(call, results ? *std::move(results) : run_one_by_one(call));
}

}  // namespace hydro::ops
