#include "hydro/shrink/scale_sites.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "hydro/ir/graph.h"
#include "hydro/shrink/analysis.h"
#include "hydro/shrink/attention.h"
#include "hydro/shrink/rules.h"
#include "hydro/shrink/walk.h"

namespace hydro::shrink {

namespace {

struct ScaleOp {
  std::string_view op;
  ScaleSite::Form form;
};

constexpr std::array kScaleOps = {
    ScaleOp{.op = "aten.mul.Tensor", .form = ScaleSite::Form::kFactor},
    ScaleOp{.op = "aten.mul.Scalar", .form = ScaleSite::Form::kFactor},
    ScaleOp{.op = "aten.div.Tensor", .form = ScaleSite::Form::kDivisor},
    ScaleOp{.op = "aten.div.Scalar", .form = ScaleSite::Form::kDivisor}};

/// A number as an argument; an integer counts.
std::optional<double> number_of(const ir::Node& node, std::string_view name) {
  const ir::Argument* argument = node.find_argument(name);
  if (argument == nullptr) {
    return std::nullopt;
  }
  if (const auto* number = std::get_if<double>(argument)) {
    return *number;
  }
  const auto* integer = std::get_if<std::int64_t>(argument);
  return integer == nullptr ? std::nullopt : std::optional(static_cast<double>(*integer));
}

class Search {
 public:
  Search(const ir::Graph& graph, const std::vector<std::vector<ir::NodeId>>& users)
      : graph_(graph), users_(users) {}

  std::vector<ScaleSite> run(const Attention& attention) {
    const ir::Node& node = graph_.node(attention.node);
    if (attention.softmax != ir::kNoNode) {
      towards_softmax(attention);
    }
    for (const char* name : {"alpha", "scale"}) {
      if (const auto value = number_of(node, name)) {
        sites_.push_back({.node = attention.node, .argument = name, .value = *value});
      }
    }
    for (const ir::ValueId operand : logit_factors(node)) {
      towards_source(operand);
    }
    return std::move(sites_);
  }

 private:
  bool has_one_user(ir::ValueId value) const {
    return users_.at(static_cast<std::size_t>(value)).size() == 1;
  }

  /// The constant that a node multiplies its tensor with, when it does only that.
  std::optional<ScaleSite> site_of(ir::NodeId id) const {
    const ir::Node& node = graph_.node(id);
    const auto* row = std::ranges::find(kScaleOps, std::string_view(node.op), &ScaleOp::op);
    if (row == kScaleOps.end() || node.find_argument("other") == nullptr) {
      return std::nullopt;
    }
    if (const auto number = number_of(node, "other")) {
      return ScaleSite{.node = id, .argument = "other", .value = *number, .form = row->form};
    }
    // A tensor of one number, made for this node.
    const auto* value = std::get_if<ir::ValueId>(&node.argument("other"));
    if (value == nullptr || !has_one_user(*value) ||
        graph_.value(*value).producer == ir::kNoNode) {
      return std::nullopt;
    }
    const ir::NodeId maker = graph_.value(*value).producer;
    for (const char* name : {"fill_value", "s"}) {
      const auto number = number_of(graph_.node(maker), name);
      if (number && graph_.value(*value).tensor().shape.empty()) {
        return ScaleSite{.node = maker, .argument = name, .value = *number, .form = row->form};
      }
    }
    return std::nullopt;
  }

  std::size_t tensors_read(const ir::Node& node) const {
    return static_cast<std::size_t>(
        std::ranges::count_if(ir::operands(node), [&](ir::ValueId value) {
          return graph_.value(value).is_tensor() && !graph_.value(value).tensor().shape.empty();
        }));
  }

  void towards_softmax(const Attention& attention) {
    std::vector<ScaleSite> found;
    bool after_sum = false;
    ir::ValueId value = graph_.node(attention.node).outputs.at(0);
    while (has_one_user(value)) {
      const ir::NodeId user = users_.at(static_cast<std::size_t>(value)).front();
      const ir::Node& node = graph_.node(user);
      if (user == attention.softmax || node.outputs.empty()) {
        break;
      }
      if (auto site = site_of(user)) {
        site->after_sum = after_sum;
        found.push_back(*std::move(site));
      }
      after_sum = after_sum || tensors_read(node) > 1;
      value = node.outputs.front();
    }
    sites_.insert(sites_.end(), found.rbegin(), found.rend());
  }

  void towards_source(ir::ValueId value) {
    while (has_one_user(value) && graph_.value(value).producer != ir::kNoNode) {
      const ir::NodeId producer = graph_.value(value).producer;
      const ir::Node& node = graph_.node(producer);
      const RuleRow* row = find_rule(node.op);
      const auto site = site_of(producer);
      if (site) {
        sites_.push_back(*site);
      } else if (row == nullptr || row->kind != OpKind::kLayout || node.outputs.size() > 1) {
        return;
      }
      value = first_tensor(graph_, node);
    }
  }

  const ir::Graph& graph_;
  const std::vector<std::vector<ir::NodeId>>& users_;
  std::vector<ScaleSite> sites_;
};

}  // namespace

std::vector<ScaleSite> scale_sites(const ir::Graph& graph,
                                   const std::vector<std::vector<ir::NodeId>>& users,
                                   const Attention& attention) {
  return Search(graph, users).run(attention);
}

}  // namespace hydro::shrink
