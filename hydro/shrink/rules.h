// hydro/shrink/rules.h — the table of ops that shrinking knows: one row an op. An op that is
// not in it is refused by name.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "hydro/base/result.h"
#include "hydro/ir/graph.h"
#include "hydro/shrink/resize.h"
#include "hydro/shrink/walk.h"

namespace hydro::shrink {

/// Labels the node's outputs from its operands.
using Rule = Result<void> (*)(Walk&, const ir::Node&);
/// Rewrites the node's integer arguments to the new sizes.
using Resize = void (*)(const Resizer&, ir::Node&);

enum class OpKind : std::uint8_t {
  kPlain,
  kLayout,  // rearranges its first operand: a weight is recognised through it
  kWeight   // multiplies with a weight
};

struct RuleRow {
  std::string_view op;
  Rule rule = nullptr;
  Resize resize = nullptr;  // null: no argument holds a size
  OpKind kind = OpKind::kPlain;
};

[[nodiscard]] std::span<const RuleRow> rule_rows();
/// Null when the op has no rule.
[[nodiscard]] const RuleRow* find_rule(std::string_view op);

// The rules, by file.
// rules_weight.cpp
Result<void> conv2d_rule(Walk& walk, const ir::Node& node);
Result<void> linear_rule(Walk& walk, const ir::Node& node);
Result<void> addmm_rule(Walk& walk, const ir::Node& node);
Result<void> batch_norm_rule(Walk& walk, const ir::Node& node);
Result<void> layer_norm_rule(Walk& walk, const ir::Node& node);
Result<void> pool2d_rule(Walk& walk, const ir::Node& node);
// rules_shape.cpp
Result<void> same_rule(Walk& walk, const ir::Node& node);
Result<void> broadcast_rule(Walk& walk, const ir::Node& node);
Result<void> reshape_rule(Walk& walk, const ir::Node& node);
Result<void> expand_rule(Walk& walk, const ir::Node& node);
Result<void> permute_rule(Walk& walk, const ir::Node& node);
Result<void> transpose_rule(Walk& walk, const ir::Node& node);
Result<void> unsqueeze_rule(Walk& walk, const ir::Node& node);
Result<void> squeeze_rule(Walk& walk, const ir::Node& node);
Result<void> mean_rule(Walk& walk, const ir::Node& node);
Result<void> fresh_rule(Walk& walk, const ir::Node& node);
Result<void> size_rule(Walk& walk, const ir::Node& node);
// rules_slice.cpp
Result<void> slice_rule(Walk& walk, const ir::Node& node);
Result<void> select_rule(Walk& walk, const ir::Node& node);
Result<void> slice_scatter_rule(Walk& walk, const ir::Node& node);
Result<void> select_scatter_rule(Walk& walk, const ir::Node& node);
Result<void> split_rule(Walk& walk, const ir::Node& node);
Result<void> cat_rule(Walk& walk, const ir::Node& node);
Result<void> pad_rule(Walk& walk, const ir::Node& node);

}  // namespace hydro::shrink
