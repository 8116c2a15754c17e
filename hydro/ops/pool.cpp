// Pooling. It sees channels alone, so K folds into C.
#include <optional>
#include <utility>

#include "hydro/fuse/trial_axis.h"
#include "hydro/ops/families.h"
#include "hydro/ops/ops.h"
#include "hydro/ops/torch.h"

namespace hydro::ops {

namespace {

at::Tensor folded(const Call& call) {
  return call.stacked("self", fuse::Axis::kSecond).flatten(1, 2);
}

at::Tensor unfolded(const Call& call, const at::Tensor& y) {
  return y.unflatten(1, {call.trials(), -1});
}

at::Tensor max_pooled(const Call& call, const at::Tensor& x) {
  return at::max_pool2d(x,
                        call.integers("kernel_size"),
                        call.integers("stride"),
                        call.integers("padding"),
                        call.integers("dilation"),
                        call.boolean("ceil_mode"));
}

std::pair<at::Tensor, at::Tensor> max_pooled_indices(const Call& call, const at::Tensor& x) {
  auto [y, indices] = at::max_pool2d_with_indices(x,
                                                  call.integers("kernel_size"),
                                                  call.integers("stride"),
                                                  call.integers("padding"),
                                                  call.integers("dilation"),
                                                  call.boolean("ceil_mode"));
  return {y, indices};
}

at::Tensor avg_pooled(const Call& call, const at::Tensor& x) {
  return at::avg_pool2d(x,
                        call.integers("kernel_size"),
                        call.integers("stride"),
                        call.integers("padding"),
                        call.boolean("ceil_mode"),
                        call.boolean("count_include_pad"),
                        call.has("divisor_override")
                            ? std::optional(call.integer("divisor_override"))
                            : std::nullopt);
}

}  // namespace

void max_pool2d(const Call& call) {
  call.put(max_pooled(call, call.tensor("self")));
}

void max_pool2d_stacked(const Call& call) {
  call.put(unfolded(call, max_pooled(call, folded(call))));
}

void max_pool2d_indices(const Call& call) {
  auto [y, indices] = max_pooled_indices(call, call.tensor("self"));
  call.put(0, std::move(y));
  call.put(1, std::move(indices));
}

void max_pool2d_indices_stacked(const Call& call) {
  const auto [y, indices] = max_pooled_indices(call, folded(call));
  call.put(0, unfolded(call, y));
  call.put(1, unfolded(call, indices));
}

void avg_pool2d(const Call& call) {
  call.put(avg_pooled(call, call.tensor("self")));
}

void avg_pool2d_stacked(const Call& call) {
  call.put(unfolded(call, avg_pooled(call, folded(call))));
}

void adaptive_avg_pool2d(const Call& call) {
  call.put(at::adaptive_avg_pool2d(call.tensor("self"), call.integers("output_size")));
}

void adaptive_avg_pool2d_stacked(const Call& call) {
  call.put(unfolded(call, at::adaptive_avg_pool2d(folded(call), call.integers("output_size"))));
}

}  // namespace hydro::ops
