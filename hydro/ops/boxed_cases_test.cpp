// Parity cases of ops without a row: pointwise ones, ones with a rule in vmap, and ones where
// vmap fails, so that trials run one after the other.
#include <cstdint>
#include <string_view>
#include <vector>

#include "hydro/ops/testing.h"
#include "hydro/ops/torch.h"

namespace hydro::ops {

namespace {

std::vector<Operand> two(const Ints& x, const Ints& w) {
  return {{"x", x}, {"w", w, Role::kState}};
}

void add_pointwise(std::vector<Case>& cases) {
  cases.push_back(
      simple("aten.atan.default", {{"x", {4, 6}}}, 2, "self=%x", [](const Tensors& in) {
        return at::atan(in[0]);
      }));
  cases.push_back(simple("aten.atan2.default",
                         two({4, 6, 5}, {6, 1}),
                         3,
                         "self=%x, other=%w",
                         [](const Tensors& in) { return at::atan2(in[0], in[1]); }));
  cases.push_back(simple(
      "aten.logit.default", {{"x", {4, 6}}}, 2, "self=%x, eps=0.3", [](const Tensors& in) {
        return at::logit(in[0], 0.3);
      }));
}

/// Lists of tensors, several results, numbers for tensors, integers computed in the graph.
void add_vmapped(std::vector<Case>& cases) {
  cases.push_back(
      simple("aten.einsum.default",
             two({4, 6, 5}, {7, 5}),
             3,
             "equation=\"bij,kj->bik\", tensors=[%x, %w], path=None",
             [](const Tensors& in) { return at::einsum("bij,kj->bik", {in[0], in[1]}); }));
  cases.push_back(
      {.op = "aten.sort.default",
       .operands = {{"x", {4, 6}, Role::kState}},
       .body = "  %y: float32[1, 1], %i: int64[1, 1] = aten.sort.default(self=%x, dim=-1, "
               "descending=True)\n",
       .results = {"y", "i"},
       .reference = [](const Tensors& in, std::uint64_t) {
         const auto [y, indices] = at::sort(in[0], -1, true);
         return Tensors{y, indices};
       }});
  cases.push_back({.op = "aten.tensor_split.sections",
                   .operands = {{"x", {4, 6}, Role::kState}},
                   .body = "  %y: float32[1, 1], %z: float32[1, 1] = "
                           "aten.tensor_split.sections(self=%x, sections=2, dim=1)\n",
                   .results = {"y", "z"},
                   .reference = [](const Tensors& in, std::uint64_t) {
                     return at::tensor_split(in[0], 2, 1);
                   }});
  cases.push_back({.op = "aten.repeat.default",
                   .operands = two({4, 6}, {4, 6}),
                   .body = "  %n: int(4) = aten.sym_size.int(self=%x, dim=0)\n" +
                           node_text("y", 2, "aten.repeat.default", "self=%w, repeats=[%n, 2]"),
                   .results = {"y"},
                   .reference = [](const Tensors& in, std::uint64_t) {
                     return Tensors{in[1].repeat({4, 2})};
                   }});
  cases.push_back(simple("aten.norm.ScalarOpt_dim",
                         two({4, 6}, {1}),
                         1,
                         "self=%x, p=1.0, dim=[1], keepdim=False",
                         [](const Tensors& in) { return at::norm(in[0], 1.0, {1}); }));
}

/// vmap has a loop of its own where it has no rule, and refuses shapes that depend on values.
void add_looped(std::vector<Case>& cases) {
  cases.push_back({.op = "aten.rnn_tanh_cell.default",
                   .operands = {{"x", {4, 6}},
                                {"h", {4, 5}, Role::kState},
                                {"w", {5, 6}, Role::kState},
                                {"u", {5, 5}, Role::kState}},
                   .body = node_text("y",
                                     2,
                                     "aten.rnn_tanh_cell.default",
                                     "input=%x, hx=%h, w_ih=%w, w_hh=%u, b_ih=None, b_hh=None"),
                   .results = {"y"},
                   .reference = [](const Tensors& in, std::uint64_t) {
                     return Tensors{at::rnn_tanh_cell(in[0], in[1], in[2], in[3])};
                   }});
  cases.push_back(simple("aten.block_diag.default",
                         two({4, 6}, {2, 3}),
                         2,
                         "tensors=[%x, %w]",
                         [](const Tensors& in) { return at::block_diag({in[0], in[1]}); }));
  cases.push_back(
      simple("aten.pdist.default", {{"x", {6, 5}}}, 1, "self=%x, p=2.0", [](const Tensors& in) {
        return at::pdist(in[0], 2.0);
      }));
}

}  // namespace

std::vector<Case> boxed_cases() {
  std::vector<Case> cases;
  add_pointwise(cases);
  add_vmapped(cases);
  add_looped(cases);
  return cases;
}

}  // namespace hydro::ops
