// A written-out attention is a product of activations whose result reaches a softmax through
// nothing but element-wise ops and changes of layout; what the softmax gives meets the values
// in the next product.
#include "hydro/shrink/attention.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "hydro/ir/graph.h"
#include "hydro/ir/model.h"
#include "hydro/shrink/analysis.h"
#include "hydro/shrink/atoms.h"
#include "hydro/shrink/rules.h"
#include "hydro/shrink/walk.h"

namespace hydro::shrink {

namespace {

constexpr std::string_view kFused = "aten.scaled_dot_product_attention.default";
constexpr std::array<std::string_view, 2> kSoftmax = {"aten.softmax.int",
                                                      "aten._softmax.default"};
constexpr std::string_view kSequence = "sequence length";

/// Element by element, or the same entries in another layout.
bool passes_entries(const ir::Node& node) {
  const RuleRow* row = find_rule(node.op);
  return row != nullptr && (row->kind == OpKind::kLayout || row->rule == same_rule ||
                            row->rule == broadcast_rule);
}

class Finder {
 public:
  Finder(const ir::Model& model, Side side, Analysis& analysis)
      : graph_(graph_of(model, side)),
        users_(ir::users(graph_)),
        side_(side),
        analysis_(analysis) {
    for (const Contraction& contraction : analysis.contractions) {
      if (contraction.side == side && contraction.kind == Contraction::Kind::kProduct) {
        products_.insert(contraction.node);
      }
    }
  }

  void run() {
    for (std::int32_t i = 0; i < graph_.node_count(); ++i) {
      const ir::Node& node = graph_.node(ir::NodeId{i});
      if (node.op == kFused) {
        add_fused(ir::NodeId{i});
      } else if (std::ranges::find(kSoftmax, node.op) != kSoftmax.end()) {
        add_written_out(ir::NodeId{i});
      }
    }
  }

 private:
  const Dimensions& dims(ir::ValueId value) const {
    return analysis_.dims(side_).tensors.at(static_cast<std::size_t>(value));
  }

  /// Atoms that come from a parameter: heads, but not the batch.
  Dimension of_parameters(const Dimension& dimension) const {
    Dimension found;
    for (const AtomId leaf : analysis_.atoms.leaves(dimension)) {
      if (analysis_.atoms.is_parameter(leaf)) {
        found.push_back(leaf);
      }
    }
    return found;
  }

  Dimension heads_of(const Dimensions& logits) const {
    Dimension heads;
    for (std::size_t i = 0; i + 2 < logits.size(); ++i) {
      const Dimension own = of_parameters(logits[i]);
      heads.insert(heads.end(), own.begin(), own.end());
    }
    return heads;
  }

  void pin_sequences(const Dimensions& logits) {
    for (std::size_t i = logits.size() - std::min<std::size_t>(logits.size(), 2);
         i < logits.size();
         ++i) {
      analysis_.atoms.pin(logits[i], kSequence);
    }
  }

  void add_fused(ir::NodeId id) {
    const ir::Node& node = graph_.node(id);
    const Dimensions query = dims(node.value("query"));
    const Dimensions key = dims(node.value("key"));
    const Dimensions value = dims(node.value("value"));
    if (query.size() < 2 || key.size() != query.size() || value.size() != query.size()) {
      return;
    }
    Dimensions logits = query;
    logits.back() = key[key.size() - 2];
    pin_sequences(logits);
    analysis_.attentions.push_back({.side = side_,
                                    .node = id,
                                    .query = node.value("query"),
                                    .heads = heads_of(logits),
                                    .query_dim = query.back(),
                                    .value_dim = value.back()});
  }

  void add_written_out(ir::NodeId softmax) {
    const std::optional<ir::NodeId> logits = product_before(softmax);
    if (!logits) {
      return;
    }
    const auto found =
        std::ranges::find_if(analysis_.contractions, [&](const Contraction& contraction) {
          return contraction.side == side_ && contraction.node == *logits;
        });
    if (found == analysis_.contractions.end()) {
      return;
    }
    const ir::Node& node = graph_.node(*logits);
    const Dimensions result = dims(node.outputs.at(0));
    Attention attention{.side = side_,
                        .node = *logits,
                        .softmax = softmax,
                        .query = first_tensor_of_product(node),
                        .heads = heads_of(result),
                        .query_dim = found->over,
                        .value_dim = value_dim(softmax, result)};
    analysis_.contractions.erase(found);
    pin_sequences(result);
    analysis_.attentions.push_back(std::move(attention));
  }

  ir::ValueId first_tensor_of_product(const ir::Node& node) const {
    return node.find_argument("batch1") != nullptr ? node.value("batch1")
                                                   : first_tensor(graph_, node);
  }

  /// The product whose result the softmax takes, if there is one.
  std::optional<ir::NodeId> product_before(ir::NodeId softmax) const {
    std::vector<ir::ValueId> open = {first_tensor(graph_, graph_.node(softmax))};
    std::set<ir::ValueId> seen;
    while (!open.empty()) {
      const ir::ValueId value = open.back();
      open.pop_back();
      const ir::NodeId producer = graph_.value(value).producer;
      if (producer == ir::kNoNode || !seen.insert(value).second) {
        continue;
      }
      if (products_.contains(producer)) {
        return producer;
      }
      const ir::Node& node = graph_.node(producer);
      if (passes_entries(node)) {
        const std::vector<ir::ValueId> read = ir::operands(node);
        open.insert(open.end(), read.begin(), read.end());
      }
    }
    return std::nullopt;
  }

  /// The entries of a value: what the product behind the softmax has beside the weights' own
  /// dimensions.
  Dimension value_dim(ir::NodeId softmax, const Dimensions& logits) const {
    std::set<AtomId> known;
    for (const Dimension& dimension : logits) {
      for (const AtomId leaf : analysis_.atoms.leaves(dimension)) {
        known.insert(leaf);
      }
    }
    std::vector<ir::ValueId> open = graph_.node(softmax).outputs;
    std::set<ir::ValueId> seen;
    while (!open.empty()) {
      const ir::ValueId value = open.back();
      open.pop_back();
      if (!seen.insert(value).second) {
        continue;
      }
      for (const ir::NodeId user : users_.at(static_cast<std::size_t>(value))) {
        const ir::Node& node = graph_.node(user);
        if (products_.contains(user)) {
          return new_widths(dims(node.outputs.at(0)), known);
        }
        if (passes_entries(node)) {
          open.insert(open.end(), node.outputs.begin(), node.outputs.end());
        }
      }
    }
    return {};
  }

  Dimension new_widths(const Dimensions& result, const std::set<AtomId>& known) const {
    Dimension found;
    for (const Dimension& dimension : result) {
      for (const AtomId leaf : of_parameters(dimension)) {
        if (!known.contains(leaf)) {
          found.push_back(leaf);
        }
      }
    }
    return found;
  }

  const ir::Graph& graph_;
  std::vector<std::vector<ir::NodeId>> users_;
  Side side_;
  Analysis& analysis_;
  std::set<ir::NodeId> products_;
};

/// Why the largest pinned factor stays; empty when none is pinned.
std::string pinned_because(const Atoms& atoms, const Dimension& dimension) {
  std::string reason;
  std::int64_t largest = 0;
  for (const AtomId leaf : atoms.leaves(dimension)) {
    const bool stays = atoms.is_parameter(leaf) && !atoms.pinned_because(leaf).empty();
    if (stays && atoms.size(leaf) > largest) {
      largest = atoms.size(leaf);
      reason = atoms.pinned_because(leaf);
    }
  }
  return reason;
}

/// Queries, keys and values have one head size: where a rotary table pins one, all stay.
void settle_head_sizes(Analysis& analysis) {
  bool changed = true;
  while (changed) {
    changed = false;
    for (const Attention& attention : analysis.attentions) {
      for (const auto& [from, to] : {std::pair(attention.query_dim, attention.value_dim),
                                     std::pair(attention.value_dim, attention.query_dim)}) {
        const std::string reason = pinned_because(analysis.atoms, from);
        for (const Dimension& dimension : {from, to}) {
          if (!reason.empty() && analysis.atoms.has_width(dimension)) {
            analysis.atoms.pin(dimension, "size of a head: " + reason);
            changed = true;
          }
        }
      }
    }
  }
}

}  // namespace

std::vector<ir::ValueId> logit_factors(const ir::Node& node) {
  std::vector<ir::ValueId> found;
  for (const ir::NamedArgument& argument : node.arguments) {
    const bool is_added = argument.name == "self" && node.find_argument("batch1") != nullptr;
    const bool other = argument.name == "value" || argument.name == "attn_mask" || is_added;
    const auto* value = std::get_if<ir::ValueId>(&argument.value);
    if (value != nullptr && !other) {
      found.push_back(*value);
    } else if (const auto* list = std::get_if<std::vector<ir::ValueId>>(&argument.value)) {
      found.insert(found.end(), list->begin(), list->end());
    }
  }
  return found;
}

void find_attentions(const ir::Model& model, Analysis& analysis) {
  for (const Side side : {Side::kTrain, Side::kEval}) {
    Finder(model, side, analysis).run();
  }
  settle_head_sizes(analysis);
}

}  // namespace hydro::shrink
