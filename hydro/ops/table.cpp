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

// Best implementation of an op first. The tolerance is the default one of Row.
constexpr auto kRows = std::to_array<Row>({
    row("aten.conv1d.default", conv, conv_stacked, "K*C channels in K times the groups"),
    row("aten.conv2d.default",
        conv,
        conv_stacked,
        "K*C channels in K times the groups; shared input: K*O outputs"),
    row("aten.conv2d.padding", conv, conv_stacked, "as conv2d.default"),
    row("aten.pad.default",
        pad,
        pad_stacked,
        "constant: K untouched; other modes: K*C channels"),
    row("aten.batch_norm.default", batch_norm, batch_norm_stacked, "K*C channels"),
    row("hydro.batch_norm",
        batch_norm_training,
        batch_norm_training_stacked,
        "K*C channels, new statistics out"),
    row("aten.max_pool2d.default", max_pool2d, max_pool2d_stacked, "K*C channels"),
    row("aten.max_pool2d_with_indices.default",
        max_pool2d_indices,
        max_pool2d_indices_stacked,
        "K*C channels"),
    row("aten.avg_pool2d.default", avg_pool2d, avg_pool2d_stacked, "K*C channels"),
    row("aten.adaptive_avg_pool2d.default",
        adaptive_avg_pool2d,
        adaptive_avg_pool2d_stacked,
        "K*C channels"),
    row("aten.linear.default",
        linear,
        linear_stacked,
        "baddbmm; shared input: one product with K*O outputs"),
    row("aten.addmm.default", addmm, addmm_stacked, "as linear"),
    row("aten.add.Tensor", add, add, "operands aligned"),
    row("aten.add.Scalar", add, add),
    row("aten.sub.Tensor", sub, sub, "operands aligned"),
    row("aten.sub.Scalar", sub, sub),
    row("aten.mul.Tensor", mul, mul, "operands aligned"),
    row("aten.mul.Scalar", mul, mul),
    row("aten.div.Tensor", div, div, "operands aligned"),
    row("aten.div.Scalar", div, div),
    row("aten.relu.default", relu, relu),
    row("aten.relu6.default", relu6, relu6),
    row("aten.hardtanh.default", hardtanh, hardtanh),
    row("aten.leaky_relu.default", leaky_relu, leaky_relu),
    row("aten.tanh.default", tanh, tanh),
    row("aten.sigmoid.default", sigmoid, sigmoid),
    row("aten.gelu.default", gelu, gelu),
    row("aten.silu.default", silu, silu),
    row("aten.neg.default", neg, neg),
    row("aten.masked_fill.Scalar", masked_fill, masked_fill_stacked, "operands aligned"),
    row("aten.masked_fill.Tensor", masked_fill, masked_fill_stacked, "operands aligned"),
    row("aten.clone.default", copy, copy),
    row("aten.contiguous.default", forward_value, forward_value, "layouts are ours: no copy"),
    row("aten.alias.default", forward_value, forward_value),
    row("aten.detach.default", detach, detach),
    row("aten.to.dtype", to_dtype, to_dtype),
    row("aten.dropout.default", dropout, dropout, "one mask a trial, from the trial's key"),
    row("aten.feature_dropout.default",
        feature_dropout,
        feature_dropout,
        "one mask a trial, from the trial's key"),
    row("aten.view.default", reshape, reshape, "K in front of the sizes"),
    row("aten.reshape.default", reshape, reshape, "K in front of the sizes"),
    row("aten.flatten.using_ints", flatten, flatten),
    row("aten.permute.default", permute, permute),
    row("aten.transpose.int", transpose, transpose),
    row("aten.unsqueeze.default", unsqueeze, unsqueeze),
    row("aten.squeeze.default", squeeze, squeeze, "all dimensions but K"),
    row("aten.squeeze.dim", squeeze_dims, squeeze_dims),
    row("aten.squeeze.dims", squeeze_dims, squeeze_dims),
    row("aten.mean.default", mean, mean, "all dimensions but K"),
    row("aten.mean.dim", mean, mean),
    row("aten.slice.Tensor", slice, slice),
    row("aten.select.int", select, select),
    row("aten.slice_scatter.default", slice_scatter, slice_scatter),
    row("aten.select_scatter.default", select_scatter, select_scatter),
    row("aten.cat.default", cat, cat, "a shared part is copied K times"),
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
