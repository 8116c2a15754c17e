// tests/chain/made_up.h — inputs and weights for a network of any kind, where only its
// arithmetic matters.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "hydro/ir/graph.h"
#include "hydro/ir/model.h"
#include "hydro/ops/torch.h"
#include "hydro/shrink/surrogate.h"
#include "hydro/train/network.h"

namespace hydro::chain {

inline constexpr std::int64_t kBatch = 5;  // not the one that was exported

/// Numbers that differ everywhere; ids are below every vocabulary of networks.py.
inline at::Tensor made_up(const ir::TensorType& type, at::ScalarType real) {
  std::vector<std::int64_t> sizes;
  std::int64_t count = 1;
  for (const ir::Dim& dim : type.shape) {
    sizes.push_back(dim.dynamic ? kBatch : dim.size);
    count *= sizes.back();
  }
  const at::Tensor waves = at::sin(at::arange(count, at::kDouble) * 1.7 + .3).view(sizes);
  return ir::is_floating(type.dtype) ? waves.to(real) : waves.abs().mul(96).to(at::kLong);
}

inline train::NamedTensors inputs_of(const ir::Graph& graph, at::ScalarType real) {
  train::NamedTensors inputs;
  for (const ir::Input& input : graph.inputs) {
    if (input.kind == ir::InputKind::kUser) {
      inputs.emplace_back(input.name, made_up(graph.value(input.value).tensor(), real));
    }
  }
  return inputs;
}

/// Constants become random: behind a head or a gate that starts at zero nothing would be seen.
inline shrink::Surrogate without_constants(shrink::Surrogate surrogate) {
  for (ir::StateEntry& entry : surrogate.model.state) {
    for (ir::Law& law : entry.laws) {
      if (law.kind == ir::LawKind::kConstant) {
        law = {.row_begin = law.row_begin,
               .row_end = law.row_end,
               .kind = ir::LawKind::kNormal,
               .mean = law.value,
               .std = .1};
      }
    }
  }
  return surrogate;
}

}  // namespace hydro::chain
