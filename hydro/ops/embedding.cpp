// Embedding. K tables are one table of K*V rows; a trial's ids start at its first row.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "hydro/fuse/trial_axis.h"
#include "hydro/ops/families.h"
#include "hydro/ops/ops.h"
#include "hydro/ops/torch.h"

namespace hydro::ops {

namespace {

using fuse::Axis;

/// [K, 1, ...] of `rank` dimensions: where each trial's rows start.
at::Tensor first_rows(const Call& call, std::int64_t table_rows, const at::Tensor& ids) {
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(ids.dim()), 1);
  sizes[0] = call.trials();
  return at::arange(call.trials(), ids.options()).mul_(table_rows).view(sizes);
}

}  // namespace

void embedding_stacked(const Call& call) {
  const bool by_frequency = call.boolean("scale_grad_by_freq");
  const std::int64_t padding = call.integer("padding_idx");
  if (call.axis("weight") == Axis::kShared) {
    call.put(at::embedding(call.tensor("weight"),
                           call.stacked("indices", Axis::kFront),
                           padding,
                           by_frequency,
                           /*sparse=*/false));
    return;
  }
  const at::Tensor tables = call.stacked("weight", Axis::kFront);
  const at::Tensor ids = call.axis("indices") == Axis::kShared
                             ? call.tensor("indices").unsqueeze(0)
                             : call.stacked("indices", Axis::kFront);
  const std::int64_t rows = tables.size(1);
  // Past its own table an id would find the next trial's.
  at::_assert_async(at::logical_and(ids.ge(0), ids.lt(rows)).all(),
                    "index out of range in embedding");
  at::Tensor y = at::embedding(tables.flatten(0, 1),
                               ids + first_rows(call, rows, ids),
                               /*padding_idx=*/-1,
                               by_frequency,
                               /*sparse=*/false);
  if (padding >= 0) {  // the padding row learns nothing
    y = at::where(ids.eq(padding).unsqueeze(-1), y.detach(), y);
  }
  call.put(y);
}

}  // namespace hydro::ops
