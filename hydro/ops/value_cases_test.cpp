// Parity cases of linear, pointwise, dropout, shape and size ops.
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hydro/base/philox.h"
#include "hydro/ops/testing.h"
#include "hydro/ops/torch.h"

namespace hydro::ops {

namespace {

using Ints = std::vector<std::int64_t>;
using Plain = at::Tensor (*)(const Tensors& in);

/// A case of one node, its reference a plain expression.
Case simple(std::string_view op,
            std::vector<Operand> operands,
            int rank,
            std::string_view arguments,
            Plain plain) {
  return one_node(
      op, std::move(operands), rank, arguments, [plain](const Tensors& in, std::uint64_t) {
        return Tensors{plain(in)};
      });
}

std::vector<Operand> x_of(Ints shape) {
  return {{"x", std::move(shape)}};
}

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

void add_activations(std::vector<Case>& cases) {
  const std::vector<Operand> x = x_of({4, 3, 5, 5});
  const auto unary = [&](std::string_view op, std::string_view arguments, Plain plain) {
    cases.push_back(simple(op, x, 4, arguments, plain));
  };
  unary("aten.relu.default", "self=%x", [](const Tensors& in) { return at::relu(in[0]); });
  unary("aten.relu6.default", "self=%x", [](const Tensors& in) { return at::relu6(in[0]); });
  unary("aten.hardtanh.default", "self=%x, min_val=-0.5, max_val=1", [](const Tensors& in) {
    return at::hardtanh(in[0], -0.5, 1);
  });
  unary("aten.leaky_relu.default", "self=%x, negative_slope=0.2", [](const Tensors& in) {
    return at::leaky_relu(in[0], 0.2);
  });
  unary("aten.tanh.default", "self=%x", [](const Tensors& in) { return at::tanh(in[0]); });
  unary(
      "aten.sigmoid.default", "self=%x", [](const Tensors& in) { return at::sigmoid(in[0]); });
  unary("aten.gelu.default", "self=%x, approximate=\"none\"", [](const Tensors& in) {
    return at::gelu(in[0]);
  });
  unary("aten.gelu.default", "self=%x, approximate=\"tanh\"", [](const Tensors& in) {
    return at::gelu(in[0], "tanh");
  });
  unary("aten.silu.default", "self=%x", [](const Tensors& in) { return at::silu(in[0]); });
  unary("aten.neg.default", "self=%x", [](const Tensors& in) { return at::neg(in[0]); });
  unary("aten.clone.default", "self=%x, memory_format=None", [](const Tensors& in) {
    return in[0].clone();
  });
  unary("aten.contiguous.default", "self=%x", [](const Tensors& in) {
    return in[0].contiguous();
  });
  unary("aten.alias.default", "self=%x", [](const Tensors& in) { return in[0]; });
  unary("aten.detach.default", "self=%x", [](const Tensors& in) { return in[0].detach(); });
  unary("aten.to.dtype", "self=%x, dtype=float64", [](const Tensors& in) {
    return in[0].to(at::kDouble);
  });
  const std::vector<Operand> masked = {{"x", {4, 6}}, {"k", {4, 6}, Role::kMask}};
  cases.push_back(
      simple("aten.masked_fill.Scalar",
             masked,
             2,
             "self=%x, mask=%k, value=-2.5",
             [](const Tensors& in) { return at::masked_fill(in[0], in[1], -2.5); }));
  cases.push_back(simple("aten.masked_fill.Scalar",
                         {{"x", {4, 6}, Role::kState}, {"k", {6}, Role::kMask}},
                         2,
                         "self=%x, mask=%k, value=1",
                         [](const Tensors& in) { return at::masked_fill(in[0], in[1], 1); }));
  for (const Role role : {Role::kConstant, Role::kState}) {
    cases.push_back(
        simple("aten.masked_fill.Tensor",
               {{"x", {4, 6}}, {"k", {4, 6}, Role::kMask}, {"v", {}, role}},
               2,
               "self=%x, mask=%k, value=%v",
               [](const Tensors& in) { return at::masked_fill(in[0], in[1], in[2]); }));
  }
}

/// Node 0, step 9: where parity's programs draw.
at::Tensor keep(Ints sizes, double p, std::uint64_t key, const at::Tensor& like) {
  at::Tensor uniforms = at::empty(sizes, at::kDouble);
  fill_uniform({.key = key, .node = 0, .step = 9},
               0,
               std::span<double>(uniforms.mutable_data_ptr<double>(),
                                 static_cast<std::size_t>(uniforms.numel())));
  return uniforms.ge(p).to(like.scalar_type()) * (p < 1 ? 1 / (1 - p) : 0.0);
}

Case dropout_case(
    std::string_view op, const Ints& shape, const Ints& mask, double p, bool train) {
  return one_node(op,
                  x_of(shape),
                  static_cast<int>(shape.size()),
                  "input=%x, p=" + std::to_string(p) + ", train=" + (train ? "True" : "False"),
                  [=](const Tensors& in, std::uint64_t key) {
                    return Tensors{train && p > 0 ? in[0] * keep(mask, p, key, in[0]) : in[0]};
                  });
}

void add_dropouts(std::vector<Case>& cases) {
  for (const double p : {0.0, 0.25, 0.4, 0.99, 1.0}) {
    cases.push_back(dropout_case("aten.dropout.default", {7, 123}, {7, 123}, p, true));
    cases.push_back(
        dropout_case("aten.feature_dropout.default", {3, 50, 4, 4}, {3, 50, 1, 1}, p, true));
  }
  cases.push_back(dropout_case("aten.dropout.default", {7, 123}, {7, 123}, 0.5, false));
  cases.push_back(
      dropout_case("aten.feature_dropout.default", {3, 5, 4, 4}, {3, 5, 1, 1}, 0.5, false));
}

void add_shapes(std::vector<Case>& cases) {
  const std::vector<Operand> x = x_of({4, 6, 5});
  const auto shaped =
      [&](std::string_view op, int rank, std::string_view arguments, Plain plain) {
        cases.push_back(simple(op, x, rank, arguments, plain));
      };
  shaped("aten.view.default", 2, "self=%x, size=[4, -1]", [](const Tensors& in) {
    return in[0].view({4, -1});
  });
  shaped("aten.reshape.default", 2, "self=%x, shape=[-1, 10]", [](const Tensors& in) {
    return in[0].reshape({-1, 10});
  });
  shaped(
      "aten.flatten.using_ints", 2, "self=%x, start_dim=1, end_dim=-1", [](const Tensors& in) {
        return in[0].flatten(1);
      });
  shaped(
      "aten.flatten.using_ints", 1, "self=%x, start_dim=0, end_dim=-1", [](const Tensors& in) {
        return in[0].flatten();
      });
  shaped("aten.permute.default", 3, "self=%x, dims=[2, 0, -2]", [](const Tensors& in) {
    return in[0].permute({2, 0, 1});
  });
  shaped("aten.transpose.int", 3, "self=%x, dim0=0, dim1=-1", [](const Tensors& in) {
    return in[0].transpose(0, 2);
  });
  shaped("aten.unsqueeze.default", 4, "self=%x, dim=0", [](const Tensors& in) {
    return in[0].unsqueeze(0);
  });
  shaped("aten.unsqueeze.default", 4, "self=%x, dim=-1", [](const Tensors& in) {
    return in[0].unsqueeze(-1);
  });
  shaped("aten.mean.default", 0, "self=%x, dtype=None", [](const Tensors& in) {
    return in[0].mean();
  });
  shaped("aten.mean.dim",
         2,
         "self=%x, dim=[-1], keepdim=False, dtype=None",
         [](const Tensors& in) { return in[0].mean(2); });
  shaped("aten.mean.dim",
         3,
         "self=%x, dim=[0, 1], keepdim=True, dtype=None",
         [](const Tensors& in) { return in[0].mean(Ints{0, 1}, true); });
  shaped("aten.slice.Tensor",
         3,
         "self=%x, dim=1, start=1, end=9223372036854775807, step=2",
         [](const Tensors& in) { return in[0].slice(1, 1, std::nullopt, 2); });
  shaped("aten.slice.Tensor",
         3,
         "self=%x, dim=-1, start=None, end=-1, step=1",
         [](const Tensors& in) { return in[0].slice(2, 0, 4); });
  shaped("aten.select.int", 2, "self=%x, dim=0, index=-1", [](const Tensors& in) {
    return in[0].select(0, 3);
  });
}

/// Two tensors in one, and dimensions of size 1.
void add_joined_shapes(std::vector<Case>& cases) {
  for (const Role role : {Role::kState, Role::kConstant}) {
    cases.push_back(
        simple("aten.slice_scatter.default",
               {{"x", {4, 6, 5}}, {"s", {4, 2, 5}, role}},
               3,
               "self=%x, src=%s, dim=1, start=1, end=5, step=2",
               [](const Tensors& in) { return at::slice_scatter(in[0], in[1], 1, 1, 5, 2); }));
    cases.push_back(
        simple("aten.select_scatter.default",
               {{"x", {4, 6, 5}}, {"s", {4, 5}, role}},
               3,
               "self=%x, src=%s, dim=1, index=2",
               [](const Tensors& in) { return at::select_scatter(in[0], in[1], 1, 2); }));
    cases.push_back(simple("aten.cat.default",
                           {{"x", {4, 6, 5}}, {"s", {4, 2, 5}, role}},
                           3,
                           "tensors=[%x, %s], dim=-2",
                           [](const Tensors& in) { return at::cat({in[0], in[1]}, 1); }));
  }
  cases.push_back(
      simple("aten.squeeze.default", x_of({1, 6, 1}), 1, "self=%x", [](const Tensors& in) {
        return in[0].squeeze();
      }));
  cases.push_back(
      simple("aten.squeeze.dim", x_of({4, 1, 1}), 2, "self=%x, dim=-1", [](const Tensors& in) {
        return in[0].squeeze(2);
      }));
  cases.push_back(simple(
      "aten.squeeze.dims", x_of({4, 1, 1}), 1, "self=%x, dim=[1, 2]", [](const Tensors& in) {
        return in[0].squeeze(Ints{1, 2});
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
  add_activations(cases);
  add_dropouts(cases);
  add_shapes(cases);
  add_joined_shapes(cases);
  add_sizes(cases);
  return cases;
}

}  // namespace hydro::ops
