#include "hydro/train/contributions.h"

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/ir/graph.h"
#include "hydro/ir/model.h"
#include "hydro/ops/executor.h"
#include "hydro/ops/ops.h"
#include "hydro/ops/torch.h"
#include "hydro/shrink/analysis.h"
#include "hydro/shrink/coordinates.h"
#include "hydro/shrink/rules.h"
#include "hydro/shrink/walk.h"
#include "hydro/train/mean_size.h"
#include "hydro/train/node_run.h"
#include "hydro/train/recurrent_contributions.h"

namespace hydro::train {
namespace {

using shrink::LayerMeasure;
using shrink::WeightUsage;
using shrink::WeightUse;

/// The parameter that an operand is a layout or a part of; empty when it is none.
std::optional<ir::ValueId> origin(const ir::Graph& graph, ir::ValueId value) {
  const ir::NodeId producer = graph.value(value).producer;
  if (producer == ir::kNoNode) {
    return value;
  }
  const ir::Node& node = graph.node(producer);
  const shrink::RuleRow* row = shrink::find_rule(node.op);
  const bool is_layout = row != nullptr && row->kind == shrink::OpKind::kLayout;
  return is_layout ? origin(graph, shrink::first_tensor(graph, node)) : std::nullopt;
}

/// Gives `value` what it would be if the parameter behind it were `parameter`.
void set_through_layouts(const ops::Program& program,
                         ir::ValueId value,
                         const at::Tensor& parameter,
                         ops::Frame& frame) {
  const ir::NodeId producer = program.graph.value(value).producer;
  if (producer == ir::kNoNode) {
    frame.set(value, parameter);
    return;
  }
  const ir::Node& node = program.graph.node(producer);
  set_through_layouts(program, shrink::first_tensor(program.graph, node), parameter, frame);
  run_again(program, node, frame);
}

}  // namespace

Result<Contributions> Contributions::make(const ir::Model& model, const ops::Program& program) {
  HYDRO_TRY(const shrink::Analysis analysis, shrink::analyse(model));
  Contributions made(program);
  for (const WeightUse& use : analysis.uses) {
    if (use.side == shrink::Side::kTrain) {
      made.uses_[use.node].push_back(use);
    }
  }
  return made;
}

std::vector<LayerMeasure> Contributions::measure(const ir::Node& node,
                                                 const ops::Frame& frame,
                                                 const ChangeOf& change_of) const {
  const auto id = program_->graph.value(node.outputs.front()).producer;
  const auto found = uses_.find(id);
  if (found == uses_.end()) {
    return {};
  }
  const at::NoGradGuard no_gradient;
  if (is_recurrent(node)) {
    std::set<std::string> names;
    for (const WeightUse& use : found->second) {
      names.insert(use.weight);
    }
    return measure_recurrent(*program_, node, frame, names, change_of);
  }
  std::vector<LayerMeasure> measures;
  for (const WeightUse& use : found->second) {
    measures.push_back(measure_use(node, use, frame, change_of(use.weight)));
  }
  return measures;
}

LayerMeasure Contributions::measure_use(const ir::Node& node,
                                        const WeightUse& use,
                                        const ops::Frame& frame,
                                        const at::Tensor& change) const {
  // What the bias adds goes out by the difference.
  const at::Tensor with = output_with(node, use, frame, change);
  const at::Tensor without = output_with(node, use, frame, at::zeros_like(change));
  const bool looks_up = use.activation == "indices";
  return {.layer = use.weight,
          .usage = looks_up ? WeightUsage::kLookup : WeightUsage::kProduct,
          .update = mean_size(with - without),
          .activation = mean_size(frame.tensor(node.outputs.front()))};
}

at::Tensor Contributions::output_with(const ir::Node& node,
                                      const WeightUse& use,
                                      ops::Frame frame,
                                      const at::Tensor& value) const {
  const ir::ValueId parameter = program_->graph.find_input(use.weight)->value;
  for (const ir::ValueId operand : ir::operands(node)) {
    if (origin(program_->graph, operand) == parameter) {
      set_through_layouts(*program_, operand, value, frame);
    }
  }
  run_again(*program_, node, frame);
  return frame.tensor(node.outputs.front());
}

}  // namespace hydro::train
