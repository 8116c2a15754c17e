// hydro/ops/families.h — the functions behind the rows of the table, one group a source file.
// `x_stacked` runs K trials; a function without a stacked twin runs both.
#pragma once

namespace hydro::ops {

class Call;

// conv.cpp
void conv(const Call& call);
void conv_stacked(const Call& call);
void pad(const Call& call);
void pad_stacked(const Call& call);
// norm.cpp
void batch_norm(const Call& call);
void batch_norm_stacked(const Call& call);
void batch_norm_training(const Call& call);
void batch_norm_training_stacked(const Call& call);
// pool.cpp
void max_pool2d(const Call& call);
void max_pool2d_stacked(const Call& call);
void max_pool2d_indices(const Call& call);
void max_pool2d_indices_stacked(const Call& call);
void avg_pool2d(const Call& call);
void avg_pool2d_stacked(const Call& call);
void adaptive_avg_pool2d(const Call& call);
void adaptive_avg_pool2d_stacked(const Call& call);
// linear.cpp
void linear(const Call& call);
void linear_stacked(const Call& call);
void addmm(const Call& call);
void addmm_stacked(const Call& call);
// pointwise.cpp
void add(const Call& call);
void sub(const Call& call);
void mul(const Call& call);
void div(const Call& call);
void relu(const Call& call);
void hardtanh(const Call& call);
void relu6(const Call& call);
void leaky_relu(const Call& call);
void tanh(const Call& call);
void sigmoid(const Call& call);
void gelu(const Call& call);
void silu(const Call& call);
void neg(const Call& call);
void masked_fill(const Call& call);
void masked_fill_stacked(const Call& call);
void copy(const Call& call);
void forward_value(const Call& call);
void detach(const Call& call);
void to_dtype(const Call& call);
// dropout.cpp
void dropout(const Call& call);
void feature_dropout(const Call& call);
// shape.cpp
void reshape(const Call& call);
void flatten(const Call& call);
void permute(const Call& call);
void transpose(const Call& call);
void unsqueeze(const Call& call);
void squeeze(const Call& call);
void squeeze_dims(const Call& call);
void mean(const Call& call);
void slice(const Call& call);
void select(const Call& call);
void slice_scatter(const Call& call);
void select_scatter(const Call& call);
void cat(const Call& call);
// sym.cpp
void size_of(const Call& call);
void size_add(const Call& call);
void size_sub(const Call& call);
void size_mul(const Call& call);
void size_floor_div(const Call& call);
void size_mod(const Call& call);

}  // namespace hydro::ops
