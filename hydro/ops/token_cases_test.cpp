// Parity cases of what works on tokens: embedding, norms along a token's width, products of
// two computed matrices.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "hydro/ops/testing.h"
#include "hydro/ops/torch.h"

namespace hydro::ops {

namespace {

struct EmbeddingArgs {
  std::int64_t rows = 200;
  std::int64_t width = 50;
  Ints ids = {20};
  std::int64_t padding = -1;
  bool by_frequency = false;
  Role table = Role::kState;
};

Case embedding_case(const EmbeddingArgs& a) {
  return one_node("aten.embedding.default",
                  {{"w", {a.rows, a.width}, a.table}, {"i", a.ids, Role::kIds, a.rows}},
                  static_cast<int>(a.ids.size()) + 1,
                  "weight=%w, indices=%i, padding_idx=" + std::to_string(a.padding) +
                      ", scale_grad_by_freq=" + word(a.by_frequency) + ", sparse=False",
                  [a](const Tensors& in, std::uint64_t) {
                    return Tensors{at::embedding(in[0], in[1], a.padding, a.by_frequency)};
                  });
}

void add_embeddings(std::vector<Case>& cases) {
  for (const EmbeddingArgs& a : {EmbeddingArgs{},
                                 EmbeddingArgs{.rows = 50},
                                 EmbeddingArgs{.rows = 2000},
                                 EmbeddingArgs{.width = 32},
                                 EmbeddingArgs{.width = 128},
                                 EmbeddingArgs{.width = 786},
                                 EmbeddingArgs{.ids = {32}},
                                 EmbeddingArgs{.ids = {16, 16}},
                                 EmbeddingArgs{.ids = {8, 8, 8}},
                                 EmbeddingArgs{.ids = {512}},
                                 EmbeddingArgs{.rows = 5, .padding = 0},
                                 EmbeddingArgs{.rows = 5, .ids = {4, 8}, .padding = 4},
                                 EmbeddingArgs{.rows = 5, .by_frequency = true},
                                 EmbeddingArgs{.table = Role::kConstant}}) {
    cases.push_back(embedding_case(a));
  }
}

struct LayerNormArgs {
  Ints input;
  Ints shape;
  bool gain = true;
  bool shift = true;
};

std::string given(bool is_given, const char* value) {
  return is_given ? std::string("%") + value : "None";
}

Case layer_norm_case(const LayerNormArgs& a) {
  std::vector<Operand> operands = x_of(a.input);
  if (a.gain) {
    operands.push_back({"g", a.shape, Role::kState});
  }
  if (a.shift) {
    operands.push_back({"b", a.shape, Role::kState});
  }
  return one_node("aten.layer_norm.default",
                  operands,
                  static_cast<int>(a.input.size()),
                  "input=%x, normalized_shape=" + list(a.shape) + ", weight=" +
                      given(a.gain, "g") + ", bias=" + given(a.shift, "b") + ", eps=1e-05",
                  [a](const Tensors& in, std::uint64_t) {
                    const at::Tensor gain = a.gain ? in[1] : at::Tensor();
                    const at::Tensor shift = a.shift ? in.back() : at::Tensor();
                    return Tensors{at::layer_norm(in[0], a.shape, gain, shift)};
                  });
}

void add_layer_norms(std::vector<Case>& cases) {
  for (const Ints& shape : {Ints{8, 10, 20}, Ints{20}, Ints{10, 20}}) {
    for (const bool affine : {true, false}) {
      cases.push_back(layer_norm_case(
          {.input = {3, 8, 10, 20}, .shape = shape, .gain = affine, .shift = affine}));
    }
  }
  cases.push_back(layer_norm_case({.input = {64, 200}, .shape = {200}}));
  cases.push_back(layer_norm_case({.input = {20}, .shape = {20}}));
  cases.push_back(layer_norm_case({.input = {4, 20}, .shape = {20}, .shift = false}));
  cases.push_back(layer_norm_case({.input = {4, 20}, .shape = {20}, .gain = false}));
  cases.push_back(
      simple("aten.rms_norm.default",
             {{"x", {4, 6, 20}}, {"g", {20}, Role::kState}},
             3,
             "input=%x, normalized_shape=[20], weight=%g, eps=1e-06",
             [](const Tensors& in) { return at::rms_norm(in[0], {20}, in[1], 1e-6); }));
  cases.push_back(simple("aten.rms_norm.default",
                         x_of({4, 20}),
                         2,
                         "input=%x, normalized_shape=[20], weight=None, eps=None",
                         [](const Tensors& in) { return at::rms_norm(in[0], {20}); }));
}

Case matmul_case(const Ints& left, const Ints& right, Role role, int rank) {
  return simple("aten.matmul.default",
                {{"x", left}, {"w", right, role}},
                rank,
                "self=%x, other=%w",
                [](const Tensors& in) { return at::matmul(in[0], in[1]); });
}

/// Every pair of ranks, batches that broadcast, and a matrix for all samples.
void add_matmuls(std::vector<Case>& cases) {
  for (const Role role : {Role::kState, Role::kConstant}) {
    cases.push_back(matmul_case({2, 3, 4, 5}, {2, 3, 5, 6}, role, 4));
    cases.push_back(matmul_case({2, 3, 4, 5}, {3, 5, 6}, role, 4));
    cases.push_back(matmul_case({3, 4, 5}, {2, 1, 5, 6}, role, 4));
    cases.push_back(matmul_case({2, 3, 4, 5}, {5, 6}, role, 4));
    cases.push_back(matmul_case({4, 5}, {5, 6}, role, 2));
    cases.push_back(matmul_case({4, 5}, {2, 5, 6}, role, 3));
    cases.push_back(matmul_case({5}, {5, 6}, role, 1));
    cases.push_back(matmul_case({5}, {2, 5, 6}, role, 2));
    cases.push_back(matmul_case({2, 4, 5}, {5}, role, 2));
    cases.push_back(matmul_case({5}, {5}, role, 0));
  }
  cases.push_back(simple("aten.mm.default",
                         {{"x", {4, 5}}, {"w", {5, 6}, Role::kState}},
                         2,
                         "self=%x, mat2=%w",
                         [](const Tensors& in) { return at::mm(in[0], in[1]); }));
  cases.push_back(simple("aten.bmm.default",
                         {{"x", {3, 4, 5}}, {"w", {3, 5, 6}, Role::kState}},
                         3,
                         "self=%x, mat2=%w",
                         [](const Tensors& in) { return at::bmm(in[0], in[1]); }));
  cases.push_back(simple("aten.mv.default",
                         {{"x", {4, 5}}, {"w", {5}, Role::kState}},
                         1,
                         "self=%x, vec=%w",
                         [](const Tensors& in) { return at::mv(in[0], in[1]); }));
  for (const Ints& shift : {Ints{3, 4, 6}, Ints{6}, Ints{3, 1, 6}}) {
    cases.push_back(
        simple("aten.baddbmm.default",
               {{"x", {3, 4, 5}}, {"w", {3, 5, 6}, Role::kState}, {"s", shift, Role::kState}},
               3,
               "self=%s, batch1=%x, batch2=%w, beta=0.5, alpha=2",
               [](const Tensors& in) { return at::baddbmm(in[2], in[0], in[1], 0.5, 2); }));
  }
}

}  // namespace

std::vector<Case> token_cases() {
  std::vector<Case> cases;
  add_embeddings(cases);
  add_layer_norms(cases);
  add_matmuls(cases);
  return cases;
}

}  // namespace hydro::ops
