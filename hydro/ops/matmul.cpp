// Products of two computed matrices: attention scores, mixing over tokens, GPT-2's weights.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>

#include "hydro/fuse/trial_axis.h"
#include "hydro/ops/families.h"
#include "hydro/ops/ops.h"
#include "hydro/ops/products.h"
#include "hydro/ops/torch.h"

namespace hydro::ops {

namespace {

using fuse::Axis;

/// [K, ...]; a shared operand is [1, ...], which broadcasts.
at::Tensor front_of(const Call& call, std::string_view name) {
  return call.axis(name) == Axis::kShared ? call.tensor(name).unsqueeze(0)
                                          : call.stacked(name, Axis::kFront);
}

/// [K, 1, ..., m, n] of `rank` dimensions.
at::Tensor padded(at::Tensor matrices, std::int64_t rank) {
  while (matrices.dim() < rank) {
    matrices = matrices.unsqueeze(1);
  }
  return matrices;
}

/// As in one trial: a vector on the left is a row, on the right a column, and goes again.
at::Tensor product(const Call& call, std::string_view left, std::string_view right) {
  const bool left_is_vector = call.trial_rank(left) == 1;
  const bool right_is_vector = call.trial_rank(right) == 1;
  if (!right_is_vector && call.trial_rank(right) == 2 && call.axis(right) != Axis::kShared) {
    // One matrix a trial, as a weight: no copy of it for each sample.
    const at::Tensor w = call.stacked(right, Axis::kFront).transpose(1, 2);
    if (call.axis(left) == Axis::kShared) {
      return linear_wide(call.tensor(left), w, std::nullopt);
    }
    return linear_batched(call.stacked(left, Axis::kFront), w, std::nullopt);
  }
  at::Tensor a = front_of(call, left);
  at::Tensor b = front_of(call, right);
  a = left_is_vector ? a.unsqueeze(-2) : a;
  b = right_is_vector ? b.unsqueeze(-1) : b;
  const std::int64_t rank = std::max(a.dim(), b.dim());
  at::Tensor y = at::matmul(padded(a, rank), padded(b, rank));
  y = right_is_vector ? y.squeeze(-1) : y;
  return left_is_vector ? y.squeeze(right_is_vector ? -1 : -2) : y;
}

/// beta * self + alpha * (left @ right)
void put_sum(const Call& call, std::string_view left, std::string_view right) {
  const at::Tensor y = product(call, left, right);
  call.put(
      at::add(at::mul(call.aligned("self"), call.scalar("beta")), y, call.scalar("alpha")));
}

}  // namespace

void matmul_stacked(const Call& call) {
  call.put(product(call, "self", "other"));
}

void mm_stacked(const Call& call) {
  call.put(product(call, "self", "mat2"));
}

void mv_stacked(const Call& call) {
  call.put(product(call, "self", "vec"));
}

void baddbmm_stacked(const Call& call) {
  put_sum(call, "batch1", "batch2");
}

}  // namespace hydro::ops
