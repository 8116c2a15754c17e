// Matrix products. K trials are one batched product; on a shared input they are one wide
// product.
#include <cstdint>
#include <optional>
#include <vector>

#include "hydro/fuse/trial_axis.h"
#include "hydro/ops/families.h"
#include "hydro/ops/ops.h"
#include "hydro/ops/products.h"
#include "hydro/ops/torch.h"

namespace hydro::ops {

using fuse::Axis;

at::Tensor linear_wide(const at::Tensor& x,
                       const at::Tensor& w,
                       const std::optional<at::Tensor>& b) {
  const std::optional<at::Tensor> bias = b ? std::optional(b->flatten(0, 1)) : b;
  return at::linear(x, w.flatten(0, 1), bias)
      .unflatten(-1, {w.size(0), w.size(1)})
      .movedim(-2, 0);
}

at::Tensor linear_batched(const at::Tensor& x,
                          const at::Tensor& w,
                          const std::optional<at::Tensor>& b) {
  std::vector<std::int64_t> sizes = x.sizes().vec();
  sizes.back() = w.size(1);
  const at::Tensor rows = x.dim() == 3 ? x : x.reshape({x.size(0), -1, x.size(-1)});
  const at::Tensor w_t = w.transpose(1, 2);
  const at::Tensor y = b ? at::baddbmm(b->unsqueeze(1), rows, w_t) : at::bmm(rows, w_t);
  return x.dim() == 3 ? y : y.reshape(sizes);
}

void linear(const Call& call) {
  call.put(
      at::linear(call.tensor("input"), call.tensor("weight"), call.optional_tensor("bias")));
}

void linear_stacked(const Call& call) {
  const at::Tensor w = call.stacked("weight", Axis::kFront);
  const std::optional<at::Tensor> b = call.optional_stacked("bias", Axis::kFront);
  call.put(call.axis("input") == Axis::kShared
               ? linear_wide(call.tensor("input"), w, b)
               : linear_batched(call.stacked("input", Axis::kFront), w, b));
}

void addmm(const Call& call) {
  call.put(at::addmm(call.tensor("self"),
                     call.tensor("mat1"),
                     call.tensor("mat2"),
                     call.scalar("beta"),
                     call.scalar("alpha")));
}

void addmm_stacked(const Call& call) {
  const at::Tensor shift = call.aligned("self");
  const at::Tensor right = call.stacked("mat2", Axis::kFront);
  if (call.axis("mat1") == Axis::kShared) {
    const at::Tensor y = linear_wide(call.tensor("mat1"), right.transpose(1, 2), std::nullopt);
    call.put(at::add(at::mul(shift, call.scalar("beta")), y, call.scalar("alpha")));
    return;
  }
  call.put(at::baddbmm(shift,
                       call.stacked("mat1", Axis::kFront),
                       right,
                       call.scalar("beta"),
                       call.scalar("alpha")));
}

}  // namespace hydro::ops
