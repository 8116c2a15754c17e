#include "hydro/ops/table.h"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

#include "hydro/ops/families.h"

namespace hydro::ops {

namespace {

constexpr Row row(std::string_view op,
                  Run run_one,
                  Run run_stacked,
                  std::string_view note = {}) {
  return {.op = op, .run_one = run_one, .run_stacked = run_stacked, .note = note};
}

/// Broadcasts as in one trial, on any layout.
constexpr Row pointwise(std::string_view op) {
  return row(op, boxed, boxed_aligned);
}

/// Its dimension arguments are all that the axis in front changes.
constexpr Row shifted(std::string_view op) {
  return row(op, boxed, boxed_shifted);
}

/// Sees channels alone.
constexpr Row channels(std::string_view op) {
  return row(op, boxed, boxed_channels, "K*C channels");
}

constexpr Row convolution(std::string_view op) {
  return row(
      op, boxed, conv_stacked, "K*C channels in K times the groups; shared input: K*O outputs");
}

constexpr Row random(std::string_view op, Run run) {
  return row(op, run, run, "numbers from each trial's key");
}

// Best implementation of an op first. The tolerance is the default one of Row. An op without a
// row runs by itself: see row_of() in compile.cpp.
constexpr auto kRows = std::to_array<Row>({
    // weights
    convolution("aten.conv1d.default"),
    convolution("aten.conv1d.padding"),
    convolution("aten.conv2d.default"),
    convolution("aten.conv2d.padding"),
    convolution("aten.conv3d.default"),
    convolution("aten.conv3d.padding"),
    convolution("aten.conv_transpose1d.default"),
    convolution("aten.conv_transpose2d.input"),
    convolution("aten.conv_transpose3d.input"),
    row("aten.linear.default",
        linear,
        linear_stacked,
        "baddbmm; shared input: one product with K*O outputs"),
    row("aten.addmm.default", addmm, addmm_stacked, "as linear"),
    row("aten.embedding.default", boxed, embedding_stacked, "one table of K*V rows"),
    row("aten.lstm.input", recurrent, recurrent_stacked, "bmm of all steps, baddbmm of each"),
    row("aten.gru.input", recurrent, recurrent_stacked, "as lstm"),
    row("aten.rnn_tanh.input", recurrent, recurrent_stacked, "as lstm"),
    row("aten.rnn_relu.input", recurrent, recurrent_stacked, "as lstm"),
    row("aten.prelu.default", boxed, prelu_stacked, "slopes aligned"),
    // products of what was computed
    row("aten.matmul.default", boxed, matmul_stacked, "one product; K in front"),
    row("aten.mm.default", boxed, mm_stacked, "as matmul"),
    row("aten.bmm.default", boxed, mm_stacked, "as matmul"),
    row("aten.mv.default", boxed, mv_stacked, "as matmul"),
    row("aten.baddbmm.default", boxed, baddbmm_stacked, "as matmul"),
    row("aten.scaled_dot_product_attention.default",
        attention,
        attention_stacked,
        "K times the batch; with dropout written out, on our masks"),
    // norms
    row("aten.batch_norm.default", batch_norm, batch_norm_stacked, "K*C channels"),
    row("hydro.batch_norm",
        batch_norm_training,
        batch_norm_training_stacked,
        "K*C channels, new statistics out"),
    row("aten.layer_norm.default", boxed, layer_norm_stacked, "gain and shift afterwards"),
    row("aten.rms_norm.default", boxed, rms_norm_stacked, "gain afterwards"),
    row("aten.group_norm.default", boxed, group_norm_stacked, "K*C channels in K*G groups"),
    row("aten.instance_norm.default", boxed, instance_norm_stacked, "K*C channels"),
    // what sees channels alone
    channels("aten.max_pool1d.default"),
    channels("aten.max_pool2d.default"),
    channels("aten.max_pool3d.default"),
    channels("aten.max_pool2d_with_indices.default"),
    channels("aten.avg_pool1d.default"),
    channels("aten.avg_pool2d.default"),
    channels("aten.avg_pool3d.default"),
    channels("aten.adaptive_avg_pool1d.default"),
    channels("aten.adaptive_avg_pool2d.default"),
    channels("aten.adaptive_avg_pool3d.default"),
    channels("aten.adaptive_max_pool1d.default"),
    channels("aten.adaptive_max_pool2d.default"),
    channels("aten.adaptive_max_pool3d.default"),
    channels("aten.upsample_nearest1d.vec"),
    channels("aten.upsample_nearest2d.vec"),
    channels("aten.upsample_bilinear2d.vec"),
    channels("aten.upsample_bicubic2d.vec"),
    row("aten.pad.default",
        boxed,
        pad_stacked,
        "constant: K untouched; other modes: K*C channels"),
    // element by element
    row("aten.add.Tensor", add, add, "operands aligned"),
    row("aten.add.Scalar", add, add),
    row("aten.sub.Tensor", sub, sub, "operands aligned"),
    row("aten.sub.Scalar", sub, sub),
    row("aten.mul.Tensor", mul, mul, "operands aligned"),
    row("aten.mul.Scalar", mul, mul),
    row("aten.div.Tensor", div, div, "operands aligned"),
    row("aten.div.Scalar", div, div),
    row("aten.relu.default", relu, relu),
    row("aten.tanh.default", tanh, tanh),
    row("aten.sigmoid.default", sigmoid, sigmoid),
    row("aten.gelu.default", gelu, gelu),
    row("aten.silu.default", silu, silu),
    pointwise("aten.relu6.default"),
    pointwise("aten.hardtanh.default"),
    pointwise("aten.leaky_relu.default"),
    pointwise("aten.hardswish.default"),
    pointwise("aten.hardsigmoid.default"),
    pointwise("aten.elu.default"),
    pointwise("aten.selu.default"),
    pointwise("aten.celu.default"),
    pointwise("aten.mish.default"),
    pointwise("aten.softplus.default"),
    pointwise("aten.log_sigmoid.default"),
    pointwise("aten.hardshrink.default"),
    pointwise("aten.softshrink.default"),
    pointwise("aten.threshold.default"),
    pointwise("aten.neg.default"),
    pointwise("aten.exp.default"),
    pointwise("aten.log.default"),
    pointwise("aten.sqrt.default"),
    pointwise("aten.rsqrt.default"),
    pointwise("aten.pow.Tensor_Scalar"),
    pointwise("aten.pow.Tensor_Tensor"),
    pointwise("aten.abs.default"),
    pointwise("aten.sin.default"),
    pointwise("aten.cos.default"),
    pointwise("aten.floor.default"),
    pointwise("aten.clamp.default"),
    pointwise("aten.maximum.default"),
    pointwise("aten.minimum.default"),
    pointwise("aten.rsub.Scalar"),
    pointwise("aten.eq.Scalar"),
    pointwise("aten.eq.Tensor"),
    pointwise("aten.ne.Scalar"),
    pointwise("aten.ne.Tensor"),
    pointwise("aten.lt.Scalar"),
    pointwise("aten.lt.Tensor"),
    pointwise("aten.le.Scalar"),
    pointwise("aten.le.Tensor"),
    pointwise("aten.gt.Scalar"),
    pointwise("aten.gt.Tensor"),
    pointwise("aten.ge.Scalar"),
    pointwise("aten.ge.Tensor"),
    pointwise("aten.__and__.Tensor"),
    pointwise("aten.__or__.Tensor"),
    pointwise("aten.logical_not.default"),
    pointwise("aten.where.self"),
    pointwise("aten.where.ScalarOther"),
    pointwise("aten.where.ScalarSelf"),
    row("aten.masked_fill.Scalar", boxed, masked_fill_stacked, "operands aligned"),
    row("aten.masked_fill.Tensor", boxed, masked_fill_stacked, "operands aligned"),
    pointwise("aten.clone.default"),
    row("aten.contiguous.default", forward_value, forward_value, "layouts are ours: no copy"),
    row("aten.alias.default", forward_value, forward_value),
    row("aten.detach.default", detach, detach),
    row("aten.to.dtype", to_dtype, to_dtype),
    pointwise("aten.to.device"),
    pointwise("aten.to.dtype_layout"),
    pointwise("aten._to_copy.default"),
    // random numbers
    random("aten.dropout.default", dropout),
    random("aten.feature_dropout.default", feature_dropout),
    random("aten.alpha_dropout.default", alpha_dropout),
    random("aten.feature_alpha_dropout.default", feature_alpha_dropout),
    random("aten.native_dropout.default", native_dropout),
    random("aten.rrelu.default", rrelu),
    random("aten.rand.default", rand),
    random("aten.rand_like.default", rand_like),
    random("aten.randn.default", randn),
    random("aten.randn_like.default", randn_like),
    random("aten.randint.default", randint),
    random("aten.randint.low", randint),
    random("aten.randint_like.default", randint_like),
    random("aten.randint_like.low_dtype", randint_like),
    random("aten.randperm.default", randperm),
    random("aten.bernoulli.default", bernoulli),
    random("aten.bernoulli.p", bernoulli),
    random("aten.uniform.default", uniform),
    random("aten.normal_functional.default", normal_like),
    random("aten.normal.float_float", normal),
    random("aten.normal.Tensor_float", normal),
    random("aten.normal.float_Tensor", normal),
    random("aten.normal.Tensor_Tensor", normal),
    random("aten.exponential.default", exponential),
    // along dimensions
    shifted("aten.softmax.int"),
    shifted("aten._softmax.default"),
    shifted("aten.log_softmax.int"),
    shifted("aten._log_softmax.default"),
    shifted("aten.glu.default"),
    shifted("aten.cumsum.default"),
    shifted("aten.logsumexp.default"),
    shifted("aten.amax.default"),
    shifted("aten.amin.default"),
    shifted("aten.max.dim"),
    shifted("aten.argmax.default"),
    shifted("aten.var.correction"),
    shifted("aten.linalg_vector_norm.default"),
    row("aten.mean.default", mean, mean, "all dimensions but K"),
    row("aten.mean.dim", mean, mean),
    row("aten.sum.default", sum, sum, "all dimensions but K"),
    row("aten.sum.dim_IntList", sum, sum),
    // shapes
    row("aten.view.default", reshape, reshape, "K in front of the sizes"),
    row("aten._unsafe_view.default", reshape, reshape, "K in front of the sizes"),
    row("aten.reshape.default", reshape, reshape, "K in front of the sizes"),
    row("aten.flatten.using_ints", flatten, flatten),
    shifted("aten.unflatten.int"),
    row("aten.permute.default", permute, permute),
    row("aten.transpose.int", transpose, transpose),
    row("aten.t.default", boxed, t_stacked),
    row("aten.unsqueeze.default", unsqueeze, unsqueeze),
    row("aten.squeeze.default", squeeze, squeeze, "all dimensions but K"),
    row("aten.squeeze.dim", squeeze_dims, squeeze_dims),
    row("aten.squeeze.dims", squeeze_dims, squeeze_dims),
    row("aten.expand.default", boxed, expand_stacked, "K in front of the sizes"),
    shifted("aten.swapaxes.default"),
    shifted("aten.movedim.int"),
    shifted("aten.roll.default"),
    shifted("aten.flip.default"),
    shifted("aten.tril.default"),
    shifted("aten.triu.default"),
    // parts
    row("aten.slice.Tensor", slice, slice),
    row("aten.select.int", select, select),
    row("aten.slice_scatter.default", slice_scatter, slice_scatter),
    row("aten.select_scatter.default", select_scatter, select_scatter),
    shifted("aten.narrow.default"),
    shifted("aten.split.Tensor"),
    shifted("aten.split_with_sizes.default"),
    shifted("aten.chunk.default"),
    shifted("aten.unbind.int"),
    shifted("aten.stack.default"),
    row("aten.cat.default", cat, cat, "a shared part is copied K times"),
    shifted("aten.gather.default"),
    row("aten.index.Tensor", boxed, index_stacked, "shared indices behind K"),
    // sizes
    row("aten.sym_size.int", size_of, size_of, "the size in one trial"),
    row("sym.add", size_add, size_add),
    row("sym.sub", size_sub, size_sub),
    row("sym.mul", size_mul, size_mul),
    row("sym.floordiv", size_floor_div, size_floor_div),
    row("sym.mod", size_mod, size_mod),
});

}  // namespace

std::span<const Row> table() {
  return kRows;
}

const Row* find_row(std::string_view op) {
  const auto* row = std::ranges::find(kRows, op, &Row::op);
  return row == kRows.end() ? nullptr : &*row;
}

}  // namespace hydro::ops
