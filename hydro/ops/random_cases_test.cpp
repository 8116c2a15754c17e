// Parity cases of ops that draw random numbers: each a function of its trial's own stream.
#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hydro/base/philox.h"
#include "hydro/ops/testing.h"
#include "hydro/ops/torch.h"

namespace hydro::ops {

namespace {

Case dropout_case(
    std::string_view op, const Ints& shape, const Ints& mask, double p, bool train) {
  return one_node(
      op,
      x_of(shape),
      static_cast<int>(shape.size()),
      "input=%x, p=" + std::to_string(p) + ", train=" + (train ? "True" : "False"),
      [=](const Tensors& in, std::uint64_t key) {
        return Tensors{train && p > 0 ? in[0] * drawn_mask(mask, p, key, in[0]) : in[0]};
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

/// SELU's dropout, written as torch writes it: a 0-1 mask, then one multiplication and one
/// addition.
Case alpha_case(std::string_view op, const Ints& shape, const Ints& mask, double p) {
  return one_node(
      op,
      x_of(shape),
      static_cast<int>(shape.size()),
      "input=%x, p=" + std::to_string(p) + ", train=True",
      [=](const Tensors& in, std::uint64_t key) {
        const at::Tensor kept = drawn_uniforms(mask, key).ge(p).to(in[0].scalar_type());
        const double alpha = 1.7580993408473766;
        const double a = 1 / std::sqrt((alpha * alpha * p + 1) * (1 - p));
        return Tensors{in[0] * (kept * a) + ((kept - 1) * (alpha * a) + alpha * a * p)};
      });
}

Case native_case(double p, bool train) {
  return {
      .op = "aten.native_dropout.default",
      .operands = x_of({7, 12}),
      .body = "  %y: float32[1, 1], %m: bool[1, 1] = aten.native_dropout.default(input=%x, p=" +
              std::to_string(p) + ", train=" + word(train) + ")\n",
      .results = {"y", "m"},
      .reference = [=](const Tensors& in, std::uint64_t key) {
        const at::Tensor mask =
            train ? drawn_mask({7, 12}, p, key, in[0]) : at::ones_like(in[0]);
        return Tensors{in[0] * mask, mask.to(at::kBool)};
      }};
}

using FromUniforms = at::Tensor (*)(const at::Tensor& uniforms, const Tensors& in);

/// A random op as a function of the uniforms of one trial.
Case drawn_case(std::string_view op,
                std::string_view arguments,
                std::string_view dtype,
                const Ints& sizes,
                FromUniforms from) {
  const std::string node = node_text("y", static_cast<int>(sizes.size()), op, arguments);
  return {.op = op,
          .operands = {{"x", {4, 6}}, {"q", {4, 6}, Role::kShare}},
          .body = "  %y: " + std::string(dtype) + node.substr(node.find('[')),
          .results = {"y"},
          .reference = [=](const Tensors& in, std::uint64_t key) {
            return Tensors{from(drawn_uniforms(sizes, key), in)};
          }};
}

/// As drawn_case(), from standard normals.
Case normal_case(std::string_view op,
                 std::string_view arguments,
                 at::Tensor (*from)(const at::Tensor& z, const Tensors& in)) {
  return {.op = op,
          .operands = {{"x", {4, 6}}, {"q", {4, 6}, Role::kShare}},
          .body = node_text("y", 2, op, arguments),
          .results = {"y"},
          .reference = [from](const Tensors& in, std::uint64_t key) {
            at::Tensor z = at::empty({4, 6}, at::kDouble);
            fill_normal({.key = key, .node = 0, .step = 9},
                        0,
                        std::span<double>(z.mutable_data_ptr<double>(), 24));
            return Tensors{from(z, in).to(in[0].scalar_type())};
          }};
}

void add_uniforms(std::vector<Case>& cases) {
  const auto same = [](const at::Tensor& u, const Tensors& in) {
    return u.to(in[0].scalar_type());
  };
  cases.push_back(
      drawn_case("aten.rand.default", "size=[3, 7], dtype=None", "float32", {3, 7}, same));
  cases.push_back(
      drawn_case("aten.rand_like.default", "self=%x, dtype=None", "float32", {4, 6}, same));
  cases.push_back(drawn_case("aten.bernoulli.p",
                             "self=%x, p=0.3",
                             "float32",
                             {4, 6},
                             [](const at::Tensor& u, const Tensors& in) {
                               return u.lt(0.3).to(in[0].scalar_type());
                             }));
  cases.push_back(drawn_case("aten.bernoulli.default",
                             "self=%q",
                             "float32",
                             {4, 6},
                             [](const at::Tensor& u, const Tensors& in) {
                               return u.lt(in[1]).to(in[0].scalar_type());
                             }));
  cases.push_back(drawn_case("aten.uniform.default",
                             "self=%x, from=-1.0, to=3.0",
                             "float32",
                             {4, 6},
                             [](const at::Tensor& u, const Tensors& in) {
                               return (u * 4 - 1).to(in[0].scalar_type());
                             }));
  cases.push_back(drawn_case("aten.exponential.default",
                             "self=%x, lambd=2.0",
                             "float32",
                             {4, 6},
                             [](const at::Tensor& u, const Tensors& in) {
                               return (-at::log(1 - (u + 0x1p-33)) / 2).to(in[0].scalar_type());
                             }));
  cases.push_back(drawn_case("aten.rrelu.default",
                             "self=%x, lower=0.125, upper=0.5, training=True",
                             "float32",
                             {4, 6},
                             [](const at::Tensor& u, const Tensors& in) {
                               const at::Tensor slope =
                                   (u * 0.375 + 0.125).to(in[0].scalar_type());
                               return at::where(in[0].gt(0), in[0], in[0] * slope);
                             }));
}

void add_whole_numbers(std::vector<Case>& cases) {
  const auto up_to_9 = [](const at::Tensor& u, const Tensors& /*in*/) {
    return at::floor(u * 9).to(at::kLong);
  };
  const auto from_3_to_7 = [](const at::Tensor& u, const Tensors& /*in*/) {
    return at::floor(u * 4).to(at::kLong) + 3;
  };
  cases.push_back(
      drawn_case("aten.randint.default", "high=9, size=[3, 7]", "int64", {3, 7}, up_to_9));
  cases.push_back(drawn_case(
      "aten.randint.low", "low=3, high=7, size=[3, 7]", "int64", {3, 7}, from_3_to_7));
  cases.push_back(drawn_case(
      "aten.randint_like.default", "self=%x, high=9, dtype=int64", "int64", {4, 6}, up_to_9));
  cases.push_back(drawn_case("aten.randint_like.low_dtype",
                             "self=%x, low=3, high=7, dtype=int64",
                             "int64",
                             {4, 6},
                             from_3_to_7));
  cases.push_back(drawn_case(
      "aten.randperm.default", "n=50", "int64", {50}, [](const at::Tensor& u, const Tensors&) {
        return std::get<1>(at::sort(u));
      }));
}

void add_normals(std::vector<Case>& cases) {
  const auto same = [](const at::Tensor& z, const Tensors& /*in*/) { return z; };
  cases.push_back(normal_case("aten.randn.default", "size=[4, 6], dtype=None", same));
  cases.push_back(normal_case("aten.randn_like.default", "self=%x, dtype=None", same));
  const auto moved = [](const at::Tensor& z, const Tensors& /*in*/) { return z * 0.5 + 2; };
  cases.push_back(
      normal_case("aten.normal_functional.default", "self=%x, mean=2.0, std=0.5", moved));
  cases.push_back(normal_case(
      "aten.normal.float_float", "mean=2.0, std=0.5, size=[4, 6], dtype=None", moved));
  cases.push_back(
      normal_case("aten.normal.Tensor_float",
                  "mean=%x, std=0.5",
                  [](const at::Tensor& z, const Tensors& in) { return z * 0.5 + in[0]; }));
  cases.push_back(
      normal_case("aten.normal.float_Tensor",
                  "mean=2.0, std=%q",
                  [](const at::Tensor& z, const Tensors& in) { return z * in[1] + 2; }));
  cases.push_back(
      normal_case("aten.normal.Tensor_Tensor",
                  "mean=%x, std=%q",
                  [](const at::Tensor& z, const Tensors& in) { return z * in[1] + in[0]; }));
}

}  // namespace

std::vector<Case> random_cases() {
  std::vector<Case> cases;
  add_dropouts(cases);
  for (const double p : {0.25, 0.9}) {
    cases.push_back(alpha_case("aten.alpha_dropout.default", {7, 12}, {7, 12}, p));
    cases.push_back(
        alpha_case("aten.feature_alpha_dropout.default", {3, 5, 4, 4}, {3, 5, 1, 1}, p));
    cases.push_back(native_case(p, true));
  }
  cases.push_back(native_case(0.25, false));
  cases.push_back(one_node("aten.dropout.default",
                           x_of({7, 12}),
                           2,
                           "self=%x, p=0.25, train=True",
                           [](const Tensors& in, std::uint64_t key) {
                             return Tensors{in[0] * drawn_mask({7, 12}, 0.25, key, in[0])};
                           }));
  add_uniforms(cases);
  add_whole_numbers(cases);
  add_normals(cases);
  return cases;
}

}  // namespace hydro::ops
