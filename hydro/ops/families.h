// hydro/ops/families.h — the functions behind the rows of the table, one group a source file.
// `x_stacked` runs K trials; a function without
// a stacked twin runs both, or the one trial is libtorch's own op.
#pragma once

namespace hydro::ops {

class Call;

// boxed.cpp, lowerings.cpp, vmap.cpp: libtorch's own op. One trial, or all operands shared.
void boxed(const Call& call);
// K trials: operands broadcast at the result's axis and rank,
void boxed_aligned(const Call& call);
// with the axis in front, each dimension argument one further,
void boxed_shifted(const Call& call);
// as K*C channels,
void boxed_channels(const Call& call);
// or by vmap; one by one where vmap cannot.
void boxed_stacked(const Call& call);
// conv.cpp
void conv_stacked(const Call& call);
void pad_stacked(const Call& call);
// norm.cpp
void batch_norm(const Call& call);
void batch_norm_stacked(const Call& call);
void batch_norm_training(const Call& call);
void batch_norm_training_stacked(const Call& call);
// layer_norm.cpp
void layer_norm_stacked(const Call& call);
void rms_norm_stacked(const Call& call);
void group_norm_stacked(const Call& call);
void instance_norm_stacked(const Call& call);
// linear.cpp
void linear(const Call& call);
void linear_stacked(const Call& call);
void addmm(const Call& call);
void addmm_stacked(const Call& call);
// matmul.cpp
void matmul_stacked(const Call& call);
void mm_stacked(const Call& call);
void mv_stacked(const Call& call);
void baddbmm_stacked(const Call& call);
// embedding.cpp
void embedding_stacked(const Call& call);
// attention.cpp
void attention(const Call& call);
void attention_stacked(const Call& call);
// recurrent.cpp
void recurrent(const Call& call);
void recurrent_stacked(const Call& call);
// pointwise.cpp
void add(const Call& call);
void sub(const Call& call);
void mul(const Call& call);
void div(const Call& call);
void relu(const Call& call);
void tanh(const Call& call);
void sigmoid(const Call& call);
void gelu(const Call& call);
void silu(const Call& call);
void masked_fill_stacked(const Call& call);
void prelu_stacked(const Call& call);
void forward_value(const Call& call);
void detach(const Call& call);
void to_dtype(const Call& call);
// dropout.cpp
void dropout(const Call& call);
void feature_dropout(const Call& call);
void alpha_dropout(const Call& call);
void feature_alpha_dropout(const Call& call);
void native_dropout(const Call& call);
// random.cpp
void rand(const Call& call);
void rand_like(const Call& call);
void randn(const Call& call);
void randn_like(const Call& call);
void randint(const Call& call);
void randint_like(const Call& call);
void randperm(const Call& call);
void bernoulli(const Call& call);
void uniform(const Call& call);
void normal(const Call& call);
void normal_like(const Call& call);
void exponential(const Call& call);
void rrelu(const Call& call);
// shape.cpp
void reshape(const Call& call);
void flatten(const Call& call);
void permute(const Call& call);
void transpose(const Call& call);
void unsqueeze(const Call& call);
void squeeze(const Call& call);
void squeeze_dims(const Call& call);
void mean(const Call& call);
void sum(const Call& call);
void slice(const Call& call);
void select(const Call& call);
void slice_scatter(const Call& call);
void select_scatter(const Call& call);
void cat(const Call& call);
// index.cpp
void expand_stacked(const Call& call);
void t_stacked(const Call& call);
void index_stacked(const Call& call);
// sym.cpp
void size_of(const Call& call);
void size_add(const Call& call);
void size_sub(const Call& call);
void size_mul(const Call& call);
void size_floor_div(const Call& call);
void size_mod(const Call& call);

}  // namespace hydro::ops
