#include "hydro/shrink/surrogate.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/ir/graph.h"
#include "hydro/ir/model.h"
#include "hydro/shrink/advice.h"
#include "hydro/shrink/analysis.h"
#include "hydro/shrink/atoms.h"
#include "hydro/shrink/parametrization.h"
#include "hydro/shrink/resize.h"
#include "hydro/shrink/roles.h"
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

/// By node of one graph: the argument that holds activations, and what they are multiplied by.
struct Multiplication {
  std::string argument;
  double factor = 1;
};

std::map<ir::NodeId, Multiplication> multiplications(const Analysis& analysis,
                                                     Side side,
                                                     const std::vector<ParameterPlan>& plans) {
  std::map<ir::NodeId, Multiplication> found;
  for (const WeightUse& use : analysis.uses) {
    const auto plan = std::ranges::find(plans, use.weight, &ParameterPlan::name);
    if (use.side == side && plan != plans.end() && plan->multiplier != 1) {
      found[use.node] = {.argument = use.activation, .factor = plan->multiplier};
    }
  }
  return found;
}

/// Puts a product in front of each node named; the positions of all others stay.
void insert_multiplications(ir::Graph& graph,
                            const std::map<ir::NodeId, Multiplication>& wanted) {
  if (wanted.empty()) {
    return;
  }
  const std::vector<ir::Node> old(graph.nodes().begin(), graph.nodes().end());
  std::vector<ir::Node> nodes;
  std::int64_t inserted = 0;
  for (std::size_t i = 0; i < old.size(); ++i) {
    ir::Node node = old[i];
    const auto found = wanted.find(static_cast<ir::NodeId>(i));
    if (found != wanted.end()) {
      const ir::ValueId x = node.value(found->second.argument);
      ir::Node product{.op = "aten.mul.Tensor",
                       .arguments = {{.name = "self", .value = x},
                                     {.name = "other", .value = found->second.factor}},
                       .outputs = {},
                       .source = node.source,
                       .position = -1 - inserted++};
      const std::vector<std::string> names = {graph.value(x).name + "_scaled"};
      const std::vector<ir::Type> types = {graph.value(x).type};
      const ir::NodeId made = graph.add_node(std::move(product), names, types);
      nodes.push_back(graph.node(made));
      node.argument(found->second.argument) = graph.node(made).outputs.at(0);
    }
    nodes.push_back(std::move(node));
  }
  graph.set_nodes(std::move(nodes));
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
void fill_plans(Surrogate& surrogate, const Options& options) {
  for (ParameterPlan& plan : surrogate.parameters) {
    apply_factors(options.parametrization, plan);
    const auto entry =
        std::ranges::find(surrogate.model.state, plan.name, &ir::StateEntry::name);
    const double variance =
        factor_row(options.parametrization, plan.role).variance.of(plan.r_in, plan.r_out);
    plan.laws = plan.readout && has_multiplier(options.parametrization)
                    ? zero_laws(rows(plan.surrogate_shape))
                    : surrogate_laws(
                          entry->laws, variance, rows(plan.shape), rows(plan.surrogate_shape));
  }
  for (ir::StateEntry& entry : surrogate.model.state) {
    const std::string& holder = entry.tie.empty() ? entry.name : entry.tie;
    const auto plan = std::ranges::find(surrogate.parameters, holder, &ParameterPlan::name);
    if (plan != surrogate.parameters.end() && (entry.tie.empty() || !entry.laws.empty())) {
      entry.laws = plan->laws;
    }
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
  surrogate.classes = width_classes(analysis, model, sizes);
  surrogate.warnings = warnings_of(model, surrogate.classes);
  surrogate.model = model;
  resize_state(surrogate.model, analysis, sizes);
  fill_plans(surrogate, options);
  for (const Side side : {Side::kTrain, Side::kEval}) {
    ir::Graph& graph = side == Side::kTrain ? surrogate.model.train : surrogate.model.eval;
    resize_graph(graph, analysis.dims(side), sizes);
    insert_multiplications(graph, multiplications(analysis, side, surrogate.parameters));
  }
  count_parameters(surrogate);
  HYDRO_TRY_VOID(check_saving(surrogate, options));
  return surrogate;
}

}  // namespace hydro::shrink
