// Shapes, parts and means. All stand with the trial axis in front: a dimension of one trial is
// one further.
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include "hydro/fuse/trial_axis.h"
#include "hydro/ir/graph.h"
#include "hydro/ops/families.h"
#include "hydro/ops/ops.h"
#include "hydro/ops/torch.h"

namespace hydro::ops {

namespace {

/// The operand with the axis that the result has; without one when the result is shared.
at::Tensor placed(const Call& call, std::string_view name) {
  return call.output_axis() == fuse::Axis::kShared ? call.tensor(name)
                                                   : call.stacked(name, call.output_axis());
}

std::int64_t dim_of(const Call& call, std::int64_t dim, std::int64_t trial_rank) {
  return stacked_dim(dim, trial_rank, call.output_axis());
}

std::int64_t dim_argument(const Call& call, std::string_view name) {
  return dim_of(call, call.integer(name), call.trial_rank("self"));
}

std::vector<std::int64_t> dims_argument(const Call& call, std::string_view name) {
  std::vector<std::int64_t> dims = call.integers(name);
  for (std::int64_t& dim : dims) {
    dim = dim_of(call, dim, call.trial_rank("self"));
  }
  return dims;
}

std::vector<std::int64_t> all_dims(const Call& call) {
  const std::int64_t rank = call.trial_rank("self");
  std::vector<std::int64_t> dims;
  dims.reserve(static_cast<std::size_t>(rank));
  for (std::int64_t dim = 0; dim < rank; ++dim) {
    dims.push_back(dim_of(call, dim, rank));
  }
  return dims;
}

bool has_axis(const Call& call) {
  return call.output_axis() != fuse::Axis::kShared;
}

struct Range {
  std::int64_t dim = 0;
  std::int64_t start = 0;
  std::int64_t end = std::numeric_limits<std::int64_t>::max();
  std::int64_t step = 1;
};

Range range_of(const Call& call) {
  return {.dim = dim_argument(call, "dim"),
          .start = call.integer_or("start", 0),
          .end = call.integer_or("end", std::numeric_limits<std::int64_t>::max()),
          .step = call.integer_or("step", 1)};
}

/// Without dimensions all of one trial's are meant.
struct Reduction {
  std::vector<std::int64_t> dims;
  bool keep = false;
  std::optional<at::ScalarType> dtype;
};

Reduction reduction_of(const Call& call) {
  const bool everything = !call.has("dim") || call.integers("dim").empty();
  Reduction reduction{.dims = everything ? all_dims(call) : dims_argument(call, "dim"),
                      .keep = call.has("keepdim") && call.boolean("keepdim"),
                      .dtype = std::nullopt};
  if (call.has("dtype")) {
    reduction.dtype = call.dtype(std::get<ir::DType>(call.node().argument("dtype")));
  }
  return reduction;
}

}  // namespace

void reshape(const Call& call) {
  std::vector<std::int64_t> sizes =
      call.integers(call.node().find_argument("size") != nullptr ? "size" : "shape");
  if (has_axis(call)) {
    sizes.insert(sizes.begin(), call.trials());
  }
  call.put(at::reshape(placed(call, "self"), sizes));
}

void flatten(const Call& call) {
  if (call.trial_rank("self") == 0) {
    call.put(placed(call, "self").unsqueeze(-1));
    return;
  }
  call.put(at::flatten(
      placed(call, "self"), dim_argument(call, "start_dim"), dim_argument(call, "end_dim")));
}

void permute(const Call& call) {
  std::vector<std::int64_t> dims = dims_argument(call, "dims");
  if (has_axis(call)) {
    dims.insert(dims.begin(), 0);
  }
  call.put(at::permute(placed(call, "self"), dims));
}

void transpose(const Call& call) {
  call.put(at::transpose(
      placed(call, "self"), dim_argument(call, "dim0"), dim_argument(call, "dim1")));
}

void unsqueeze(const Call& call) {
  // Negative dimensions count in the result, which has one more.
  const std::int64_t dim = dim_of(call, call.integer("dim"), call.trial_rank("self") + 1);
  call.put(at::unsqueeze(placed(call, "self"), dim));
}

void squeeze(const Call& call) {
  call.put(at::squeeze(placed(call, "self"), all_dims(call)));
}

void squeeze_dims(const Call& call) {
  call.put(at::squeeze(placed(call, "self"), dims_argument(call, "dim")));
}

void mean(const Call& call) {
  const Reduction r = reduction_of(call);
  call.put(at::mean(placed(call, "self"), r.dims, r.keep, r.dtype));
}

void sum(const Call& call) {
  const Reduction r = reduction_of(call);
  call.put(at::sum(placed(call, "self"), r.dims, r.keep, r.dtype));
}

void slice(const Call& call) {
  const Range range = range_of(call);
  call.put(at::slice(placed(call, "self"), range.dim, range.start, range.end, range.step));
}

void select(const Call& call) {
  call.put(at::select(placed(call, "self"), dim_argument(call, "dim"), call.integer("index")));
}

void slice_scatter(const Call& call) {
  const Range range = range_of(call);
  call.put(at::slice_scatter(placed(call, "self"),
                             placed(call, "src"),
                             range.dim,
                             range.start,
                             range.end,
                             range.step));
}

void select_scatter(const Call& call) {
  call.put(at::select_scatter(placed(call, "self"),
                              placed(call, "src"),
                              dim_argument(call, "dim"),
                              call.integer("index")));
}

void cat(const Call& call) {
  std::vector<at::Tensor> parts;
  std::int64_t rank = 0;
  for (const ir::ValueId part : call.values("tensors")) {
    parts.push_back(has_axis(call) ? call.stacked(part, call.output_axis())
                                   : call.tensor(part));
    rank = parts.back().dim() - (has_axis(call) ? 1 : 0);
  }
  call.put(at::cat(parts, dim_of(call, call.integer("dim"), rank)));
}

}  // namespace hydro::ops
