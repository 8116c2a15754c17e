// Expanding, transposing and indexing with the trial axis in front.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "hydro/fuse/trial_axis.h"
#include "hydro/ir/graph.h"
#include "hydro/ops/families.h"
#include "hydro/ops/ops.h"
#include "hydro/ops/torch.h"

namespace hydro::ops {

namespace {

using fuse::Axis;
using Indices = std::vector<std::optional<ir::ValueId>>;

Indices indices_of(const Call& call) {
  const ir::Argument& argument = call.node().argument("indices");
  if (const auto* values = std::get_if<std::vector<ir::ValueId>>(&argument)) {
    return Indices(values->begin(), values->end());
  }
  return std::get<Indices>(argument);
}

/// One index behind the other, which leaves their dimensions where they are.
bool stand_together(const Indices& indices) {
  const auto given = [](const std::optional<ir::ValueId>& index) { return index.has_value(); };
  const auto first = std::ranges::find_if(indices, given);
  const auto gap = std::find_if_not(first, indices.end(), given);
  return std::none_of(gap, indices.end(), given);
}

}  // namespace

void expand_stacked(const Call& call) {
  std::vector<std::int64_t> sizes = call.integers("size");
  at::Tensor self = call.stacked("self", Axis::kFront);
  while (self.dim() - 1 < static_cast<std::int64_t>(sizes.size())) {
    self = self.unsqueeze(1);
  }
  sizes.insert(sizes.begin(), call.trials());
  call.put(self.expand(sizes));
}

void t_stacked(const Call& call) {
  const at::Tensor self = call.stacked("self", Axis::kFront);
  call.put(self.dim() < 3 ? self : self.transpose(1, 2));
}

void index_stacked(const Call& call) {
  const Indices indices = indices_of(call);
  const bool are_shared =
      std::ranges::all_of(indices, [&](const std::optional<ir::ValueId>& index) {
        return !index || call.axis(*index) == Axis::kShared;
      });
  if (!are_shared || !stand_together(indices)) {
    boxed_stacked(call);
    return;
  }
  c10::List<std::optional<at::Tensor>> behind_trials;
  behind_trials.push_back(std::nullopt);
  for (const std::optional<ir::ValueId>& index : indices) {
    behind_trials.push_back(index ? std::optional(call.tensor(*index)) : std::nullopt);
  }
  call.put(at::index(call.stacked("self", Axis::kFront), behind_trials));
}

}  // namespace hydro::ops
