// Parity cases of convolution, padding, batch norm and pooling: the argument sweeps of HFTA's
// own op tests.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hydro/ops/testing.h"
#include "hydro/ops/torch.h"

namespace hydro::ops {

namespace {

struct ConvArgs {
  std::int64_t batch = 4;
  std::int64_t in = 4;
  std::int64_t out = 8;
  std::int64_t kernel = 3;
  std::int64_t size = 14;
  std::int64_t stride = 1;
  std::int64_t padding = 0;
  std::int64_t dilation = 1;
  std::int64_t groups = 1;
  bool bias = true;
};

std::vector<Operand> conv_operands(const ConvArgs& a, int dimensions) {
  Ints input = {a.batch, a.in};
  Ints weight = {a.out, a.in / a.groups};
  input.insert(input.end(), static_cast<std::size_t>(dimensions), a.size);
  weight.insert(weight.end(), static_cast<std::size_t>(dimensions), a.kernel);
  std::vector<Operand> operands = {{"x", input}, {"w", weight, Role::kState}};
  if (a.bias) {
    operands.push_back({"b", {a.out}, Role::kState});
  }
  return operands;
}

std::optional<at::Tensor> bias_of(const Tensors& in) {
  return in.size() > 2 ? std::optional(in[2]) : std::nullopt;
}

std::string conv_text(const ConvArgs& a,
                      int dimensions,
                      const std::string& input,
                      const std::string& padding) {
  const auto repeat = [&](std::int64_t value) {
    return list(Ints(static_cast<std::size_t>(dimensions), value));
  };
  return "input=%" + input + ", weight=%w, bias=" + (a.bias ? "%b" : "None") +
         ", stride=" + repeat(a.stride) +
         ", padding=" + (padding.empty() ? repeat(a.padding) : padding) +
         ", dilation=" + repeat(a.dilation) + ", groups=" + std::to_string(a.groups);
}

Case conv_case(std::string_view op, const ConvArgs& a, int dimensions) {
  const std::string arguments = conv_text(a, dimensions, "x", "");
  const Reference plain = [=](const Tensors& in, std::uint64_t) {
    const at::Tensor y =
        dimensions == 1
            ? at::conv1d(in[0], in[1], bias_of(in), a.stride, a.padding, a.dilation, a.groups)
            : at::conv2d(in[0], in[1], bias_of(in), a.stride, a.padding, a.dilation, a.groups);
    return Tensors{y};
  };
  return one_node(op, conv_operands(a, dimensions), dimensions + 2, arguments, plain);
}

Case named_padding_case(const ConvArgs& a, const std::string& padding) {
  return one_node("aten.conv2d.padding",
                  conv_operands(a, 2),
                  4,
                  conv_text(a, 2, "x", '"' + padding + '"'),
                  [a, padding](const Tensors& in, std::uint64_t) {
                    return Tensors{at::conv2d(
                        in[0], in[1], bias_of(in), a.stride, padding, a.dilation, a.groups)};
                  });
}

/// nn.Conv2d's padding_mode: a pad in front of the convolution.
Case padding_mode_case(const std::string& mode) {
  const ConvArgs a{.kernel = 5};
  return {.op = "aten.conv2d.default",
          .operands = conv_operands(a, 2),
          .body = node_text("p",
                            4,
                            "aten.pad.default",
                            "self=%x, pad=[2, 1, 2, 0], mode=\"" + mode + "\", value=None") +
                  node_text("y", 4, "aten.conv2d.default", conv_text(a, 2, "p", "")),
          .results = {"y"},
          .reference = [mode](const Tensors& in, std::uint64_t) {
            return Tensors{at::conv2d(at::pad(in[0], Ints{2, 1, 2, 0}, mode), in[1], in[2])};
          }};
}

Case pad_case(const Ints& shape,
              const Ints& amounts,
              const std::string& mode,
              const std::string& value) {
  return one_node(
      "aten.pad.default",
      {{"x", shape}},
      static_cast<int>(shape.size()),
      "self=%x, pad=" + list(amounts) + ", mode=\"" + mode + "\", value=" + value,
      [=](const Tensors& in, std::uint64_t) {
        return Tensors{at::pad(in[0],
                               amounts,
                               mode,
                               value == "None" ? std::optional<double>() : std::stod(value))};
      });
}

struct NormArgs {
  Ints shape = {8, 16, 7, 7};
  bool affine = true;
  bool track = true;
  bool training = true;
  double momentum = 0.1;
};

std::vector<Operand> norm_operands(const NormArgs& a) {
  const std::int64_t channels = a.shape[1];
  std::vector<Operand> operands = {{"x", a.shape}};
  if (a.affine) {
    operands.push_back({"g", {channels}, Role::kState});
    operands.push_back({"b", {channels}, Role::kState});
  }
  if (a.track) {
    operands.push_back({"m", {channels}, Role::kVariance});
    operands.push_back({"v", {channels}, Role::kVariance});
  }
  return operands;
}

std::string norm_text(const NormArgs& a,
                      const std::string& input,
                      const std::string& mean,
                      const std::string& variance) {
  return "input=%" + input + ", weight=" + (a.affine ? "%g" : "None") +
         ", bias=" + (a.affine ? "%b" : "None") +
         ", running_mean=" + (a.track ? "%" + mean : "None") +
         ", running_var=" + (a.track ? "%" + variance : "None") +
         ", training=" + word(a.training) + ", momentum=" + std::to_string(a.momentum) +
         ", eps=1e-05";
}

/// Plain torch; overwrites `statistics` when training.
at::Tensor plain_norm(const NormArgs& a,
                      const at::Tensor& x,
                      const Tensors& in,
                      const Tensors& statistics,
                      double momentum) {
  const auto gain = [&](std::size_t i) { return a.affine ? in[i] : at::Tensor(); };
  const auto running = [&](std::size_t i) { return a.track ? statistics[i] : at::Tensor(); };
  return at::batch_norm(
      x, gain(1), gain(2), running(0), running(1), a.training, momentum, 1e-5, true);
}

Tensors statistics_of(const NormArgs& a, const Tensors& in) {
  const std::size_t first = a.affine ? 3 : 1;
  return a.track ? Tensors{in[first].clone(), in[first + 1].clone()} : Tensors{};
}

Case norm_case(const NormArgs& a) {
  return one_node("aten.batch_norm.default",
                  norm_operands(a),
                  static_cast<int>(a.shape.size()),
                  norm_text(a, "x", "m", "v"),
                  [a](const Tensors& in, std::uint64_t) {
                    return Tensors{plain_norm(a, in[0], in, statistics_of(a, in), a.momentum)};
                  });
}

/// Ten training steps, each on the input scaled and with the statistics of the step before.
std::string ten_steps_text(const NormArgs& a, const std::string& momentum) {
  std::string text;
  for (int step = 1; step <= 10; ++step) {
    const std::string s = std::to_string(step);
    const std::string before = step == 1 ? "" : std::to_string(step - 1);
    text += node_text("x" + s,
                      static_cast<int>(a.shape.size()),
                      "aten.mul.Tensor",
                      "self=%x, other=" + s + ".0");
    text +=
        "  %n" + s + ": int64[] = aten.add.Tensor(self=%n" + before + ", other=1, alpha=1)\n";
    std::string arguments = norm_text(a, "x" + s, "m" + before, "v" + before);
    if (momentum == "None") {
      arguments.replace(
          arguments.find("momentum=") + 9, std::to_string(a.momentum).size(), "None");
      arguments += ", num_batches_tracked=%n" + s;
    }
    const std::string y = node_text("y" + s, static_cast<int>(a.shape.size()), "", "");
    text += y.substr(0, y.find(" = ")) + ", %m" + s + ": float32[1], %v" + s +
            ": float32[1] = hydro.batch_norm(" + arguments + ")\n";
  }
  return text;
}

Case ten_steps_case(const NormArgs& a, const std::string& momentum) {
  std::vector<Operand> operands = norm_operands(a);
  operands.push_back({"n", {}, Role::kCount});
  return {.op = "hydro.batch_norm",
          .operands = operands,
          .body = ten_steps_text(a, momentum),
          .results = {"y10", "m10", "v10", "n10"},
          .reference = [a, momentum](const Tensors& in, std::uint64_t) {
            const Tensors statistics = statistics_of(a, in);
            at::Tensor y;
            at::Tensor count = in.back().clone();
            for (int step = 1; step <= 10; ++step) {
              count += 1;
              const double share = momentum == "None" ? 1.0 / count.item<double>() : a.momentum;
              y = plain_norm(a, in[0] * step, in, statistics, share);
            }
            return Tensors{y, statistics[0], statistics[1], count};
          }};
}

std::string pool_text(const Ints& kernel, const Ints& stride, const Ints& padding) {
  return "self=%x, kernel_size=" + list(kernel) + ", stride=" + list(stride) +
         ", padding=" + list(padding);
}

Case max_pool_case(const Ints& kernel,
                   const Ints& stride,
                   const Ints& padding,
                   std::int64_t dilation,
                   bool ceil) {
  return one_node(
      "aten.max_pool2d.default",
      {{"x", {3, 4, 14, 14}}},
      4,
      pool_text(kernel, stride, padding) + ", dilation=" + list({dilation, dilation}) +
          ", ceil_mode=" + word(ceil),
      [=](const Tensors& in, std::uint64_t) {
        return Tensors{at::max_pool2d(in[0], kernel, stride, padding, dilation, ceil)};
      });
}

Case max_pool_indices_case() {
  const std::string arguments =
      pool_text({3, 3}, {2, 2}, {1, 1}) + ", dilation=[1, 1], ceil_mode=False";
  const std::string results = "%y: float32[1, 1, 1, 1], %i: int64[1, 1, 1, 1]";
  return {
      .op = "aten.max_pool2d_with_indices.default",
      .operands = {{"x", {3, 4, 9, 9}}},
      .body = "  " + results + " = aten.max_pool2d_with_indices.default(" + arguments + ")\n",
      .results = {"y", "i"},
      .reference = [](const Tensors& in, std::uint64_t) {
        const auto [y, indices] = at::max_pool2d_with_indices(in[0], 3, 2, 1);
        return Tensors{y, indices};
      }};
}

Case avg_pool_case(const Ints& kernel,
                   const Ints& stride,
                   std::int64_t padding,
                   bool ceil,
                   bool count_pad,
                   std::optional<std::int64_t> divisor = {}) {
  return one_node("aten.avg_pool2d.default",
                  {{"x", {3, 4, 20, 20}}},
                  4,
                  pool_text(kernel, stride, {padding, padding}) + ", ceil_mode=" + word(ceil) +
                      ", count_include_pad=" + word(count_pad) +
                      ", divisor_override=" + (divisor ? std::to_string(*divisor) : "None"),
                  [=](const Tensors& in, std::uint64_t) {
                    return Tensors{at::avg_pool2d(
                        in[0], kernel, stride, padding, ceil, count_pad, divisor)};
                  });
}

Case adaptive_case(const Ints& size) {
  return one_node("aten.adaptive_avg_pool2d.default",
                  {{"x", {3, 4, 28, 28}}},
                  4,
                  "self=%x, output_size=" + list(size),
                  [=](const Tensors& in, std::uint64_t) {
                    return Tensors{at::adaptive_avg_pool2d(in[0], size)};
                  });
}

void add_convolutions(std::vector<Case>& cases) {
  for (const ConvArgs& a :
       {ConvArgs{},
        ConvArgs{.in = 3},
        ConvArgs{.batch = 2, .in = 128},
        ConvArgs{.out = 1},
        ConvArgs{.out = 64},
        ConvArgs{.kernel = 1},
        ConvArgs{.kernel = 5},
        ConvArgs{.kernel = 7},
        ConvArgs{.batch = 2, .size = 32},
        ConvArgs{.stride = 2},
        ConvArgs{.padding = 2},
        ConvArgs{.dilation = 2},
        ConvArgs{.groups = 2},
        ConvArgs{.groups = 4},
        ConvArgs{.bias = false},
        ConvArgs{.stride = 2, .padding = 1, .dilation = 2, .groups = 2, .bias = false}}) {
    cases.push_back(conv_case("aten.conv2d.default", a, 2));
  }
  for (const ConvArgs& a : {ConvArgs{},
                            ConvArgs{.stride = 2, .padding = 1, .groups = 2},
                            ConvArgs{.dilation = 2, .bias = false}}) {
    cases.push_back(conv_case("aten.conv1d.default", a, 1));
  }
  for (const ConvArgs& a : {ConvArgs{},
                            ConvArgs{.kernel = 4},
                            ConvArgs{.kernel = 4, .dilation = 2, .groups = 2, .bias = false}}) {
    cases.push_back(named_padding_case(a, "same"));
    cases.push_back(named_padding_case(a, "valid"));
  }
  for (const char* mode : {"constant", "reflect", "replicate", "circular"}) {
    cases.push_back(padding_mode_case(mode));
    cases.push_back(pad_case({3, 4, 6, 5}, {1, 2, 2, 0}, mode, "None"));
    cases.push_back(pad_case({3, 4, 6}, {2, 1}, mode, "None"));
  }
  cases.push_back(pad_case({3, 4, 6, 5}, {1, 2, 0, 1, 1, 0}, "constant", "0.5"));
  cases.push_back(pad_case({3, 4, 6, 5}, {0, 0, 0, 0, 1, 0, 1, 2}, "constant", "-1.0"));
}

void add_norms(std::vector<Case>& cases) {
  for (const Ints& shape : {Ints{8, 16, 7, 7},
                            Ints{8, 1, 7, 7},
                            Ints{4, 128, 3, 3},
                            Ints{64, 16, 2, 2},
                            Ints{8, 16},
                            Ints{8, 16, 1},
                            Ints{8, 16, 8},
                            Ints{2, 16, 64}}) {
    cases.push_back(norm_case({.shape = shape}));
  }
  for (const bool affine : {true, false}) {
    cases.push_back(norm_case({.affine = affine, .track = false}));
    cases.push_back(norm_case({.affine = affine, .training = false}));
    cases.push_back(norm_case({.shape = {8, 16}, .affine = affine, .training = false}));
  }
  for (const Ints& shape : {Ints{8, 16}, Ints{8, 16, 8}, Ints{8, 16, 5, 5}}) {
    for (const bool affine : {true, false}) {
      cases.push_back(
          ten_steps_case({.shape = shape, .affine = affine, .momentum = 0.01}, "0.01"));
      cases.push_back(ten_steps_case({.shape = shape, .affine = affine}, "None"));
    }
  }
}

void add_pools(std::vector<Case>& cases) {
  for (const std::int64_t size : {1, 3, 4}) {
    cases.push_back(max_pool_case({size, size}, {}, {0, 0}, 1, false));
    cases.push_back(max_pool_case({3, 3}, {size, size}, {1, 1}, 1, false));
    cases.push_back(max_pool_case({2, 3}, {size, size}, {1, 0}, 2, true));
  }
  cases.push_back(max_pool_case({3, 3}, {2, 2}, {0, 0}, 5, false));
  cases.push_back(max_pool_indices_case());
  for (const Ints& kernel : {Ints{5, 5}, Ints{7, 16}, Ints{17, 6}, Ints{9, 9}}) {
    cases.push_back(avg_pool_case(kernel, {}, 0, false, true));
    cases.push_back(avg_pool_case(kernel, {1, 2}, 1, false, false));
    cases.push_back(avg_pool_case(kernel, {3, 3}, 1, true, true));
  }
  cases.push_back(avg_pool_case({3, 3}, {2, 2}, 0, false, true, 4));
  for (const Ints& size : {Ints{5, 5},
                           Ints{7, 16},
                           Ints{17, 6},
                           Ints{14, 28},
                           Ints{28, 20},
                           Ints{9, 9},
                           Ints{1, 1}}) {
    cases.push_back(adaptive_case(size));
  }
}

}  // namespace

std::vector<Case> image_cases() {
  std::vector<Case> cases;
  add_convolutions(cases);
  add_norms(cases);
  add_pools(cases);
  return cases;
}

}  // namespace hydro::ops
