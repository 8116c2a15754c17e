// hydro/ops/boxed.h — ops as libtorch itself runs them, found by name. What has no function of
// ours runs so; the functions for rows are in families.h.
#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "hydro/ir/graph.h"
#include "hydro/ops/ops.h"
#include "hydro/ops/torch.h"

namespace hydro::ops {

/// Nothing when libtorch has no such op ("aten.conv2d.padding").
[[nodiscard]] std::optional<c10::OperatorHandle> find_operator(std::string_view op);

/// A tensor operand as the call is to see it.
using OperandOf = std::function<at::Tensor(ir::ValueId)>;

/// Changes an argument of the call, given its name in the schema.
using Adjust = std::function<void(std::string_view name, c10::IValue& value)>;

/// Calls the node's op. Arguments come from the node by schema name, else from the schema;
/// devices and precisions are the run's; a number where a tensor is wanted becomes a wrapped
/// one. Returns one tensor or integer for each output of the node.
///
/// Requires: find_operator() knows the op (BugError)
/// Throws:   c10::Error
[[nodiscard]] std::vector<c10::IValue> call_boxed(const Call& call,
                                                  const OperandOf& operand,
                                                  const Adjust& adjust = {});
/// An operand as one trial has it. All trials must have the same, or only its shape may count.
[[nodiscard]] at::Tensor of_one_trial(const Call& call, ir::ValueId value);
void put_results(const Call& call, std::vector<c10::IValue> results);

}  // namespace hydro::ops
