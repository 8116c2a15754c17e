// Parity cases of scaled dot product attention: ranks, masks of trials and of all, causal,
// scaled, grouped heads, dropout.
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "hydro/ops/testing.h"
#include "hydro/ops/torch.h"

namespace hydro::ops {

namespace {

struct Args {
  Ints query = {2, 3, 7, 4};
  Ints key = {2, 3, 5, 4};
  Ints value = {2, 3, 5, 6};
  Ints mask = {};
  Role mask_role = Role::kConstant;
  bool is_causal = false;
  std::optional<double> scale = {};
  bool shares_keys = false;
  double dropout = 0;
};

std::string text_of(const Args& a) {
  return "query=%q, key=%k, value=%v, attn_mask=" +
         std::string(a.mask.empty() ? "None" : "%m") +
         ", dropout_p=" + std::to_string(a.dropout) + ", is_causal=" + word(a.is_causal) +
         ", scale=" + (a.scale ? std::to_string(*a.scale) : "None") +
         ", enable_gqa=" + word(a.shares_keys);
}

std::vector<Operand> operands_of(const Args& a) {
  std::vector<Operand> operands = {
      {"q", a.query}, {"k", a.key, Role::kState}, {"v", a.value, Role::kState}};
  if (!a.mask.empty()) {
    operands.push_back({"m", a.mask, a.mask_role});
  }
  return operands;
}

/// Written out, with the mask that the trial draws: softmax(scale Q K' + mask) * drawn V.
at::Tensor dropped_attention(const Args& a, const Tensors& in, std::uint64_t key) {
  const double scale = a.scale.value_or(1 / std::sqrt(static_cast<double>(in[0].size(-1))));
  at::Tensor logits = at::matmul(in[0], in[1].transpose(-2, -1)) * scale;
  if (a.is_causal) {
    const at::Tensor seen = at::ones({logits.size(-2), logits.size(-1)}, at::kBool).tril();
    logits = logits.masked_fill(~seen, -std::numeric_limits<double>::infinity());
  }
  if (!a.mask.empty()) {
    logits = logits + in[3];
  }
  const at::Tensor weights = at::softmax(logits, -1);
  return at::matmul(weights * drawn_mask(weights.sizes().vec(), a.dropout, key, in[0]), in[2]);
}

Case attention_case(const Args& a) {
  return one_node("aten.scaled_dot_product_attention.default",
                  operands_of(a),
                  static_cast<int>(a.query.size()),
                  text_of(a),
                  [a](const Tensors& in, std::uint64_t key) {
                    if (a.dropout > 0) {
                      return Tensors{dropped_attention(a, in, key)};
                    }
                    const std::optional<at::Tensor> mask =
                        a.mask.empty() ? std::nullopt : std::optional(in[3]);
                    return Tensors{at::scaled_dot_product_attention(
                        in[0], in[1], in[2], mask, 0.0, a.is_causal, a.scale, a.shares_keys)};
                  });
}

void add_masks(std::vector<Case>& cases) {
  for (const Ints& mask : {Ints{7, 5},
                           Ints{1, 1, 7, 5},
                           Ints{3, 7, 5},
                           Ints{2, 1, 7, 5},
                           Ints{2, 3, 7, 5},
                           Ints{2, 1, 1, 5}}) {
    cases.push_back(attention_case({.mask = mask}));
  }
  // Learned: a bias a head, as in Swin; one a sample.
  for (const Ints& mask : {Ints{3, 7, 5}, Ints{1, 3, 7, 5}, Ints{2, 1, 7, 5}}) {
    cases.push_back(attention_case({.mask = mask, .mask_role = Role::kState}));
  }
}

}  // namespace

std::vector<Case> attention_cases() {
  std::vector<Case> cases;
  const Ints square = {2, 3, 7, 4};
  cases.push_back(attention_case({}));
  cases.push_back(attention_case({.query = {2, 7, 4}, .key = {2, 5, 4}, .value = {2, 5, 6}}));
  cases.push_back(attention_case({.query = {7, 4}, .key = {5, 4}, .value = {5, 6}}));
  cases.push_back(attention_case(
      {.query = {2, 2, 3, 7, 4}, .key = {2, 2, 3, 5, 4}, .value = {2, 2, 3, 5, 6}}));
  cases.push_back(attention_case({.key = square, .value = square, .is_causal = true}));
  cases.push_back(attention_case({.scale = 0.3}));
  cases.push_back(attention_case({.query = {2, 6, 7, 4}, .shares_keys = true}));
  add_masks(cases);
  cases.push_back(attention_case({.dropout = 0.4}));
  cases.push_back(
      attention_case({.query = {7, 4}, .key = {5, 4}, .value = {5, 6}, .dropout = 0.4}));
  cases.push_back(attention_case(
      {.key = square, .value = square, .is_causal = true, .scale = 0.3, .dropout = 0.4}));
  cases.push_back(
      attention_case({.mask = {3, 7, 5}, .mask_role = Role::kState, .dropout = 0.4}));
  return cases;
}

}  // namespace hydro::ops
