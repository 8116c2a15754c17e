// Parity cases of pointwise ops.
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "hydro/ops/testing.h"
#include "hydro/ops/torch.h"

namespace hydro::ops {

namespace {

void add_named(std::vector<Case>& cases) {
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

/// One operand, numbers beside it.
struct Unary {
  std::string_view op;
  std::string_view arguments;
  Plain plain;
};

constexpr auto kUnary = std::to_array<Unary>({
    {"aten.hardswish.default", "", [](const Tensors& in) { return at::hardswish(in[0]); }},
    {"aten.hardsigmoid.default", "", [](const Tensors& in) { return at::hardsigmoid(in[0]); }},
    {"aten.elu.default",
     ", alpha=0.7, scale=1, input_scale=1",
     [](const Tensors& in) { return at::elu(in[0], 0.7); }},
    {"aten.selu.default", "", [](const Tensors& in) { return at::selu(in[0]); }},
    {"aten.celu.default",
     ", alpha=0.7",
     [](const Tensors& in) { return at::celu(in[0], 0.7); }},
    {"aten.mish.default", "", [](const Tensors& in) { return at::mish(in[0]); }},
    {"aten.softplus.default",
     ", beta=2, threshold=20",
     [](const Tensors& in) { return at::softplus(in[0], 2); }},
    {"aten.log_sigmoid.default", "", [](const Tensors& in) { return at::log_sigmoid(in[0]); }},
    {"aten.hardshrink.default",
     ", lambd=0.3",
     [](const Tensors& in) { return at::hardshrink(in[0], 0.3); }},
    {"aten.softshrink.default",
     ", lambd=0.3",
     [](const Tensors& in) { return at::softshrink(in[0], 0.3); }},
    {"aten.threshold.default",
     ", threshold=0.1, value=0.5",
     [](const Tensors& in) { return at::threshold(in[0], 0.1, 0.5); }},
    {"aten.exp.default", "", [](const Tensors& in) { return at::exp(in[0]); }},
    {"aten.abs.default", "", [](const Tensors& in) { return at::abs(in[0]); }},
    {"aten.sin.default", "", [](const Tensors& in) { return at::sin(in[0]); }},
    {"aten.cos.default", "", [](const Tensors& in) { return at::cos(in[0]); }},
    {"aten.floor.default", "", [](const Tensors& in) { return at::floor(in[0]); }},
    {"aten.pow.Tensor_Scalar",
     ", exponent=3",
     [](const Tensors& in) { return at::pow(in[0], 3); }},
    {"aten.clamp.default",
     ", min=-0.5, max=None",
     [](const Tensors& in) { return at::clamp(in[0], -0.5); }},
    {"aten.rsub.Scalar",
     ", other=1, alpha=2",
     [](const Tensors& in) { return at::rsub(in[0], 1, 2); }},
    {"aten.eq.Scalar", ", other=0", [](const Tensors& in) { return at::eq(in[0], 0); }},
    {"aten.ne.Scalar", ", other=0", [](const Tensors& in) { return at::ne(in[0], 0); }},
    {"aten.lt.Scalar", ", other=0.1", [](const Tensors& in) { return at::lt(in[0], 0.1); }},
    {"aten.le.Scalar", ", other=0.1", [](const Tensors& in) { return at::le(in[0], 0.1); }},
    {"aten.gt.Scalar", ", other=0.1", [](const Tensors& in) { return at::gt(in[0], 0.1); }},
    {"aten.ge.Scalar", ", other=0.1", [](const Tensors& in) { return at::ge(in[0], 0.1); }},
    {"aten.logical_not.default", "", [](const Tensors& in) { return at::logical_not(in[0]); }},
    {"aten.to.device",
     ", dtype=float64, copy=False",
     [](const Tensors& in) { return in[0].to(at::kDouble); }},
    {"aten.to.dtype_layout",
     ", dtype=float64, layout=None, copy=False",
     [](const Tensors& in) { return in[0].to(at::kDouble); }},
    {"aten._to_copy.default",
     ", dtype=int64",
     [](const Tensors& in) { return in[0].to(at::kLong); }},
});

void add_unary(std::vector<Case>& cases) {
  for (const Unary& unary : kUnary) {
    cases.push_back(simple(
        unary.op, x_of({4, 3, 5}), 3, "self=%x" + std::string(unary.arguments), unary.plain));
  }
}

/// Operands that must be positive.
void add_positive(std::vector<Case>& cases) {
  const std::vector<Operand> positive = {{"x", {4, 5}, Role::kVariance}};
  cases.push_back(simple("aten.log.default", positive, 2, "self=%x", [](const Tensors& in) {
    return at::log(in[0]);
  }));
  cases.push_back(simple("aten.sqrt.default", positive, 2, "self=%x", [](const Tensors& in) {
    return at::sqrt(in[0]);
  }));
  cases.push_back(simple("aten.rsqrt.default", positive, 2, "self=%x", [](const Tensors& in) {
    return at::rsqrt(in[0]);
  }));
  cases.push_back(simple("aten.pow.Tensor_Tensor",
                         {{"x", {4, 5}, Role::kVariance}, {"w", {5}, Role::kState}},
                         2,
                         "self=%x, exponent=%w",
                         [](const Tensors& in) { return at::pow(in[0], in[1]); }));
}

/// Two operands of different ranks: what differs in one operand alone needs its own axis.
void add_binary(std::vector<Case>& cases) {
  const std::vector<Operand> two = {{"x", {4, 6, 5}}, {"w", {6, 1}, Role::kState}};
  const auto binary = [&](std::string_view op, Plain plain) {
    cases.push_back(simple(op, two, 3, "self=%x, other=%w", plain));
  };
  binary("aten.maximum.default", [](const Tensors& in) { return at::maximum(in[0], in[1]); });
  binary("aten.minimum.default", [](const Tensors& in) { return at::minimum(in[0], in[1]); });
  binary("aten.eq.Tensor", [](const Tensors& in) { return at::eq(in[0], in[1]); });
  binary("aten.ne.Tensor", [](const Tensors& in) { return at::ne(in[0], in[1]); });
  binary("aten.lt.Tensor", [](const Tensors& in) { return at::lt(in[0], in[1]); });
  binary("aten.le.Tensor", [](const Tensors& in) { return at::le(in[0], in[1]); });
  binary("aten.gt.Tensor", [](const Tensors& in) { return at::gt(in[0], in[1]); });
  binary("aten.ge.Tensor", [](const Tensors& in) { return at::ge(in[0], in[1]); });
}

void add_conditions(std::vector<Case>& cases) {
  const std::vector<Operand> masked = {
      {"x", {4, 6}}, {"k", {6}, Role::kMask}, {"w", {4, 1}, Role::kState}};
  cases.push_back(simple(
      "aten.where.self", masked, 2, "condition=%k, self=%x, other=%w", [](const Tensors& in) {
        return at::where(in[1], in[0], in[2]);
      }));
  cases.push_back(simple("aten.where.ScalarOther",
                         masked,
                         2,
                         "condition=%k, self=%x, other=-2.5",
                         [](const Tensors& in) { return at::where(in[1], in[0], -2.5); }));
  cases.push_back(simple("aten.where.ScalarSelf",
                         masked,
                         2,
                         "condition=%k, self=0.5, other=%x",
                         [](const Tensors& in) { return at::where(in[1], 0.5, in[0]); }));
  const std::vector<Operand> whole = {{"x", {4, 6}, Role::kIds}, {"w", {6}, Role::kCount}};
  cases.push_back(
      simple("aten.__and__.Tensor", whole, 2, "self=%x, other=%w", [](const Tensors& in) {
        return at::__and__(in[0], in[1]);
      }));
  cases.push_back(
      simple("aten.__or__.Tensor", whole, 2, "self=%x, other=%w", [](const Tensors& in) {
        return at::__or__(in[0], in[1]);
      }));
}

/// A slope a channel, behind a convolution too, where the axis stands second.
void add_prelus(std::vector<Case>& cases) {
  for (const Ints& shape : {Ints{4, 3, 5, 5}, Ints{4, 3}, Ints{3}}) {
    for (const std::int64_t slopes : {1, 3}) {
      if (shape.size() > 1 || slopes == 1) {
        cases.push_back(simple("aten.prelu.default",
                               {{"x", shape}, {"w", {slopes}, Role::kState}},
                               static_cast<int>(shape.size()),
                               "self=%x, weight=%w",
                               [](const Tensors& in) { return at::prelu(in[0], in[1]); }));
      }
    }
  }
  cases.push_back(
      {.op = "aten.prelu.default",
       .operands = {{"x", {4, 3, 5}}, {"w", {3}, Role::kState}},
       .body = node_text("p",
                         3,
                         "aten.avg_pool1d.default",
                         "self=%x, kernel_size=[1], stride=[1], padding=[0], ceil_mode=False, "
                         "count_include_pad=True") +
               node_text("y", 3, "aten.prelu.default", "self=%p, weight=%w"),
       .results = {"y"},
       .reference = [](const Tensors& in, std::uint64_t) {
         return Tensors{at::prelu(in[0], in[1])};
       }});
}

}  // namespace

std::vector<Case> pointwise_cases() {
  std::vector<Case> cases;
  add_named(cases);
  add_unary(cases);
  add_positive(cases);
  add_binary(cases);
  add_conditions(cases);
  add_prelus(cases);
  return cases;
}

}  // namespace hydro::ops
