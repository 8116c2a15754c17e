// Pointwise ops. They run on any layout: stacked operands are aligned so that they broadcast as
// in one trial.
#include <cstdint>
#include <variant>

#include "hydro/base/result.h"
#include "hydro/fuse/trial_axis.h"
#include "hydro/ir/graph.h"
#include "hydro/ops/families.h"
#include "hydro/ops/ops.h"
#include "hydro/ops/torch.h"

namespace hydro::ops {

namespace {

using fuse::Axis;

at::Scalar alpha(const Call& call) {
  return call.has("alpha") ? call.scalar("alpha") : at::Scalar(1);
}

}  // namespace

void add(const Call& call) {
  at::Tensor self = call.aligned("self");
  const at::Tensor other = call.aligned("other");
  call.put(call.reuse() ? self.add_(other, alpha(call)) : at::add(self, other, alpha(call)));
}

void sub(const Call& call) {
  call.put(at::sub(call.aligned("self"), call.aligned("other"), alpha(call)));
}

void mul(const Call& call) {
  call.put(at::mul(call.aligned("self"), call.aligned("other")));
}

void div(const Call& call) {
  call.put(at::div(call.aligned("self"), call.aligned("other")));
}

void relu(const Call& call) {
  at::Tensor self = call.tensor("self");
  call.put(call.reuse() ? at::relu_(self) : at::relu(self));
}

void tanh(const Call& call) {
  call.put(at::tanh(call.tensor("self")));
}

void sigmoid(const Call& call) {
  call.put(at::sigmoid(call.tensor("self")));
}

void gelu(const Call& call) {
  call.put(at::gelu(call.tensor("self"), call.node().text("approximate")));
}

void silu(const Call& call) {
  call.put(at::silu(call.tensor("self")));
}

void masked_fill_stacked(const Call& call) {
  const at::Tensor self = call.stacked("self", call.output_axis());
  const at::Tensor mask = call.aligned("mask");
  // masked_fill takes 0-d values only; a value that differs between trials goes through
  // where().
  const at::Tensor value = call.aligned("value");
  call.put(value.dim() == 0 ? at::masked_fill(self, mask, value)
                            : at::where(mask, value, self));
}

/// One slope a channel, or one for all.
void prelu_stacked(const Call& call) {
  const Axis axis = call.output_axis();
  const at::Tensor x = call.stacked("self", axis);
  at::Tensor slope = call.stacked("weight", Axis::kFront);
  const std::int64_t rank = x.dim() - 1;
  if (slope.size(1) > 1 && rank > 1) {
    slope = slope.unsqueeze(1);  // channels stand behind the batch
  }
  while (slope.dim() - 1 < rank) {
    slope = slope.unsqueeze(-1);
  }
  call.put(at::where(x.gt(0), x, x * move_axis(slope, Axis::kFront, axis, call.trials())));
}

void forward_value(const Call& call) {
  call.put(call.tensor("self"));
}

void detach(const Call& call) {
  call.put(at::detach(call.tensor("self")));
}

void to_dtype(const Call& call) {
  const auto* dtype = std::get_if<ir::DType>(&call.node().argument("dtype"));
  HYDRO_CHECK(dtype != nullptr, call.node().describe() + ": no dtype");
  call.put(call.tensor("self").to(call.dtype(*dtype)));
}

}  // namespace hydro::ops
