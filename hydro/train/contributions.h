// hydro/train/contributions.h — what a change of a weight gives where it is used: (W_t - W_0)
// x_t, for any op that is linear in its weight, for embeddings, and for recurrent layers, whose
// gates' sums are meant. Weights are recognised through layouts and parts of them. One trial.
#pragma once

#include <functional>
#include <map>
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

namespace hydro::train {

/// W_t - W_0 by state-dict name, laid out as the parameter.
using ChangeOf = std::function<at::Tensor(const std::string& weight)>;

class Contributions {
 public:
  /// Requires: `program` was compiled from `model.train`, which outlives this (as the program)
  /// Errors:   H0307
  [[nodiscard]] static Result<Contributions> make(const ir::Model& model,
                                                  const ops::Program& program);

  /// Of the weights that the node uses, in order; none for most nodes. The frame holds the
  /// node's operands and outputs.
  [[nodiscard]] std::vector<shrink::LayerMeasure> measure(const ir::Node& node,
                                                          const ops::Frame& frame,
                                                          const ChangeOf& change_of) const;

 private:
  explicit Contributions(const ops::Program& program) : program_(&program) {}

  [[nodiscard]] shrink::LayerMeasure measure_use(const ir::Node& node,
                                                 const shrink::WeightUse& use,
                                                 const ops::Frame& frame,
                                                 const at::Tensor& change) const;
  /// The node's first output with `value` in place of the use's weight.
  [[nodiscard]] at::Tensor output_with(const ir::Node& node,
                                       const shrink::WeightUse& use,
                                       ops::Frame frame,
                                       const at::Tensor& value) const;

  const ops::Program* program_;
  std::map<ir::NodeId, std::vector<shrink::WeightUse>> uses_;
};

}  // namespace hydro::train
