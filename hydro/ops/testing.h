// hydro/ops/testing.h — parity: an op on K stacked trials against K separate plain calls of
// torch.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hydro/base/philox.h"
#include "hydro/ops/torch.h"

namespace hydro::ops {

using Tensors = std::vector<at::Tensor>;

/// kActivation is tried both as one tensor for all trials and as one a trial; kState is one a
/// trial; kConstant is shared. kMask: a shared bool tensor. kVariance: state, positive. kCount:
/// state, a whole number.
enum class Role : std::uint8_t { kActivation, kState, kConstant, kMask, kVariance, kCount };

struct Operand {
  std::string name;
  std::vector<std::int64_t> shape;
  Role role = Role::kActivation;
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
[[nodiscard]] std::vector<Case> value_cases();

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

/// Standard normals, the same on every machine.
inline at::Tensor normals(std::vector<std::int64_t> sizes, std::uint64_t key) {
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

}  // namespace hydro::ops
