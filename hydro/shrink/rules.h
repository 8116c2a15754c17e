// hydro/shrink/rules.h — the table of ops that shrinking follows: one row an op. Pointwise ops
// need none. What any other op touches keeps its sizes.
#pragma once

#include <cstddef>
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
  kLayout,  // another layout or a part of its first operand: a weight is recognised through it
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
// rules_attention.cpp
Result<void> attention_rule(Walk& walk, const ir::Node& node);
Result<void> softmax_rule(Walk& walk, const ir::Node& node);
// rules_conv.cpp
Result<void> conv_rule(Walk& walk, const ir::Node& node);
Result<void> pool_rule(Walk& walk, const ir::Node& node);
// rules_einsum.cpp
Result<void> einsum_rule(Walk& walk, const ir::Node& node);
// rules_index.cpp
Result<void> index_rule(Walk& walk, const ir::Node& node);
Result<void> index_select_rule(Walk& walk, const ir::Node& node);
Result<void> gather_rule(Walk& walk, const ir::Node& node);
// rules_join.cpp
Result<void> cat_rule(Walk& walk, const ir::Node& node);
Result<void> stack_rule(Walk& walk, const ir::Node& node);
Result<void> pad_rule(Walk& walk, const ir::Node& node);
// rules_make.cpp
Result<void> fresh_rule(Walk& walk, const ir::Node& node);
Result<void> counted_rule(Walk& walk, const ir::Node& node);
// rules_norm.cpp
Result<void> batch_norm_rule(Walk& walk, const ir::Node& node);
Result<void> layer_norm_rule(Walk& walk, const ir::Node& node);
Result<void> group_norm_rule(Walk& walk, const ir::Node& node);
// rules_product.cpp
Result<void> linear_rule(Walk& walk, const ir::Node& node);
Result<void> addmm_rule(Walk& walk, const ir::Node& node);
Result<void> baddbmm_rule(Walk& walk, const ir::Node& node);
Result<void> matmul_rule(Walk& walk, const ir::Node& node);
Result<void> mm_rule(Walk& walk, const ir::Node& node);
Result<void> mv_rule(Walk& walk, const ir::Node& node);
Result<void> dot_rule(Walk& walk, const ir::Node& node);
Result<void> embedding_rule(Walk& walk, const ir::Node& node);
// rules_recurrent.cpp
Result<void> recurrent_rule(Walk& walk, const ir::Node& node);
// rules_reduce.cpp
Result<void> mean_rule(Walk& walk, const ir::Node& node);
Result<void> sum_rule(Walk& walk, const ir::Node& node);
Result<void> extreme_rule(Walk& walk, const ir::Node& node);
Result<void> along_rule(Walk& walk, const ir::Node& node);
Result<void> triangle_rule(Walk& walk, const ir::Node& node);
Result<void> loss_rule(Walk& walk, const ir::Node& node);
// rules_shape.cpp
Result<void> same_rule(Walk& walk, const ir::Node& node);
Result<void> broadcast_rule(Walk& walk, const ir::Node& node);
Result<void> pair_loss_rule(Walk& walk, const ir::Node& node);
Result<void> reshape_rule(Walk& walk, const ir::Node& node);
Result<void> expand_rule(Walk& walk, const ir::Node& node);
Result<void> repeat_rule(Walk& walk, const ir::Node& node);
Result<void> interleave_rule(Walk& walk, const ir::Node& node);
Result<void> prelu_rule(Walk& walk, const ir::Node& node);
Result<void> permute_rule(Walk& walk, const ir::Node& node);
Result<void> transpose_rule(Walk& walk, const ir::Node& node);
Result<void> reverse_rule(Walk& walk, const ir::Node& node);
Result<void> last_two_rule(Walk& walk, const ir::Node& node);
Result<void> move_rule(Walk& walk, const ir::Node& node);
Result<void> unsqueeze_rule(Walk& walk, const ir::Node& node);
Result<void> squeeze_rule(Walk& walk, const ir::Node& node);
Result<void> roll_rule(Walk& walk, const ir::Node& node);
Result<void> pixel_shuffle_rule(Walk& walk, const ir::Node& node);
Result<void> size_rule(Walk& walk, const ir::Node& node);
// rules_slice.cpp
Result<void> slice_rule(Walk& walk, const ir::Node& node);
Result<void> select_rule(Walk& walk, const ir::Node& node);
Result<void> slice_scatter_rule(Walk& walk, const ir::Node& node);
Result<void> select_scatter_rule(Walk& walk, const ir::Node& node);
Result<void> glu_rule(Walk& walk, const ir::Node& node);
Result<void> split_rule(Walk& walk, const ir::Node& node);

// What several of these files share.
void unify_optional(Walk& walk,
                    const ir::Node& node,
                    std::string_view argument,
                    const Dimension& channels);
/// Joins the output's dimensions with the computed sizes that the node is given for them.
void unify_given_sizes(Walk& walk, const ir::Node& node, const Dimensions& out);
/// The place that argument `dim` names; 0 without one.
[[nodiscard]] std::size_t dim_of(const ir::Node& node, std::size_t rank);

}  // namespace hydro::shrink
