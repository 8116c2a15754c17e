// Rules of matrix products: with a weight, or of two activations.
#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/ir/graph.h"
#include "hydro/shrink/analysis.h"
#include "hydro/shrink/atoms.h"
#include "hydro/shrink/rules.h"
#include "hydro/shrink/walk.h"

namespace hydro::shrink {

namespace {

/// A product's two operands, by argument name.
struct Operands {
  std::string left;
  std::string right;
  std::string added = {};  // empty: none
};

/// The dimensions in front of the last two, broadcast against each other.
Dimensions batch_dims(Walk& walk,
                      const ir::Node& node,
                      const Dimensions& a,
                      const Dimensions& b) {
  const auto front = [](const Dimensions& x) {
    return Dimensions(x.begin(), x.end() - std::min<std::ptrdiff_t>(std::ssize(x), 2));
  };
  Dimensions left = front(a);
  Dimensions right = front(b);
  const std::size_t rank = std::max(left.size(), right.size());
  left.insert(left.begin(), rank - left.size(), Dimension{});
  right.insert(right.begin(), rank - right.size(), Dimension{});
  for (std::size_t i = 0; i < rank; ++i) {
    if (left[i].empty()) {
      left[i] = right[i];
    } else if (!right[i].empty()) {
      walk.unify(node, left[i], right[i]);
    }
  }
  return left;
}

/// How many matrices a weight holds says nothing about their width.
void pin_matrices(Walk& walk, const ir::Node& node, const Dimensions& weight) {
  for (std::size_t i = 0; i + 2 < weight.size(); ++i) {
    walk.pin(node, weight[i], "number of matrices");
  }
}

Dimension row_of(const Dimensions& x) {
  return x.size() > 1 ? x[x.size() - 2] : Dimension{};
}

/// [.., m, k] x [.., k, n]; a vector stands for one row on the left, one column on the right.
Result<void> product(Walk& walk, const ir::Node& node, const Operands& names) {
  const ir::ValueId left = node.value(names.left);
  const ir::ValueId right = node.value(names.right);
  HYDRO_TRY_VOID(need_rank(walk, node, left, 1));
  HYDRO_TRY_VOID(need_rank(walk, node, right, 1));
  const Dimensions a = walk.dims(left);
  const Dimensions b = walk.dims(right);
  const Dimension& contracted = a.back();
  const Dimension column = b.size() > 1 ? b.back() : Dimension{};
  walk.unify(node, contracted, b.size() > 1 ? row_of(b) : b.back());
  Dimensions out = batch_dims(walk, node, a, b);
  if (a.size() > 1) {
    out.push_back(row_of(a));
  }
  if (b.size() > 1) {
    out.push_back(column);
  }
  walk.set_outputs(node, out);
  const auto added =
      names.added.empty() ? std::nullopt : std::optional(node.value(names.added));
  if (walk.is_weight(left) && walk.is_weight(right)) {
    walk.pin_all(node, "product of parameters");
  } else if (walk.is_weight(right)) {
    pin_matrices(walk, node, b);
    walk.add_product(node,
                     {.weight = right,
                      .bias = added,
                      .activation = names.left,
                      .fan_in = contracted,
                      .fan_out = column});
  } else if (walk.is_weight(left)) {
    pin_matrices(walk, node, a);
    walk.add_product(node,
                     {.weight = left,
                      .bias = added,
                      .activation = names.right,
                      .fan_in = contracted,
                      .fan_out = row_of(a)});
  } else {
    walk.add_contraction(node, Contraction::Kind::kProduct, contracted);
  }
  return {};
}

/// As product(), with a third tensor added to the result.
Result<void> product_and_sum(Walk& walk, const ir::Node& node, const Operands& names) {
  HYDRO_TRY_VOID(product(walk, node, names));
  const Dimensions out = walk.dims(node.outputs.at(0));
  const Dimensions added = walk.dims(node.value(names.added));
  if (added.size() > out.size()) {
    return contradiction(node, "what is added has more dimensions than the product");
  }
  for (std::size_t i = 1; i <= added.size(); ++i) {
    const Dimension& own = added[added.size() - i];
    if (!own.empty() && !out[out.size() - i].empty()) {
      walk.unify(node, own, out[out.size() - i]);
    }
  }
  return {};
}

}  // namespace

Result<void> linear_rule(Walk& walk, const ir::Node& node) {
  const ir::ValueId input = node.value("input");
  const ir::ValueId weight = node.value("weight");
  HYDRO_TRY_VOID(need_rank(walk, node, input, 1));
  HYDRO_TRY_VOID(need_rank(walk, node, weight, 1));
  const Dimensions w = walk.dims(weight);
  const Dimension fan_out = w.size() > 1 ? w[0] : Dimension{};
  Dimensions out = walk.dims(input);
  walk.unify(node, out.back(), w.back());
  unify_optional(walk, node, "bias", fan_out);
  out.pop_back();
  if (w.size() > 1) {
    out.push_back(fan_out);
  }
  walk.set_outputs(node, out);
  walk.add_product(node,
                   {.weight = weight,
                    .bias = node.optional_value("bias"),
                    .fan_in = w.back(),
                    .fan_out = fan_out});
  return {};
}

Result<void> addmm_rule(Walk& walk, const ir::Node& node) {
  return product_and_sum(walk, node, {.left = "mat1", .right = "mat2", .added = "self"});
}

Result<void> baddbmm_rule(Walk& walk, const ir::Node& node) {
  return product_and_sum(walk, node, {.left = "batch1", .right = "batch2", .added = "self"});
}

Result<void> matmul_rule(Walk& walk, const ir::Node& node) {
  return product(walk, node, {.left = "self", .right = "other"});
}

Result<void> mm_rule(Walk& walk, const ir::Node& node) {
  return product(walk, node, {.left = "self", .right = "mat2"});
}

Result<void> mv_rule(Walk& walk, const ir::Node& node) {
  return product(walk, node, {.left = "self", .right = "vec"});
}

Result<void> dot_rule(Walk& walk, const ir::Node& node) {
  return product(walk, node, {.left = "self", .right = "tensor"});
}

Result<void> embedding_rule(Walk& walk, const ir::Node& node) {
  const ir::ValueId weight = node.value("weight");
  HYDRO_TRY_VOID(need_rank(walk, node, weight, 2));
  const Dimensions w = walk.dims(weight);
  walk.atoms().pin(w[0], "rows of an embedding");
  Dimensions out = walk.dims(node.value("indices"));
  out.push_back(w[1]);
  walk.set_outputs(node, out);
  walk.add_product(
      node, {.weight = weight, .activation = "indices", .fan_in = w[0], .fan_out = w[1]});
  return {};
}

}  // namespace hydro::shrink
