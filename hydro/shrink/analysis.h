// hydro/shrink/analysis.h — labelled dimensions of every value of both graphs, and where
// weights are used. Train and eval graph share the atoms of their parameters and buffers, so
// they can only shrink alike.
#pragma once

#include <cstddef>
#include <cstdint>
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
  std::size_t place = 0;   // of the activations, where that argument is a list
  Dimension fan_in;        // of one group
  Dimension fan_out;
  Dimension groups;  // empty: one group
};

/// A sum of activations, or of products of two, over entries that a narrower model has fewer
/// of: unlike a mean it grows with the width.
struct Contraction {
  enum class Kind : std::uint8_t { kSum, kProduct };

  Side side = Side::kTrain;
  ir::NodeId node = ir::kNoNode;
  Dimension over;
  Kind kind = Kind::kProduct;
};

/// One attention: a fused node, or a product of queries and keys that reaches a softmax.
struct Attention {
  Side side = Side::kTrain;
  ir::NodeId node = ir::kNoNode;     // of the logits
  ir::NodeId softmax = ir::kNoNode;  // kNoNode: fused
  ir::ValueId query{};
  Dimension heads;      // outer to inner; empty: one head
  Dimension query_dim;  // entries of a query and of a key
  Dimension value_dim;
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
  std::vector<Contraction> contractions;  // attention logits are not among them
  std::vector<Attention> attentions;

  [[nodiscard]] const GraphDims& dims(Side side) const {
    return side == Side::kTrain ? train : eval;
  }
};

/// What an op without a rule touches is pinned, naming the op and the user's line.
///
/// Errors: H0307 shapes that contradict an op
[[nodiscard]] Result<Analysis> analyse(const ir::Model& model);

}  // namespace hydro::shrink
