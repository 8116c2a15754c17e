// Rules of element-wise ops and of ops that only rearrange dimensions.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <variant>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/ir/graph.h"
#include "hydro/shrink/atoms.h"
#include "hydro/shrink/rules.h"
#include "hydro/shrink/walk.h"

namespace hydro::shrink {

namespace {

const std::vector<ir::IntItem>& size_items(const ir::Node& node) {
  return node.items(node.find_argument("size") != nullptr ? "size" : "shape");
}

Dimensions fresh(Walk& walk, ir::ValueId value) {
  Dimensions made;
  for (const std::int64_t size : walk.shape(value)) {
    made.push_back(walk.atoms().add_free(size));
  }
  return made;
}

}  // namespace

Result<void> same_rule(Walk& walk, const ir::Node& node) {
  const Dimensions x = walk.dims(first_tensor(walk.graph(), node));
  walk.set_outputs(node, x);
  return {};
}

Result<void> broadcast_rule(Walk& walk, const ir::Node& node) {
  Dimensions out(walk.shape(node.outputs.at(0)).size());
  for (const ir::ValueId operand : ir::operands(node)) {
    if (!walk.graph().value(operand).is_tensor()) {
      continue;
    }
    const Dimensions x = walk.dims(operand);
    if (x.size() > out.size()) {
      return contradiction(node, "an operand has more dimensions than the result");
    }
    const std::size_t shift = out.size() - x.size();
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (out[shift + i].empty()) {
        out[shift + i] = x[i];
      } else if (!x[i].empty()) {
        walk.unify(node, out[shift + i], x[i]);
      }
    }
  }
  walk.set_outputs(node, out);
  return {};
}

Result<void> reshape_rule(Walk& walk, const ir::Node& node) {
  const ir::ValueId output = node.outputs.at(0);
  const Dimensions in = walk.dims(first_tensor(walk.graph(), node));
  const Dimensions out = fresh(walk, output);
  if (node.op != "aten.flatten.using_ints") {
    const std::vector<ir::IntItem>& items = size_items(node);
    for (std::size_t i = 0; i < std::min(items.size(), out.size()); ++i) {
      const auto* value = std::get_if<ir::ValueId>(&items[i]);
      if (value != nullptr && !walk.integer_dims(*value).empty()) {
        walk.unify(node, out[i], walk.integer_dims(*value));
      }
    }
  }
  // Factors that do not line up are pinned, and `check` shows this reason beside the class.
  static_cast<void>(walk.atoms().unify_flat(in, out, "opaque reshape at " + node.describe()));
  walk.set(output, out);
  return {};
}

Result<void> expand_rule(Walk& walk, const ir::Node& node) {
  const ir::ValueId output = node.outputs.at(0);
  const Dimensions in = walk.dims(first_tensor(walk.graph(), node));
  Dimensions out = fresh(walk, output);
  if (in.size() > out.size()) {
    return contradiction(node, "expands to fewer dimensions");
  }
  for (std::size_t i = 0; i < in.size(); ++i) {
    if (!in[i].empty()) {
      out[out.size() - in.size() + i] = in[i];
    }
  }
  walk.set(output, out);
  return {};
}

Result<void> permute_rule(Walk& walk, const ir::Node& node) {
  const Dimensions in = walk.dims(node.value("self"));
  Dimensions out;
  for (const std::int64_t dim : node.integers("dims")) {
    out.push_back(in.at(Walk::index(dim, in.size())));
  }
  walk.set_outputs(node, out);
  return {};
}

Result<void> transpose_rule(Walk& walk, const ir::Node& node) {
  Dimensions out = walk.dims(node.value("self"));
  const bool plain = node.find_argument("dim0") == nullptr;  // aten.t
  if (out.size() < 2) {
    walk.set_outputs(node, out);
    return {};
  }
  const std::size_t first = plain ? 0 : Walk::index(node.integer("dim0"), out.size());
  const std::size_t second = plain ? 1 : Walk::index(node.integer("dim1"), out.size());
  std::swap(out.at(first), out.at(second));
  walk.set_outputs(node, out);
  return {};
}

Result<void> unsqueeze_rule(Walk& walk, const ir::Node& node) {
  Dimensions out = walk.dims(node.value("self"));
  const std::size_t dim = Walk::index(node.integer("dim"), out.size() + 1);
  if (dim > out.size()) {
    return contradiction(node, "dimension out of range");
  }
  out.insert(out.begin() + static_cast<std::ptrdiff_t>(dim), Dimension{});
  walk.set_outputs(node, out);
  return {};
}

Result<void> squeeze_rule(Walk& walk, const ir::Node& node) {
  Dimensions out = walk.dims(node.value("self"));
  const std::size_t dim = Walk::index(node.integer("dim"), out.size());
  if (dim < out.size() && out[dim].empty()) {
    out.erase(out.begin() + static_cast<std::ptrdiff_t>(dim));
  }
  walk.set_outputs(node, out);
  return {};
}

Result<void> mean_rule(Walk& walk, const ir::Node& node) {
  Dimensions out = walk.dims(node.value("self"));
  std::vector<bool> dropped(out.size(), false);
  const ir::Argument& dims = node.argument("dim");
  if (std::holds_alternative<ir::None>(dims) || node.integers("dim").empty()) {
    dropped.assign(out.size(), true);
  } else {
    for (const std::int64_t dim : node.integers("dim")) {
      dropped.at(Walk::index(dim, out.size())) = true;
    }
  }
  Dimensions kept;
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (!dropped[i]) {
      kept.push_back(out[i]);
    } else if (node.boolean("keepdim")) {
      kept.emplace_back();
    }
  }
  walk.set_outputs(node, kept);
  return {};
}

Result<void> fresh_rule(Walk& walk, const ir::Node& node) {
  walk.set_outputs(node, fresh(walk, node.outputs.at(0)));
  return {};
}

Result<void> size_rule(Walk& walk, const ir::Node& node) {
  const Dimensions x = walk.dims(node.value("self"));
  walk.set_integer(node.outputs.at(0), x.at(Walk::index(node.integer("dim"), x.size())));
  return {};
}

}  // namespace hydro::shrink
