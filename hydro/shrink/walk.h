// hydro/shrink/walk.h — what an op's rule sees while one graph is walked in order.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/ir/graph.h"
#include "hydro/shrink/analysis.h"

namespace hydro::shrink {

/// A dimension that an op cuts in a way that is only right while it is no width; judged after
/// both walks, when all pins are known.
struct Cut {
  Dimension dimension;
  std::string op;  // Node::describe()
  std::string place;
  std::string what;  // "slices 10 of 64"
};

class Walk {
 public:
  Walk(const ir::Model& model, Side side, Analysis& analysis, std::vector<Cut>& cuts);

  /// Walks the whole graph.
  [[nodiscard]] Result<void> run();

  [[nodiscard]] const ir::Graph& graph() const { return graph_; }

  [[nodiscard]] Atoms& atoms() { return analysis_.atoms; }

  /// Requires: the value was walked before
  [[nodiscard]] const Dimensions& dims(ir::ValueId value) const;

  [[nodiscard]] std::size_t rank(ir::ValueId value) const { return dims(value).size(); }

  [[nodiscard]] std::vector<std::int64_t> shape(ir::ValueId value) const;
  /// Empty when the integer's origin is unknown.
  [[nodiscard]] const Dimension& integer_dims(ir::ValueId value) const;

  void set(ir::ValueId value, Dimensions dimensions);
  void set_integer(ir::ValueId value, Dimension dimension);
  /// Gives all tensor outputs of the node these dimensions.
  void set_outputs(const ir::Node& node, const Dimensions& dimensions);

  /// Joins; what does not line up is pinned, naming the node.
  void unify(const ir::Node& node, const Dimension& left, const Dimension& right);
  /// The node is only right while `dimension` keeps its size.
  void cut(const ir::Node& node, const Dimension& dimension, std::string what);

  struct Product {
    std::string weight = "weight";  // argument names
    std::string bias = "bias";
    std::string activation = "input";
    Dimension fan_in;
    Dimension fan_out;
    Dimension groups;
  };

  /// Notes that the node multiplies activations with a weight.
  [[nodiscard]] Result<void> add_product(const ir::Node& node, Product product);

  /// The dimension's place, negative ones counted from the end.
  [[nodiscard]] static std::size_t index(std::int64_t dim, std::size_t rank);

 private:
  /// The shape that the labels give.
  [[nodiscard]] std::vector<std::int64_t> labelled_shape(ir::ValueId value) const;
  /// The state's labels; those of any other input are new and pinned.
  [[nodiscard]] Dimensions input_dims(const ir::Input& input);
  [[nodiscard]] Result<void> walk_inputs();
  void walk_outputs();
  [[nodiscard]] Result<void> walk_node(const ir::Node& node);
  [[nodiscard]] Result<void> walk_integer(const ir::Node& node);
  [[nodiscard]] Result<void> check_outputs(const ir::Node& node) const;
  /// The input that a weight is, seen through transposes and views; null when it is computed.
  [[nodiscard]] const ir::Input* origin(ir::ValueId value) const;

  const ir::Model& model_;
  const ir::Graph& graph_;
  Side side_;
  Analysis& analysis_;
  GraphDims& dims_;
  std::vector<Cut>& cuts_;
  std::vector<const ir::Input*> inputs_;  // by value
};

/// The first tensor that the node reads. Requires: it reads one (BugError)
[[nodiscard]] ir::ValueId first_tensor(const ir::Graph& graph, const ir::Node& node);
/// H0307: the archive contradicts itself.
[[nodiscard]] Error contradiction(const ir::Node& node, std::string what);

}  // namespace hydro::shrink
