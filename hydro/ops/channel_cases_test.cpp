// Parity cases of what sees channels alone: convolutions of one and three dimensions and
// transposed ones, group and instance norm, pools, upsampling.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "hydro/ops/testing.h"
#include "hydro/ops/torch.h"

namespace hydro::ops {

namespace {

struct TransposedArgs {
  int dimensions = 2;
  std::int64_t in = 4;
  std::int64_t out = 8;
  std::int64_t kernel = 3;
  std::int64_t stride = 1;
  std::int64_t padding = 0;
  std::int64_t output_padding = 0;
  std::int64_t dilation = 1;
  std::int64_t groups = 1;
  bool bias = true;
};

std::string_view transposed_op(int dimensions) {
  return dimensions == 1   ? "aten.conv_transpose1d.default"
         : dimensions == 2 ? "aten.conv_transpose2d.input"
                           : "aten.conv_transpose3d.input";
}

at::Tensor plain_transposed(const TransposedArgs& a, const Tensors& in) {
  const std::optional<at::Tensor> bias = a.bias ? std::optional(in[2]) : std::nullopt;
  const auto run = [&](auto op) {
    return op(in[0], in[1], bias, a.stride, a.padding, a.output_padding, a.groups, a.dilation);
  };
  switch (a.dimensions) {
    case 1:
      return run([](const auto&... v) { return at::conv_transpose1d(v...); });
    case 2:
      return run([](const auto&... v) { return at::conv_transpose2d(v...); });
    default:
      return run([](const auto&... v) { return at::conv_transpose3d(v...); });
  }
}

Case transposed_case(const TransposedArgs& a) {
  const auto spatial = static_cast<std::size_t>(a.dimensions);
  const auto repeat = [&](std::int64_t value) { return list(Ints(spatial, value)); };
  Ints input = {3, a.in};
  Ints weight = {a.in, a.out / a.groups};
  input.insert(input.end(), spatial, 6);
  weight.insert(weight.end(), spatial, a.kernel);
  std::vector<Operand> operands = {{"x", input}, {"w", weight, Role::kState}};
  if (a.bias) {
    operands.push_back({"b", {a.out}, Role::kState});
  }
  return one_node(
      transposed_op(a.dimensions),
      operands,
      a.dimensions + 2,
      std::string("input=%x, weight=%w, bias=") + (a.bias ? "%b" : "None") +
          ", stride=" + repeat(a.stride) + ", padding=" + repeat(a.padding) +
          ", output_padding=" + repeat(a.output_padding) +
          ", groups=" + std::to_string(a.groups) + ", dilation=" + repeat(a.dilation),
      [a](const Tensors& in, std::uint64_t) { return Tensors{plain_transposed(a, in)}; });
}

void add_transposed(std::vector<Case>& cases) {
  for (const TransposedArgs& a :
       {TransposedArgs{},
        TransposedArgs{.in = 3},
        TransposedArgs{.out = 1},
        TransposedArgs{.kernel = 1},
        TransposedArgs{.kernel = 5, .padding = 2},
        TransposedArgs{.stride = 2, .output_padding = 1, .dilation = 2},
        TransposedArgs{.stride = 3, .output_padding = 2, .dilation = 3},
        TransposedArgs{.groups = 2},
        TransposedArgs{.stride = 2, .groups = 4, .bias = false}}) {
    cases.push_back(transposed_case(a));
  }
  for (const int dimensions : {1, 3}) {
    cases.push_back(transposed_case({.dimensions = dimensions}));
    cases.push_back(transposed_case({.dimensions = dimensions, .stride = 2, .groups = 2}));
  }
}

void add_channel_convolutions(std::vector<Case>& cases) {
  const std::vector<Operand> volume = {
      {"x", {2, 4, 5, 6, 4}}, {"w", {6, 2, 3, 2, 1}, Role::kState}, {"b", {6}, Role::kState}};
  cases.push_back(
      simple("aten.conv3d.default",
             volume,
             5,
             "input=%x, weight=%w, bias=%b, stride=[1, 2, 1], padding=[1, 0, 0], dilation=[1, "
             "1, 1], groups=2",
             [](const Tensors& in) {
               return at::conv3d(in[0], in[1], in[2], {1, 2, 1}, {1, 0, 0}, {1, 1, 1}, 2);
             }));
  cases.push_back(simple("aten.conv3d.padding",
                         volume,
                         5,
                         "input=%x, weight=%w, bias=%b, stride=[1, 1, 1], padding=\"same\", "
                         "dilation=[1, 1, 1], groups=2",
                         [](const Tensors& in) {
                           return at::conv3d(
                               in[0], in[1], in[2], {1, 1, 1}, "same", {1, 1, 1}, 2);
                         }));
  const std::vector<Operand> line = {
      {"x", {2, 4, 9}}, {"w", {6, 4, 3}, Role::kState}, {"b", {6}, Role::kState}};
  cases.push_back(simple(
      "aten.conv1d.padding",
      line,
      3,
      "input=%x, weight=%w, bias=%b, stride=[1], padding=\"same\", "
      "dilation=[2], groups=1",
      [](const Tensors& in) { return at::conv1d(in[0], in[1], in[2], {1}, "same", {2}); }));
  // Without a batch.
  cases.push_back(simple("aten.conv1d.default",
                         {{"x", {4, 9}}, {"w", {6, 4, 3}, Role::kState}},
                         2,
                         "input=%x, weight=%w, bias=None, stride=[1], padding=[0], "
                         "dilation=[1], groups=1",
                         [](const Tensors& in) { return at::conv1d(in[0], in[1]); }));
}

Case group_norm_case(const Ints& shape, std::int64_t groups, bool affine) {
  std::vector<Operand> operands = x_of(shape);
  if (affine) {
    operands.push_back({"g", {shape[1]}, Role::kState});
    operands.push_back({"b", {shape[1]}, Role::kState});
  }
  return one_node("aten.group_norm.default",
                  operands,
                  static_cast<int>(shape.size()),
                  "input=%x, num_groups=" + std::to_string(groups) +
                      (affine ? ", weight=%g, bias=%b" : ", weight=None, bias=None") +
                      ", eps=1e-05",
                  [=](const Tensors& in, std::uint64_t) {
                    return Tensors{affine ? at::group_norm(in[0], groups, in[1], in[2])
                                          : at::group_norm(in[0], groups)};
                  });
}

void add_channel_norms(std::vector<Case>& cases) {
  for (const Ints& shape : {Ints{3, 8, 5, 4}, Ints{3, 8, 6}, Ints{3, 8}}) {
    for (const std::int64_t groups : {1, 2, 8}) {
      if (shape.size() > 2 || groups < 8) {  // one number alone has no spread
        cases.push_back(group_norm_case(shape, groups, true));
      }
    }
  }
  cases.push_back(group_norm_case({3, 8, 5, 4}, 4, false));
  cases.push_back(
      simple("aten.instance_norm.default",
             {{"x", {3, 4, 5, 6}}, {"g", {4}, Role::kState}, {"b", {4}, Role::kState}},
             4,
             "input=%x, weight=%g, bias=%b, running_mean=None, running_var=None, "
             "use_input_stats=True, momentum=0.1, eps=1e-05",
             [](const Tensors& in) {
               return at::instance_norm(in[0], in[1], in[2], {}, {}, true, 0.1, 1e-5, true);
             }));
}

void add_channel_pools(std::vector<Case>& cases) {
  const auto pool = [&](std::string_view op,
                        const Ints& shape,
                        std::string_view arguments,
                        Plain plain) {
    cases.push_back(simple(op, x_of(shape), static_cast<int>(shape.size()), arguments, plain));
  };
  pool("aten.max_pool1d.default",
       {3, 4, 9},
       "self=%x, kernel_size=[3], stride=[2], padding=[1], dilation=[1], ceil_mode=False",
       [](const Tensors& in) { return at::max_pool1d(in[0], 3, 2, 1); });
  pool("aten.max_pool3d.default",
       {2, 3, 6, 5, 4},
       "self=%x, kernel_size=[2, 2, 2], stride=[], padding=[0, 0, 0], dilation=[1, 1, 1], "
       "ceil_mode=False",
       [](const Tensors& in) { return at::max_pool3d(in[0], 2); });
  pool("aten.avg_pool1d.default",
       {3, 4, 9},
       "self=%x, kernel_size=[3], stride=[2], padding=[1], ceil_mode=False, "
       "count_include_pad=True",
       [](const Tensors& in) { return at::avg_pool1d(in[0], 3, 2, 1); });
  pool("aten.avg_pool3d.default",
       {2, 3, 6, 5, 4},
       "self=%x, kernel_size=[2, 2, 2], stride=[], padding=[0, 0, 0], ceil_mode=False, "
       "count_include_pad=True, divisor_override=None",
       [](const Tensors& in) { return at::avg_pool3d(in[0], 2); });
  pool("aten.adaptive_avg_pool1d.default",
       {3, 4, 9},
       "self=%x, output_size=[4]",
       [](const Tensors& in) { return at::adaptive_avg_pool1d(in[0], 4); });
  pool("aten.adaptive_avg_pool3d.default",
       {2, 3, 6, 5, 4},
       "self=%x, output_size=[2, 3, 1]",
       [](const Tensors& in) { return at::adaptive_avg_pool3d(in[0], {2, 3, 1}); });
  // Without a batch.
  pool("aten.adaptive_avg_pool2d.default",
       {4, 9, 8},
       "self=%x, output_size=[3, 2]",
       [](const Tensors& in) { return at::adaptive_avg_pool2d(in[0], {3, 2}); });
}

Case adaptive_max_case(std::string_view op,
                       const Ints& shape,
                       const Ints& size,
                       std::tuple<at::Tensor, at::Tensor> (*plain)(const at::Tensor& x,
                                                                   at::IntArrayRef size)) {
  std::string ones = "[1";
  for (std::size_t i = 1; i < shape.size(); ++i) {
    ones += ", 1";
  }
  return {.op = op,
          .operands = x_of(shape),
          .body = "  %y: float32" + ones + "], %i: int64" + ones + "] = " + std::string(op) +
                  "(self=%x, output_size=" + list(size) + ")\n",
          .results = {"y", "i"},
          .reference = [=](const Tensors& in, std::uint64_t) {
            const auto [y, indices] = plain(in[0], size);
            return Tensors{y, indices};
          }};
}

void add_adaptive_max(std::vector<Case>& cases) {
  cases.push_back(adaptive_max_case(
      "aten.adaptive_max_pool1d.default", {3, 4, 9}, {4}, &at::adaptive_max_pool1d));
  cases.push_back(adaptive_max_case(
      "aten.adaptive_max_pool2d.default", {3, 4, 9, 8}, {4, 3}, &at::adaptive_max_pool2d));
  cases.push_back(adaptive_max_case("aten.adaptive_max_pool3d.default",
                                    {2, 3, 6, 5, 4},
                                    {2, 3, 1},
                                    &at::adaptive_max_pool3d));
}

void add_upsampling(std::vector<Case>& cases) {
  cases.push_back(
      simple("aten.upsample_nearest1d.vec",
             x_of({3, 4, 5}),
             3,
             "input=%x, output_size=None, scale_factors=[2.0]",
             [](const Tensors& in) { return at::upsample_nearest1d(in[0], Ints{10}); }));
  cases.push_back(
      simple("aten.upsample_nearest2d.vec",
             x_of({3, 4, 5, 6}),
             4,
             "input=%x, output_size=[10, 9], scale_factors=None",
             [](const Tensors& in) { return at::upsample_nearest2d(in[0], {10, 9}); }));
  cases.push_back(
      simple("aten.upsample_bilinear2d.vec",
             x_of({3, 4, 5, 6}),
             4,
             "input=%x, output_size=None, align_corners=False, scale_factors=[2.0, 1.5]",
             [](const Tensors& in) {
               return at::upsample_bilinear2d(in[0], {10, 9}, false, 2.0, 1.5);
             }));
  cases.push_back(
      simple("aten.upsample_bicubic2d.vec",
             x_of({3, 4, 5, 6}),
             4,
             "input=%x, output_size=[7, 7], align_corners=True, scale_factors=None",
             [](const Tensors& in) { return at::upsample_bicubic2d(in[0], {7, 7}, true); }));
}

}  // namespace

std::vector<Case> channel_cases() {
  std::vector<Case> cases;
  add_transposed(cases);
  add_channel_convolutions(cases);
  add_channel_norms(cases);
  add_channel_pools(cases);
  add_adaptive_max(cases);
  add_upsampling(cases);
  return cases;
}

}  // namespace hydro::ops
