// Rules of reductions. A mean over a width stays what it is; a sum grows with the width; of any
// other reduction the width is kept.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/ir/graph.h"
#include "hydro/shrink/analysis.h"
#include "hydro/shrink/atoms.h"
#include "hydro/shrink/rules.h"
#include "hydro/shrink/walk.h"

namespace hydro::shrink {

namespace {

/// The dimensions that go: all without an argument `dim`, and where it is None or empty.
std::vector<bool> reduced_dims(const ir::Node& node, std::size_t rank) {
  std::vector<bool> reduced(rank, false);
  const ir::Argument* dim = node.find_argument("dim");
  const auto* one = dim == nullptr ? nullptr : std::get_if<std::int64_t>(dim);
  const auto* list = dim == nullptr ? nullptr : std::get_if<std::vector<ir::IntItem>>(dim);
  if (one != nullptr && rank > 0) {
    reduced.at(Walk::index(*one, rank)) = true;
  } else if (list != nullptr && !list->empty()) {
    for (const std::int64_t place : node.integers("dim")) {
      reduced.at(Walk::index(place, rank)) = true;
    }
  } else {
    reduced.assign(rank, true);
  }
  return reduced;
}

bool keeps_dims(const ir::Node& node) {
  const ir::Argument* keep = node.find_argument("keepdim");
  const bool* flag = keep == nullptr ? nullptr : std::get_if<bool>(keep);
  return flag != nullptr && *flag;
}

/// Labels the outputs; gives the factors that are reduced.
Dimension reduce(Walk& walk, const ir::Node& node) {
  const Dimensions x = walk.dims(first_tensor(walk.graph(), node));
  const std::vector<bool> reduced = reduced_dims(node, x.size());
  Dimensions kept;
  Dimension gone;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (!reduced[i]) {
      kept.push_back(x[i]);
      continue;
    }
    gone.insert(gone.end(), x[i].begin(), x[i].end());
    if (keeps_dims(node)) {
      kept.emplace_back();
    }
  }
  walk.set_outputs(node, kept);
  return gone;
}

}  // namespace

Result<void> mean_rule(Walk& walk, const ir::Node& node) {
  reduce(walk, node);
  return {};
}

Result<void> sum_rule(Walk& walk, const ir::Node& node) {
  walk.add_contraction(node, Contraction::Kind::kSum, reduce(walk, node));
  return {};
}

Result<void> extreme_rule(Walk& walk, const ir::Node& node) {
  walk.pin(node, reduce(walk, node), "reduced");
  return {};
}

Result<void> along_rule(Walk& walk, const ir::Node& node) {
  const Dimensions x = walk.dims(first_tensor(walk.graph(), node));
  if (!x.empty()) {
    walk.pin(node, x[Walk::index(node.integer("dim"), x.size())], "order matters along it");
  }
  walk.set_outputs(node, x);
  return {};
}

Result<void> triangle_rule(Walk& walk, const ir::Node& node) {
  const Dimensions x = walk.dims(node.value("self"));
  for (std::size_t i = x.size() - std::min<std::size_t>(x.size(), 2); i < x.size(); ++i) {
    walk.pin(node, x[i], "order matters along it");
  }
  walk.set_outputs(node, x);
  return {};
}

Result<void> loss_rule(Walk& walk, const ir::Node& node) {
  // Classes stay; the rest broadcasts or goes.
  const Dimensions x = walk.dims(first_tensor(walk.graph(), node));
  if (!x.empty()) {
    walk.pin(node, x[x.size() > 1 ? 1 : 0], "classes of a loss");
  }
  const ir::ValueId output = node.outputs.at(0);
  Dimensions out;
  for (std::size_t i = 0; i < walk.shape(output).size(); ++i) {
    out.push_back(walk.dims(node.value("target")).at(i));
  }
  walk.set_outputs(node, out);
  return {};
}

}  // namespace hydro::shrink
