// From the query of an attention back to the weight. Each op on the way that takes part of a
// dimension says which entries of the weight's outputs are meant.
#include "hydro/shrink/query.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "hydro/ir/graph.h"
#include "hydro/ir/model.h"
#include "hydro/shrink/analysis.h"
#include "hydro/shrink/atoms.h"
#include "hydro/shrink/attention.h"
#include "hydro/shrink/rules.h"
#include "hydro/shrink/walk.h"

namespace hydro::shrink {

namespace {

/// Entries [begin, end) of a dimension.
struct Taken {
  Dimension dimension;
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

/// One way from a query to a weight, and what was taken on it.
struct Path {
  const WeightUse* use = nullptr;
  std::vector<Taken> taken;
};

class Tracer {
 public:
  Tracer(const ir::Model& model, Side side, const Analysis& analysis)
      : graph_(graph_of(model, side)), side_(side), analysis_(analysis) {
    for (const WeightUse& use : analysis.uses) {
      if (use.side == side) {
        uses_[use.node].push_back(&use);
      }
    }
  }

  std::vector<Path> run(ir::ValueId query) {
    follow(query, {});
    return std::move(paths_);
  }

 private:
  void follow(ir::ValueId value, std::vector<Taken> taken) {
    const ir::NodeId producer = graph_.value(value).producer;
    if (producer == ir::kNoNode || !visited_.insert({value, taken.size()}).second) {
      return;
    }
    if (const auto found = uses_.find(producer); found != uses_.end()) {
      for (const WeightUse* use : found->second) {
        paths_.push_back({.use = use, .taken = taken});
      }
      return;
    }
    const ir::Node& node = graph_.node(producer);
    const RuleRow* row = find_rule(node.op);
    if (row == nullptr) {
      return;
    }
    if (const auto part = part_taken(node, value)) {
      taken.push_back(*part);
    }
    if (row->kind == OpKind::kLayout || row->rule == same_rule) {
      follow(first_tensor(graph_, node), std::move(taken));
    } else if (row->rule == broadcast_rule || row->rule == cat_rule) {
      for (const ir::ValueId operand : ir::operands(node)) {
        follow(operand, taken);
      }
    }
  }

  /// What a slice, split or select leaves of its operand; empty for other ops.
  std::optional<Taken> part_taken(const ir::Node& node, ir::ValueId value) const {
    const RuleRow* row = find_rule(node.op);
    const bool takes =
        row->rule == slice_rule || row->rule == select_rule || row->rule == split_rule;
    if (!takes) {
      return std::nullopt;
    }
    const Dimensions& whole = dims(node.value("self"));
    const std::size_t dim = dim_of(node, whole.size());
    std::int64_t begin = 0;
    std::int64_t length = 1;
    if (row->rule == select_rule) {
      begin = selected(node, value, analysis_.atoms.size(whole[dim]));
    } else {
      length = size(value, dim);
      begin = row->rule == slice_rule ? sliced(node, analysis_.atoms.size(whole[dim]))
                                      : pieces_before(node, value, dim);
    }
    return Taken{.dimension = whole[dim], .begin = begin, .end = begin + length};
  }

  const Dimensions& dims(ir::ValueId value) const {
    return analysis_.dims(side_).tensors.at(static_cast<std::size_t>(value));
  }

  std::int64_t size(ir::ValueId value, std::size_t dim) const {
    return graph_.value(value).tensor().shape.at(dim).size;
  }

  static std::int64_t from_front(const ir::Node& node, const char* name, std::int64_t size) {
    const ir::Argument* argument = node.find_argument(name);
    const auto* number = argument == nullptr ? nullptr : std::get_if<std::int64_t>(argument);
    const std::int64_t place = number == nullptr ? 0 : *number;
    return place < 0 ? place + size : place;
  }

  static std::int64_t sliced(const ir::Node& node, std::int64_t size) {
    return from_front(node, "start", size);
  }

  static std::int64_t selected(const ir::Node& node, ir::ValueId value, std::int64_t size) {
    if (node.find_argument("index") != nullptr) {
      return from_front(node, "index", size);
    }
    const auto output = std::ranges::find(node.outputs, value);  // unbind
    return output - node.outputs.begin();
  }

  std::int64_t pieces_before(const ir::Node& node, ir::ValueId value, std::size_t dim) const {
    std::int64_t begin = 0;
    for (const ir::ValueId output : node.outputs) {
      if (output == value) {
        break;
      }
      begin += size(output, dim);
    }
    return begin;
  }

  const ir::Graph& graph_;
  Side side_;
  const Analysis& analysis_;
  std::map<ir::NodeId, std::vector<const WeightUse*>> uses_;
  std::set<std::pair<ir::ValueId, std::size_t>> visited_;
  std::vector<Path> paths_;
};

/// A run of a dimension's factors: entry e of it is (row / stride) % size.
struct Run {
  std::int64_t stride = 1;
  std::int64_t size = 1;
};

/// Where the factors of `part` stand in `whole`; empty when they do not.
std::optional<Run> find_run(const Atoms& atoms, const Dimension& part, const Dimension& whole) {
  const Dimension wanted = atoms.factors(part);
  const Dimension factors = atoms.factors(whole);
  const auto found = std::ranges::search(factors, wanted);
  if (wanted.empty() || found.empty()) {
    return std::nullopt;
  }
  return Run{.stride = atoms.size(Dimension(found.end(), factors.end())),
             .size = atoms.size(wanted)};
}

/// Marks the entries of the fan-out that the path takes.
void mark(const Atoms& atoms, const Path& path, std::vector<bool>& entries) {
  std::vector<std::pair<Run, Taken>> conditions;
  for (const Taken& taken : path.taken) {
    if (const auto run = find_run(atoms, taken.dimension, path.use->fan_out)) {
      conditions.emplace_back(*run, taken);
    }
  }
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const auto row = static_cast<std::int64_t>(i);
    entries[i] = entries[i] || std::ranges::all_of(conditions, [&](const auto& condition) {
                   const auto& [run, taken] = condition;
                   const std::int64_t entry = (row / run.stride) % run.size;
                   return entry >= taken.begin && entry < taken.end;
                 });
  }
}

std::vector<ir::ZeroBlock> blocks_of(const std::vector<bool>& entries, std::int64_t dim) {
  std::vector<ir::ZeroBlock> blocks;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const auto row = static_cast<std::int64_t>(i);
    if (entries[i] && !blocks.empty() && blocks.back().end == row) {
      blocks.back().end = row + 1;
    } else if (entries[i]) {
      blocks.push_back({.dim = dim, .begin = row, .end = row + 1});
    }
  }
  return blocks;
}

/// The dimension of the weight that is its fan-out; empty when it is several or seen otherwise.
std::optional<std::int64_t> fan_out_dim(const Analysis& analysis, const WeightUse& use) {
  const Dimension wanted = analysis.atoms.factors(use.fan_out);
  const Dimension other = analysis.atoms.factors(use.fan_in);
  const Dimensions& dims = analysis.state.at(use.weight);
  if (dims.size() == 2 && wanted == other) {
    // Square: the rows of a linear weight and of a left factor, else columns.
    return use.activation == "input" || use.activation == "other" ? 0 : 1;
  }
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (analysis.atoms.factors(dims[i]) == wanted) {
      return static_cast<std::int64_t>(i);
    }
  }
  return std::nullopt;
}

}  // namespace

QueryBlocks query_blocks(const ir::Model& model, const Analysis& analysis) {
  QueryBlocks found;
  for (const Attention& attention : analysis.attentions) {
    const std::vector<Path> paths =
        Tracer(model, attention.side, analysis).run(attention.query);
    const bool one_weight = !paths.empty() && std::ranges::all_of(paths, [&](const Path& path) {
      return path.use->weight == paths.front().use->weight;
    });
    const auto dim = one_weight ? fan_out_dim(analysis, *paths.front().use) : std::nullopt;
    if (!dim) {
      found.not_found.push_back(
          graph_of(model, attention.side).node(attention.node).describe());
      continue;
    }
    const WeightUse& use = *paths.front().use;
    std::vector<bool> entries(static_cast<std::size_t>(analysis.atoms.size(use.fan_out)));
    for (const Path& path : paths) {
      mark(analysis.atoms, path, entries);
    }
    found.blocks[use.weight] = blocks_of(entries, *dim);
    if (!use.bias.empty()) {
      found.blocks[use.bias] = blocks_of(entries, 0);
    }
  }
  return found;
}

std::set<std::string> logit_weights(const ir::Model& model, const Analysis& analysis) {
  std::set<std::string> found;
  for (const Attention& attention : analysis.attentions) {
    const ir::Node& node = graph_of(model, attention.side).node(attention.node);
    for (const ir::ValueId factor : logit_factors(node)) {
      for (const Path& path : Tracer(model, attention.side, analysis).run(factor)) {
        found.insert(path.use->weight);
      }
    }
  }
  return found;
}

}  // namespace hydro::shrink
