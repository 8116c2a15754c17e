// tests/chain/wrong_tables.h — parametrizations with one rule wrong: what a check has to catch.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>

#include "hydro/base/result.h"
#include "hydro/ir/graph.h"
#include "hydro/ir/model.h"
#include "hydro/shrink/analysis.h"
#include "hydro/shrink/surrogate.h"

namespace hydro::chain {

/// Changes a right table into a wrong one.
using Edit = std::function<void(shrink::Surrogate&)>;

inline void take_papers_hidden_rate(shrink::Surrogate& surrogate) {
  for (shrink::ParameterPlan& plan : surrogate.parameters) {
    plan.sgd.lr *= plan.role == shrink::Role::kHidden ? plan.r_in : 1;
  }
}

inline void leave_hidden_adam_unscaled(shrink::Surrogate& surrogate) {
  for (shrink::ParameterPlan& plan : surrogate.parameters) {
    if (plan.role == shrink::Role::kHidden) {
      plan.adam.lr = 1;
      plan.adamw.lr = 1;
    }
  }
}

/// Of the nodes that shrinking put in front of output weights; an attention's scale stays.
inline void take_multipliers_out(shrink::Surrogate& surrogate) {
  ir::Graph& graph = surrogate.model.train;
  const shrink::Analysis analysis = shrink::analyse(surrogate.model).value();
  for (const shrink::WeightUse& use : analysis.uses) {
    if (use.side != shrink::Side::kTrain) {
      continue;
    }
    const ir::ValueId entering = graph.node(use.node).value(use.activation);
    const ir::NodeId producer = graph.value(entering).producer;
    if (producer != ir::kNoNode && graph.node(producer).position < 0) {
      graph.node(producer).argument("other") = 1.0;
    }
  }
}

/// Multiplies the law of a weight.
inline void stretch(shrink::Surrogate& surrogate, const std::string& weight, double factor) {
  const auto entry = std::ranges::find(surrogate.model.state, weight, &ir::StateEntry::name);
  for (ir::Law& law : entry->laws) {
    for (double* number : {&law.mean, &law.std, &law.low, &law.high, &law.value}) {
      *number *= factor;
    }
  }
}

inline void scale_input_variance(shrink::Surrogate& surrogate) {
  for (const shrink::ParameterPlan& plan : surrogate.parameters) {
    if (plan.role == shrink::Role::kInput) {
      stretch(surrogate, plan.name, std::sqrt(plan.r_out));
    }
  }
}

/// The factors and the law of one hidden weight as if its fan-in were no width.
inline Edit forget_fan_in(const std::string& weight) {
  return [weight](shrink::Surrogate& surrogate) {
    const auto plan =
        std::ranges::find(surrogate.parameters, weight, &shrink::ParameterPlan::name);
    HYDRO_CHECK(plan != surrogate.parameters.end(), weight);
    plan->sgd.lr = 1 / plan->r_out;
    plan->adam.lr = 1;
    plan->adamw.lr = 1;
    stretch(surrogate, weight, 1 / std::sqrt(plan->r_in));
  };
}

}  // namespace hydro::chain
