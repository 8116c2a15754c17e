#include "hydro/shrink/rules.h"

#include <algorithm>
#include <array>

namespace hydro::shrink {

namespace {

using enum OpKind;

// One more op is one more row. The order is only for reading.
constexpr auto kRows = std::to_array<RuleRow>({
    // weights and what goes with them
    {"aten.conv2d.default", conv2d_rule, resize_groups, kWeight},
    {"aten.conv2d.padding", conv2d_rule, resize_groups, kWeight},
    {"aten.linear.default", linear_rule, nullptr, kWeight},
    {"aten.addmm.default", addmm_rule, nullptr, kWeight},
    {"aten.batch_norm.default", batch_norm_rule},
    {"hydro.batch_norm", batch_norm_rule},
    {"aten.layer_norm.default", layer_norm_rule, resize_normalized_shape},
    // pooling
    {"aten.max_pool2d.default", pool2d_rule},
    {"aten.max_pool2d_with_indices.default", pool2d_rule},
    {"aten.avg_pool2d.default", pool2d_rule},
    {"aten.adaptive_avg_pool2d.default", pool2d_rule},
    // element by element, one operand
    {"aten.relu.default", same_rule},
    {"aten.relu6.default", same_rule},
    {"aten.hardtanh.default", same_rule},
    {"aten.tanh.default", same_rule},
    {"aten.sigmoid.default", same_rule},
    {"aten.gelu.default", same_rule},
    {"aten.silu.default", same_rule},
    {"aten.leaky_relu.default", same_rule},
    {"aten.elu.default", same_rule},
    {"aten.selu.default", same_rule},
    {"aten.softplus.default", same_rule},
    {"aten.mish.default", same_rule},
    {"aten.hardswish.default", same_rule},
    {"aten.hardsigmoid.default", same_rule},
    {"aten.neg.default", same_rule},
    {"aten.abs.default", same_rule},
    {"aten.exp.default", same_rule},
    {"aten.sqrt.default", same_rule},
    {"aten.rsqrt.default", same_rule},
    {"aten.pow.Tensor_Scalar", same_rule},
    {"aten.clamp.default", same_rule},
    {"aten.dropout.default", same_rule},
    {"aten.feature_dropout.default", same_rule},
    {"hydro.dropout", same_rule},
    {"hydro.feature_dropout", same_rule},
    {"aten.zeros_like.default", same_rule},
    {"aten.ones_like.default", same_rule},
    {"aten.full_like.default", same_rule},
    {"aten.fill.Scalar", same_rule},
    {"aten.fill.Tensor", same_rule},
    // the same entries under another name, type or layout
    {"aten.clone.default", same_rule, nullptr, kLayout},
    {"aten.contiguous.default", same_rule, nullptr, kLayout},
    {"aten.alias.default", same_rule, nullptr, kLayout},
    {"aten.detach.default", same_rule},
    {"aten.to.dtype", same_rule, nullptr, kLayout},
    {"aten.to.device", same_rule, nullptr, kLayout},
    {"aten.to.dtype_layout", same_rule, nullptr, kLayout},
    {"aten._to_copy.default", same_rule, nullptr, kLayout},
    // element by element, several operands
    {"aten.add.Tensor", broadcast_rule},
    {"aten.add.Scalar", broadcast_rule},
    {"aten.sub.Tensor", broadcast_rule},
    {"aten.sub.Scalar", broadcast_rule},
    {"aten.rsub.Scalar", broadcast_rule},
    {"aten.mul.Tensor", broadcast_rule},
    {"aten.mul.Scalar", broadcast_rule},
    {"aten.div.Tensor", broadcast_rule},
    {"aten.div.Scalar", broadcast_rule},
    {"aten.eq.Scalar", broadcast_rule},
    {"aten.eq.Tensor", broadcast_rule},
    {"aten.ne.Scalar", broadcast_rule},
    {"aten.ne.Tensor", broadcast_rule},
    {"aten.lt.Scalar", broadcast_rule},
    {"aten.lt.Tensor", broadcast_rule},
    {"aten.le.Scalar", broadcast_rule},
    {"aten.le.Tensor", broadcast_rule},
    {"aten.gt.Scalar", broadcast_rule},
    {"aten.gt.Tensor", broadcast_rule},
    {"aten.ge.Scalar", broadcast_rule},
    {"aten.ge.Tensor", broadcast_rule},
    {"aten.where.self", broadcast_rule},
    {"aten.masked_fill.Scalar", broadcast_rule},
    {"aten.masked_fill.Tensor", broadcast_rule},
    {"aten.copy.default", broadcast_rule},
    // shapes
    {"aten.view.default", reshape_rule, resize_size, kLayout},
    {"aten._unsafe_view.default", reshape_rule, resize_size, kLayout},
    {"aten.reshape.default", reshape_rule, resize_shape, kLayout},
    {"aten.flatten.using_ints", reshape_rule, nullptr, kLayout},
    {"aten.expand.default", expand_rule, resize_size},
    {"aten.permute.default", permute_rule, nullptr, kLayout},
    {"aten.transpose.int", transpose_rule, nullptr, kLayout},
    {"aten.t.default", transpose_rule, nullptr, kLayout},
    {"aten.unsqueeze.default", unsqueeze_rule, nullptr, kLayout},
    {"aten.squeeze.dim", squeeze_rule, nullptr, kLayout},
    {"aten.mean.dim", mean_rule},
    {"aten.sym_size.int", size_rule},
    {"aten.zeros.default", fresh_rule, resize_size},
    {"aten.ones.default", fresh_rule, resize_size},
    {"aten.full.default", fresh_rule, resize_size},
    // parts of a dimension
    {"aten.slice.Tensor", slice_rule, resize_bounds},
    {"aten.select.int", select_rule},
    {"aten.slice_scatter.default", slice_scatter_rule, resize_bounds},
    {"aten.select_scatter.default", select_scatter_rule},
    {"aten.split.Tensor", split_rule, resize_split},
    {"aten.chunk.default", split_rule},
    {"aten.cat.default", cat_rule},
    {"aten.pad.default", pad_rule},
});

}  // namespace

std::span<const RuleRow> rule_rows() {
  return kRows;
}

const RuleRow* find_rule(std::string_view op) {
  const auto* found = std::ranges::find(kRows, op, &RuleRow::op);
  return found == kRows.end() ? nullptr : found;
}

}  // namespace hydro::shrink
