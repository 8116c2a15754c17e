// Ways to run K trials of an op through libtorch's own op, without a function for it: operands
// that broadcast, dimensions one further, or trials as channels.
#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/fuse/trial_axis.h"
#include "hydro/ir/graph.h"
#include "hydro/ops/boxed.h"
#include "hydro/ops/families.h"
#include "hydro/ops/ops.h"
#include "hydro/ops/torch.h"

namespace hydro::ops {

namespace {

using c10::IValue;
using fuse::Axis;

/// What schemas call an argument that is a dimension or a list of them.
constexpr std::array<std::string_view, 12> kDims = {"dim",
                                                    "dims",
                                                    "dim0",
                                                    "dim1",
                                                    "dim2",
                                                    "dimension",
                                                    "start_dim",
                                                    "end_dim",
                                                    "axis0",
                                                    "axis1",
                                                    "source",
                                                    "destination"};
/// Their dimension counts in the result, which has one more.
constexpr std::array<std::string_view, 2> kGrowing = {"aten.stack.default",
                                                      "aten.unsqueeze.default"};

template <class Names>
bool contains(const Names& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

ir::ValueId first_tensor(const Call& call) {
  for (const ir::ValueId operand : ir::operands(call.node())) {
    if (call.is_tensor(operand)) {
      return operand;
    }
  }
  HYDRO_CHECK(false, call.node().describe() + " has no tensor");
}

std::int64_t trial_rank(const Call& call, ir::ValueId value) {
  return call.tensor(value).dim() - (call.axis(value) == Axis::kShared ? 0 : 1);
}

/// None or no dimension stands for all of them.
bool means_all_dims(const Call& call) {
  return std::ranges::any_of(call.node().arguments, [](const ir::NamedArgument& argument) {
    const auto* items = std::get_if<std::vector<ir::IntItem>>(&argument.value);
    return contains(kDims, argument.name) &&
           (std::holds_alternative<ir::None>(argument.value) ||
            (items != nullptr && items->empty()));
  });
}

void shift(IValue& dims, std::int64_t rank) {
  if (dims.isInt()) {
    dims = stacked_dim(dims.toInt(), rank, Axis::kFront);
  } else if (dims.isIntList()) {
    std::vector<std::int64_t> shifted = dims.toIntVector();
    for (std::int64_t& dim : shifted) {
      dim = stacked_dim(dim, rank, Axis::kFront);
    }
    dims = std::move(shifted);
  }
}

/// 2 of "aten.max_pool2d.default"
std::int64_t spatial_dims(std::string_view op) {
  for (std::size_t i = 1; i < op.size(); ++i) {
    if (op[i] == 'd' && std::isdigit(static_cast<unsigned char>(op[i - 1])) != 0) {
      return op[i - 1] - '0';
    }
  }
  HYDRO_CHECK(false, std::string(op) + " does not say how many dimensions it works on");
}

}  // namespace

void boxed_aligned(const Call& call) {
  put_results(call, call_boxed(call, [&](ir::ValueId value) { return call.aligned(value); }));
}

void boxed_shifted(const Call& call) {
  if (means_all_dims(call)) {
    boxed_stacked(call);
    return;
  }
  const std::int64_t rank =
      trial_rank(call, first_tensor(call)) + (contains(kGrowing, call.node().op) ? 1 : 0);
  put_results(call,
              call_boxed(
                  call,
                  [&](ir::ValueId value) { return call.stacked(value, Axis::kFront); },
                  [&](std::string_view name, IValue& value) {
                    if (contains(kDims, name)) {
                      shift(value, rank);
                    }
                  }));
}

void boxed_channels(const Call& call) {
  const std::int64_t spatial = spatial_dims(call.node().op);
  // Without a batch, [K, C, H, W] already is one.
  const bool has_batch = trial_rank(call, first_tensor(call)) == spatial + 2;
  std::vector<IValue> results = call_boxed(call, [&](ir::ValueId value) {
    return has_batch ? call.stacked(value, Axis::kSecond).flatten(1, 2)
                     : call.stacked(value, Axis::kFront);
  });
  for (IValue& result : results) {
    const at::Tensor y = result.toTensor();
    result = has_batch ? y.unflatten(1, {call.trials(), -1})
                       : move_axis(y, Axis::kFront, Axis::kSecond, call.trials());
  }
  put_results(call, std::move(results));
}

}  // namespace hydro::ops
