// hydro/ops/testing.h — parity: an op on K stacked trials against K separate plain calls of
// torch.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hydro/base/philox.h"
#include "hydro/base/result.h"
#include "hydro/ir/testing.h"
#include "hydro/ops/executor.h"
#include "hydro/ops/torch.h"

namespace hydro::ops {

using Tensors = std::vector<at::Tensor>;
using Ints = std::vector<std::int64_t>;

/// kActivation is tried both as one tensor for all trials and as one a trial; kState is one a
/// trial; kConstant is shared. kMask: a shared bool tensor. kVariance: state, positive. kShare:
/// state in (0, 1). kCount: state, a whole number. kIds: as kActivation, whole numbers below
/// `limit`; kIndex: the same, shared.
enum class Role : std::uint8_t {
  kActivation,
  kState,
  kConstant,
  kMask,
  kVariance,
  kShare,
  kCount,
  kIds,
  kIndex
};

struct Operand {
  std::string name;
  std::vector<std::int64_t> shape;
  Role role = Role::kActivation;
  std::int64_t limit = 4;
};

/// What one trial must give: plain torch calls on its operands (in the order of
/// Case::operands). `key` is the trial's random key.
using Reference = std::function<Tensors(const Tensors& operands, std::uint64_t key)>;

/// One op with one set of arguments. `body`: the nodes in the graph's text form; `results`: the
/// values that leave.
struct Case {
  std::string_view op;
  std::vector<Operand> operands;
  std::string body;
  std::vector<std::string> results;
  Reference reference;
};

[[nodiscard]] std::vector<Case> image_cases();
[[nodiscard]] std::vector<Case> channel_cases();
[[nodiscard]] std::vector<Case> value_cases();
[[nodiscard]] std::vector<Case> pointwise_cases();
[[nodiscard]] std::vector<Case> shape_cases();
[[nodiscard]] std::vector<Case> random_cases();
[[nodiscard]] std::vector<Case> token_cases();
[[nodiscard]] std::vector<Case> attention_cases();
[[nodiscard]] std::vector<Case> recurrent_cases();
/// Of ops without a row.
[[nodiscard]] std::vector<Case> boxed_cases();

/// "  %NAME: float32[1, 1, ...] = OP(ARGUMENTS)": parity looks at ranks only.
inline std::string node_text(std::string_view name,
                             int rank,
                             std::string_view op,
                             std::string_view arguments) {
  std::string ones;
  for (int i = 0; i < rank; ++i) {
    ones += i == 0 ? "1" : ", 1";
  }
  return "  %" + std::string(name) + ": float32[" + ones + "] = " + std::string(op) + "(" +
         std::string(arguments) + ")\n";
}

/// A case of one node with one result.
inline Case one_node(std::string_view op,
                     std::vector<Operand> operands,
                     int rank,
                     std::string_view arguments,
                     Reference reference) {
  return {.op = op,
          .operands = std::move(operands),
          .body = node_text("y", rank, op, arguments),
          .results = {"y"},
          .reference = std::move(reference)};
}

inline std::vector<Operand> x_of(Ints shape) {
  return {{.name = "x", .shape = std::move(shape)}};
}

/// What one trial must give, as one expression.
using Plain = at::Tensor (*)(const Tensors& in);

/// As one_node(), its reference a plain expression.
inline Case simple(std::string_view op,
                   std::vector<Operand> operands,
                   int rank,
                   std::string_view arguments,
                   Plain plain) {
  return one_node(
      op, std::move(operands), rank, arguments, [plain](const Tensors& in, std::uint64_t) {
        return Tensors{plain(in)};
      });
}

/// "[1, 2]" and "True", as the graph's text form has them.
inline std::string list(const Ints& values) {
  std::string text;
  for (const std::int64_t value : values) {
    text += (text.empty() ? "" : ", ") + std::to_string(value);
  }
  return "[" + text + "]";
}

inline std::string word(bool value) {
  return value ? "True" : "False";
}

/// What a trial with this key draws at node 0 in step 9, where parity's programs are.
inline at::Tensor drawn_uniforms(const Ints& sizes, std::uint64_t key) {
  at::Tensor uniforms = at::empty(sizes, at::kDouble);
  fill_uniform({.key = key, .node = 0, .step = 9},
               0,
               std::span<double>(uniforms.mutable_data_ptr<double>(),
                                 static_cast<std::size_t>(uniforms.numel())));
  return uniforms;
}

/// Dropout's mask from drawn_uniforms().
inline at::Tensor drawn_mask(const Ints& sizes,
                             double p,
                             std::uint64_t key,
                             const at::Tensor& like) {
  return drawn_uniforms(sizes, key).ge(p).to(like.scalar_type()) * (p < 1 ? 1 / (1 - p) : 0.0);
}

/// Standard normals, the same on every machine.
inline at::Tensor normals(const std::vector<std::int64_t>& sizes, std::uint64_t key) {
  at::Tensor out = at::empty(sizes, at::kDouble);
  fill_normal(
      {.key = key},
      0,
      std::span<double>(out.mutable_data_ptr<double>(), static_cast<std::size_t>(out.numel())));
  return out;
}

/// Largest difference over the reference's largest element; differences of nothing count as 0.
inline double relative_error(const at::Tensor& actual, const at::Tensor& reference) {
  if (reference.numel() == 0) {
    return 0;
  }
  const at::Tensor wanted = reference.detach().to(at::kDouble);
  const double difference =
      (actual.detach().to(at::kDouble) - wanted).abs().max().item<double>();
  const double largest = wanted.abs().max().item<double>();
  return difference == 0 ? 0 : difference / largest;
}

/// The program of a graph in text form, for so many trials.
inline Program program_of(std::string_view text, std::int64_t trials) {
  Result<Program> program = compile(ir::graph_of(text), trials);
  HYDRO_CHECK(program.has_value(), program ? "" : program.error().what);
  return *std::move(program);
}

}  // namespace hydro::ops
