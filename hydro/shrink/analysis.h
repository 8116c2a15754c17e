// hydro/shrink/analysis.h — labelled dimensions of every value of both graphs, and where
// weights are used. Train and eval graph share the atoms of their parameters and buffers, so
// they can only shrink alike.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/ir/graph.h"
#include "hydro/ir/model.h"
#include "hydro/shrink/atoms.h"

namespace hydro::shrink {

enum class Side : std::uint8_t { kTrain, kEval };

[[nodiscard]] const ir::Graph& graph_of(const ir::Model& model, Side side);

/// One product of activations and a trainable weight.
struct WeightUse {
  std::string weight;  // state-dict name
  std::string bias;    // state-dict name; empty: none, or none that is trained
  Side side = Side::kTrain;
  ir::NodeId node = ir::kNoNode;
  std::string activation;  // the argument that holds the activations: "input"
  Dimension fan_in;        // of one group
  Dimension fan_out;
  Dimension groups;  // empty: one group
};

/// By value; the entry of a value that is no tensor is empty.
struct GraphDims {
  std::vector<Dimensions> tensors;
  std::vector<Dimension> integers;  // sizes read from tensors
};

struct Analysis {
  Atoms atoms;
  std::map<std::string, Dimensions, std::less<>> state;  // holders only
  GraphDims train;
  GraphDims eval;
  std::vector<WeightUse> uses;

  [[nodiscard]] const GraphDims& dims(Side side) const {
    return side == Side::kTrain ? train : eval;
  }
};

/// Errors: H0301 op without a rule, H0304 a width cut unevenly, H0305 a weight that is
/// computed,
///         H0307 shapes that contradict an op
[[nodiscard]] Result<Analysis> analyse(const ir::Model& model);

}  // namespace hydro::shrink
