#include "hydro/shrink/rules.h"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

#include "hydro/shrink/resize.h"

namespace hydro::shrink {

namespace {

using enum OpKind;

// One more op is one more row. The order is only for reading.
constexpr auto kRows = std::to_array<RuleRow>({
    // weights and what goes with them
    {.op = "aten.conv2d.default",
     .rule = conv2d_rule,
     .resize = resize_groups,
     .kind = kWeight},
    {.op = "aten.conv2d.padding",
     .rule = conv2d_rule,
     .resize = resize_groups,
     .kind = kWeight},
    {.op = "aten.linear.default", .rule = linear_rule, .resize = nullptr, .kind = kWeight},
    {.op = "aten.addmm.default", .rule = addmm_rule, .resize = nullptr, .kind = kWeight},
    {.op = "aten.batch_norm.default", .rule = batch_norm_rule},
    {.op = "hydro.batch_norm", .rule = batch_norm_rule},
    {.op = "aten.layer_norm.default",
     .rule = layer_norm_rule,
     .resize = resize_normalized_shape},
    // pooling
    {.op = "aten.max_pool2d.default", .rule = pool2d_rule},
    {.op = "aten.max_pool2d_with_indices.default", .rule = pool2d_rule},
    {.op = "aten.avg_pool2d.default", .rule = pool2d_rule},
    {.op = "aten.adaptive_avg_pool2d.default", .rule = pool2d_rule},
    // element by element, one operand
    {.op = "aten.relu.default", .rule = same_rule},
    {.op = "aten.relu6.default", .rule = same_rule},
    {.op = "aten.hardtanh.default", .rule = same_rule},
    {.op = "aten.tanh.default", .rule = same_rule},
    {.op = "aten.sigmoid.default", .rule = same_rule},
    {.op = "aten.gelu.default", .rule = same_rule},
    {.op = "aten.silu.default", .rule = same_rule},
    {.op = "aten.leaky_relu.default", .rule = same_rule},
    {.op = "aten.elu.default", .rule = same_rule},
    {.op = "aten.selu.default", .rule = same_rule},
    {.op = "aten.softplus.default", .rule = same_rule},
    {.op = "aten.mish.default", .rule = same_rule},
    {.op = "aten.hardswish.default", .rule = same_rule},
    {.op = "aten.hardsigmoid.default", .rule = same_rule},
    {.op = "aten.neg.default", .rule = same_rule},
    {.op = "aten.abs.default", .rule = same_rule},
    {.op = "aten.exp.default", .rule = same_rule},
    {.op = "aten.sqrt.default", .rule = same_rule},
    {.op = "aten.rsqrt.default", .rule = same_rule},
    {.op = "aten.pow.Tensor_Scalar", .rule = same_rule},
    {.op = "aten.clamp.default", .rule = same_rule},
    {.op = "aten.dropout.default", .rule = same_rule},
    {.op = "aten.feature_dropout.default", .rule = same_rule},
    {.op = "hydro.dropout", .rule = same_rule},
    {.op = "hydro.feature_dropout", .rule = same_rule},
    {.op = "aten.zeros_like.default", .rule = same_rule},
    {.op = "aten.ones_like.default", .rule = same_rule},
    {.op = "aten.full_like.default", .rule = same_rule},
    {.op = "aten.fill.Scalar", .rule = same_rule},
    {.op = "aten.fill.Tensor", .rule = same_rule},
    // the same entries under another name, type or layout
    {.op = "aten.clone.default", .rule = same_rule, .resize = nullptr, .kind = kLayout},
    {.op = "aten.contiguous.default", .rule = same_rule, .resize = nullptr, .kind = kLayout},
    {.op = "aten.alias.default", .rule = same_rule, .resize = nullptr, .kind = kLayout},
    {.op = "aten.detach.default", .rule = same_rule},
    {.op = "aten.to.dtype", .rule = same_rule, .resize = nullptr, .kind = kLayout},
    {.op = "aten.to.device", .rule = same_rule, .resize = nullptr, .kind = kLayout},
    {.op = "aten.to.dtype_layout", .rule = same_rule, .resize = nullptr, .kind = kLayout},
    {.op = "aten._to_copy.default", .rule = same_rule, .resize = nullptr, .kind = kLayout},
    // element by element, several operands
    {.op = "aten.add.Tensor", .rule = broadcast_rule},
    {.op = "aten.add.Scalar", .rule = broadcast_rule},
    {.op = "aten.sub.Tensor", .rule = broadcast_rule},
    {.op = "aten.sub.Scalar", .rule = broadcast_rule},
    {.op = "aten.rsub.Scalar", .rule = broadcast_rule},
    {.op = "aten.mul.Tensor", .rule = broadcast_rule},
    {.op = "aten.mul.Scalar", .rule = broadcast_rule},
    {.op = "aten.div.Tensor", .rule = broadcast_rule},
    {.op = "aten.div.Scalar", .rule = broadcast_rule},
    {.op = "aten.eq.Scalar", .rule = broadcast_rule},
    {.op = "aten.eq.Tensor", .rule = broadcast_rule},
    {.op = "aten.ne.Scalar", .rule = broadcast_rule},
    {.op = "aten.ne.Tensor", .rule = broadcast_rule},
    {.op = "aten.lt.Scalar", .rule = broadcast_rule},
    {.op = "aten.lt.Tensor", .rule = broadcast_rule},
    {.op = "aten.le.Scalar", .rule = broadcast_rule},
    {.op = "aten.le.Tensor", .rule = broadcast_rule},
    {.op = "aten.gt.Scalar", .rule = broadcast_rule},
    {.op = "aten.gt.Tensor", .rule = broadcast_rule},
    {.op = "aten.ge.Scalar", .rule = broadcast_rule},
    {.op = "aten.ge.Tensor", .rule = broadcast_rule},
    {.op = "aten.where.self", .rule = broadcast_rule},
    {.op = "aten.masked_fill.Scalar", .rule = broadcast_rule},
    {.op = "aten.masked_fill.Tensor", .rule = broadcast_rule},
    {.op = "aten.copy.default", .rule = broadcast_rule},
    // shapes
    {.op = "aten.view.default", .rule = reshape_rule, .resize = resize_size, .kind = kLayout},
    {.op = "aten._unsafe_view.default",
     .rule = reshape_rule,
     .resize = resize_size,
     .kind = kLayout},
    {.op = "aten.reshape.default",
     .rule = reshape_rule,
     .resize = resize_shape,
     .kind = kLayout},
    {.op = "aten.flatten.using_ints", .rule = reshape_rule, .resize = nullptr, .kind = kLayout},
    {.op = "aten.expand.default", .rule = expand_rule, .resize = resize_size},
    {.op = "aten.permute.default", .rule = permute_rule, .resize = nullptr, .kind = kLayout},
    {.op = "aten.transpose.int", .rule = transpose_rule, .resize = nullptr, .kind = kLayout},
    {.op = "aten.t.default", .rule = transpose_rule, .resize = nullptr, .kind = kLayout},
    {.op = "aten.unsqueeze.default",
     .rule = unsqueeze_rule,
     .resize = nullptr,
     .kind = kLayout},
    {.op = "aten.squeeze.dim", .rule = squeeze_rule, .resize = nullptr, .kind = kLayout},
    {.op = "aten.mean.dim", .rule = mean_rule},
    {.op = "aten.sym_size.int", .rule = size_rule},
    {.op = "aten.zeros.default", .rule = fresh_rule, .resize = resize_size},
    {.op = "aten.ones.default", .rule = fresh_rule, .resize = resize_size},
    {.op = "aten.full.default", .rule = fresh_rule, .resize = resize_size},
    // parts of a dimension
    {.op = "aten.slice.Tensor", .rule = slice_rule, .resize = resize_bounds},
    {.op = "aten.select.int", .rule = select_rule},
    {.op = "aten.slice_scatter.default", .rule = slice_scatter_rule, .resize = resize_bounds},
    {.op = "aten.select_scatter.default", .rule = select_scatter_rule},
    {.op = "aten.split.Tensor", .rule = split_rule, .resize = resize_split},
    {.op = "aten.chunk.default", .rule = split_rule},
    {.op = "aten.cat.default", .rule = cat_rule},
    {.op = "aten.pad.default", .rule = pad_rule},
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
