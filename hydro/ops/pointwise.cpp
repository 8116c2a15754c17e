// Pointwise ops. They run on any layout: stacked operands are aligned so that they broadcast as
// in one trial.
#include <variant>

#include "hydro/base/result.h"
#include "hydro/ir/graph.h"
#include "hydro/ops/families.h"
#include "hydro/ops/ops.h"
#include "hydro/ops/torch.h"

namespace hydro::ops {

namespace {

at::Scalar alpha(const Call& call) {
  return call.has("alpha") ? call.scalar("alpha") : at::Scalar(1);
}

at::ScalarType scalar_type(ir::DType dtype) {
  switch (dtype) {
    case ir::DType::kBool:
      return at::kBool;
    case ir::DType::kUInt8:
      return at::kByte;
    case ir::DType::kInt8:
      return at::kChar;
    case ir::DType::kInt16:
      return at::kShort;
    case ir::DType::kInt32:
      return at::kInt;
    case ir::DType::kInt64:
      return at::kLong;
    case ir::DType::kFloat16:
      return at::kHalf;
    case ir::DType::kBFloat16:
      return at::kBFloat16;
    case ir::DType::kFloat32:
      return at::kFloat;
    case ir::DType::kFloat64:
      return at::kDouble;
  }
  return at::kFloat;
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

void hardtanh(const Call& call) {
  at::Tensor self = call.tensor("self");
  const at::Scalar low = call.scalar("min_val");
  const at::Scalar high = call.scalar("max_val");
  call.put(at::hardtanh(self, low, high));
}

void relu6(const Call& call) {
  call.put(at::hardtanh(call.tensor("self"), 0, 6));
}

void leaky_relu(const Call& call) {
  call.put(at::leaky_relu(call.tensor("self"), call.scalar("negative_slope")));
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

void neg(const Call& call) {
  call.put(at::neg(call.tensor("self")));
}

void masked_fill(const Call& call) {
  call.put(at::masked_fill(call.tensor("self"), call.tensor("mask"), call.aligned("value")));
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

void copy(const Call& call) {
  call.put(at::clone(call.tensor("self")));
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
  call.put(call.tensor("self").to(scalar_type(*dtype)));
}

}  // namespace hydro::ops
