#include "hydro/shrink/surrogate.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/ir/graph.h"
#include "hydro/ir/model.h"
#include "hydro/shrink/advice.h"
#include "hydro/shrink/analysis.h"
#include "hydro/shrink/atoms.h"
#include "hydro/shrink/multipliers.h"
#include "hydro/shrink/parametrization.h"
#include "hydro/shrink/query.h"
#include "hydro/shrink/resize.h"
#include "hydro/shrink/roles.h"
#include "hydro/shrink/scales.h"
#include "hydro/shrink/sizes.h"

namespace hydro::shrink {

namespace {

std::int64_t elements(const std::vector<std::int64_t>& shape) {
  std::int64_t count = 1;
  for (const std::int64_t size : shape) {
    count *= size;
  }
  return count;
}

/// Of the activations that enter output weights.
std::map<ir::NodeId, OperandFactor> output_factors(const Analysis& analysis,
                                                   Side side,
                                                   const Sizes& sizes,
                                                   const std::vector<ParameterPlan>& plans) {
  std::map<ir::NodeId, OperandFactor> found;
  for (const WeightUse& use : analysis.uses) {
    const auto plan = std::ranges::find(plans, use.weight, &ParameterPlan::name);
    if (use.side == side && plan != plans.end() && plan->multiplier != 1 &&
        role_of(use, sizes) == Role::kOutput) {
      found[use.node] = {
          .argument = use.activation, .place = use.place, .factor = plan->multiplier};
    }
  }
  return found;
}

/// Requires: all elements equal (others were pinned)
void shrink_data(ir::TensorData& tensor, const std::vector<std::int64_t>& shape) {
  tensor.shape = shape;
  const std::int64_t bytes = elements(shape) * ir::dtype_size(tensor.dtype);
  tensor.bytes.resize(static_cast<std::size_t>(bytes));
}

void resize_state(ir::Model& model, const Analysis& analysis, const Sizes& sizes) {
  for (ir::StateEntry& entry : model.state) {
    const auto dims = analysis.state.find(entry.tie.empty() ? entry.name : entry.tie);
    if (dims == analysis.state.end()) {
      continue;
    }
    std::vector<std::int64_t> shape;
    for (const Dimension& dimension : dims->second) {
      shape.push_back(sizes.of(dimension));
    }
    const auto data = model.tensors.find(entry.name);
    if (shape != entry.shape && data != model.tensors.end()) {
      shrink_data(data->second, shape);
    }
    entry.shape = std::move(shape);
  }
}

std::int64_t rows(const std::vector<std::int64_t>& shape) {
  return shape.empty() ? 1 : shape.front();
}

/// Factors and laws of every plan; roles and ratios are known.
void fill_plans(Surrogate& surrogate,
                const Analysis& analysis,
                const Sizes& sizes,
                const Options& options) {
  for (ParameterPlan& plan : surrogate.parameters) {
    apply_factors(options.parametrization, plan);
    const auto entry =
        std::ranges::find(surrogate.model.state, plan.name, &ir::StateEntry::name);
    const double variance =
        factor_row(options.parametrization, plan.role).variance.of(plan.r_in, plan.r_out);
    const Dimensions& dims = analysis.state.at(plan.name);
    const auto new_row = [&](std::int64_t row) {
      return dims.empty() ? row : sizes.offset(dims.front(), row);
    };
    plan.laws = plan.readout && has_multiplier(options.parametrization)
                    ? zero_laws(rows(plan.surrogate_shape))
                    : surrogate_laws(entry->laws, variance, new_row);
  }
  for (ir::StateEntry& entry : surrogate.model.state) {
    const std::string& holder = entry.tie.empty() ? entry.name : entry.tie;
    const auto plan = std::ranges::find(surrogate.parameters, holder, &ParameterPlan::name);
    if (plan != surrogate.parameters.end() && (entry.tie.empty() || !entry.laws.empty())) {
      entry.laws = plan->laws;
    }
  }
}

/// Queries that start at zero.
void zero_queries(Surrogate& surrogate,
                  const ir::Model& target,
                  const Analysis& analysis,
                  const Sizes& sizes) {
  const QueryBlocks queries = query_blocks(target, analysis);
  for (ParameterPlan& plan : surrogate.parameters) {
    const auto found = queries.blocks.find(plan.name);
    if (found == queries.blocks.end()) {
      continue;
    }
    for (ir::ZeroBlock block : found->second) {
      const Dimension& along =
          analysis.state.at(plan.name).at(static_cast<std::size_t>(block.dim));
      block.begin = sizes.offset(along, block.begin);
      block.end = sizes.offset(along, block.end);
      plan.zeros.push_back(block);
    }
    std::ranges::find(surrogate.model.state, plan.name, &ir::StateEntry::name)->zeros =
        plan.zeros;
  }
  for (const std::string& node : queries.not_found) {
    surrogate.warnings.push_back("the query of " + node +
                                 " does not come from one weight and keeps its law");
  }
}

void count_parameters(Surrogate& surrogate) {
  for (const ParameterPlan& plan : surrogate.parameters) {
    if (surrogate.model.train.find_input(plan.name) != nullptr ||
        surrogate.model.eval.find_input(plan.name) != nullptr) {
      surrogate.target_parameters += elements(plan.shape);
      surrogate.surrogate_parameters += elements(plan.surrogate_shape);
    }
  }
}

}  // namespace

Result<Surrogate> shrink(const ir::Model& model, const Options& options) {
  HYDRO_TRY(const Analysis analysis, analyse(model));
  const Sizes sizes = choose_sizes(analysis, model, options);
  Surrogate surrogate;
  HYDRO_TRY(surrogate.parameters, plan_roles(model, analysis, sizes, options));
  surrogate.classes = width_classes(analysis, model, sizes, options.scaling);
  surrogate.model = model;
  resize_state(surrogate.model, analysis, sizes);
  fill_plans(surrogate, analysis, sizes, options);
  std::map<Side, ScalePlan> scales;
  for (const Side side : {Side::kTrain, Side::kEval}) {
    ScalePlan& plan = scales[side];
    plan = plan_scales(model, side, analysis, sizes, options.parametrization);
    plan.multipliers.operands = output_factors(analysis, side, sizes, surrogate.parameters);
    ir::Graph& graph = side == Side::kTrain ? surrogate.model.train : surrogate.model.eval;
    resize_graph(graph, analysis.dims(side), sizes);
    set_constants(graph, plan.constants);
    insert_multipliers(graph, plan.multipliers);
  }
  count_parameters(surrogate);
  surrogate.warnings = warnings_of(model, surrogate, scales.at(Side::kTrain));
  if (options.zero_query) {
    zero_queries(surrogate, model, analysis, sizes);
  }
  HYDRO_TRY_VOID(check_saving(surrogate, options));
  return surrogate;
}

}  // namespace hydro::shrink
