// Parity cases of products with weights, arithmetic and sizes.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hydro/ops/testing.h"
#include "hydro/ops/torch.h"

namespace hydro::ops {

namespace {

Case linear_case(const Ints& input, std::int64_t out, bool bias) {
  std::vector<Operand> operands = {{"x", input}, {"w", {out, input.back()}, Role::kState}};
  if (bias) {
    operands.push_back({"b", {out}, Role::kState});
  }
  return one_node(
      "aten.linear.default",
      operands,
      static_cast<int>(input.size()),
      std::string("input=%x, weight=%w, bias=") + (bias ? "%b" : "None"),
      [bias](const Tensors& in, std::uint64_t) {
        return Tensors{at::linear(in[0], in[1], bias ? std::optional(in[2]) : std::nullopt)};
      });
}

void add_products(std::vector<Case>& cases) {
  for (const Ints& input : {Ints{32, 8, 20},
                            Ints{1, 8, 20},
                            Ints{64, 8, 20},
                            Ints{8, 1, 20},
                            Ints{8, 32, 20},
                            Ints{8, 256},
                            Ints{8, 1},
                            Ints{20},
                            Ints{2, 3, 4, 10}}) {
    cases.push_back(linear_case(input, 50, true));
  }
  cases.push_back(linear_case({32, 20}, 100, true));
  cases.push_back(linear_case({32, 20}, 1, true));
  cases.push_back(linear_case({32, 8, 20}, 50, false));
  const auto operands = [](Ints shift) {
    return std::vector<Operand>{
        {"x", {6, 5}}, {"s", std::move(shift), Role::kState}, {"w", {5, 7}, Role::kState}};
  };
  for (const Ints& shift : {Ints{7}, Ints{6, 7}, Ints{1, 7}}) {
    cases.push_back(
        simple("aten.addmm.default",
               operands(shift),
               2,
               "self=%s, mat1=%x, mat2=%w, beta=0.5, alpha=2",
               [](const Tensors& in) { return at::addmm(in[1], in[0], in[2], 0.5, 2); }));
  }
}

void add_sums(std::vector<Case>& cases) {
  const std::vector<Operand> row = {{"x", {4, 6, 5}}, {"o", {5}, Role::kState}};
  const std::vector<Operand> column = {{"x", {4, 6, 5}}, {"o", {6, 1}, Role::kState}};
  const std::vector<Operand> constant = {{"x", {4, 6, 5}}, {"o", {6, 5}, Role::kConstant}};
  const std::vector<Operand> taller = {{"x", {6, 5}}, {"o", {4, 6, 5}, Role::kState}};
  for (const auto& operands : {row, column, constant, taller}) {
    cases.push_back(simple(
        "aten.add.Tensor", operands, 3, "self=%x, other=%o, alpha=2", [](const Tensors& in) {
          return at::add(in[0], in[1], 2);
        }));
    cases.push_back(simple(
        "aten.sub.Tensor", operands, 3, "self=%x, other=%o, alpha=1", [](const Tensors& in) {
          return at::sub(in[0], in[1]);
        }));
    cases.push_back(
        simple("aten.mul.Tensor", operands, 3, "self=%x, other=%o", [](const Tensors& in) {
          return at::mul(in[0], in[1]);
        }));
  }
  cases.push_back(simple("aten.div.Tensor",
                         {{"x", {4, 5}}, {"o", {5}, Role::kVariance}},
                         2,
                         "self=%x, other=%o",
                         [](const Tensors& in) { return at::div(in[0], in[1]); }));
}

void add_numbers(std::vector<Case>& cases) {
  cases.push_back(simple(
      "aten.add.Tensor", x_of({4, 5}), 2, "self=%x, other=1.5, alpha=2", [](const Tensors& in) {
        return at::add(in[0], 1.5, 2);
      }));
  cases.push_back(simple(
      "aten.add.Scalar", x_of({4, 5}), 2, "self=%x, other=3, alpha=1", [](const Tensors& in) {
        return at::add(in[0], 3);
      }));
  cases.push_back(simple(
      "aten.sub.Tensor", x_of({4, 5}), 2, "self=1.0, other=%x, alpha=1", [](const Tensors& in) {
        return 1.0 - in[0];
      }));
  cases.push_back(simple(
      "aten.sub.Scalar", x_of({4, 5}), 2, "self=%x, other=2.5, alpha=1", [](const Tensors& in) {
        return at::sub(in[0], 2.5);
      }));
  cases.push_back(
      simple("aten.mul.Tensor", x_of({4, 5}), 2, "self=%x, other=0.125", [](const Tensors& in) {
        return at::mul(in[0], 0.125);
      }));
  cases.push_back(
      simple("aten.mul.Tensor", x_of({4, 5}), 2, "self=%x, other=True", [](const Tensors& in) {
        return at::mul(in[0], true);
      }));
  cases.push_back(
      simple("aten.mul.Scalar", x_of({4, 5}), 2, "self=%x, other=2.5", [](const Tensors& in) {
        return at::mul(in[0], 2.5);
      }));
  cases.push_back(
      simple("aten.div.Tensor", x_of({4, 5}), 2, "self=%x, other=8", [](const Tensors& in) {
        return at::div(in[0], 8);
      }));
  cases.push_back(
      simple("aten.div.Scalar", x_of({4, 5}), 2, "self=%x, other=2.5", [](const Tensors& in) {
        return at::div(in[0], 2.5);
      }));
}

/// x [4, 6] viewed as [SIZE, -1], where SIZE is computed from the batch by `expression`.
Case size_case(std::string_view op, const std::string& expression, std::int64_t rows) {
  return {
      .op = op,
      .operands = x_of({4, 6}),
      .body = "  %n: int(4) = aten.sym_size.int(self=%x, dim=0)\n  %m: int(1) = " + expression +
              "\n" + node_text("y", 2, "aten.view.default", "self=%x, size=[%m, -1]"),
      .results = {"y"},
      .reference = [rows](const Tensors& in, std::uint64_t) {
        return Tensors{in[0].view({rows, -1})};
      }};
}

void add_sizes(std::vector<Case>& cases) {
  cases.push_back(size_case("aten.sym_size.int", "aten.sym_size.int(self=%x, dim=-1)", 6));
  cases.push_back(size_case("sym.add", "sym.add(a=%n, b=8)", 12));
  cases.push_back(size_case("sym.sub", "sym.sub(a=%n, b=2)", 2));
  cases.push_back(size_case("sym.mul", "sym.mul(a=3, b=%n)", 12));
  cases.push_back(size_case("sym.floordiv", "sym.floordiv(a=%n, b=2)", 2));
  cases.push_back(size_case("sym.mod", "sym.mod(a=%n, b=3)", 1));
}

}  // namespace

std::vector<Case> value_cases() {
  std::vector<Case> cases;
  add_products(cases);
  add_sums(cases);
  add_numbers(cases);
  add_sizes(cases);
  return cases;
}

}  // namespace hydro::ops
