// hydro/shrink/walk.h — what an op's rule sees while one graph is walked in order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/ir/graph.h"
#include "hydro/ir/model.h"
#include "hydro/shrink/analysis.h"
#include "hydro/shrink/atoms.h"

namespace hydro::shrink {

class Walk {
 public:
  Walk(const ir::Model& model, Side side, Analysis& analysis);

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
  /// Dimensions of the value's shape that nothing holds yet.
  [[nodiscard]] Dimensions fresh(ir::ValueId value);

  /// Joins; what does not line up is pinned, naming the node.
  void unify(const ir::Node& node, const Dimension& left, const Dimension& right);
  /// Joins sizes with the list of numbers that a node is given for them.
  void unify_sizes(const ir::Node& node,
                   const Dimensions& sizes,
                   const std::vector<ir::IntItem>& items);
  /// The node is only right while `dimension` keeps its size; `what`: "softmax over it".
  void pin(const ir::Node& node, const Dimension& dimension, const std::string& what);
  /// As pin() for all that the node reads and gives.
  void pin_all(const ir::Node& node, const std::string& what);

  struct Product {
    ir::ValueId weight{};
    std::optional<ir::ValueId> bias = std::nullopt;
    std::string activation = "input";  // argument, and place in it where it is a list
    std::size_t place = 0;
    Dimension fan_in;
    Dimension fan_out;
    Dimension groups = {};
  };

  /// Notes that the node multiplies activations with a weight; one that is computed keeps its
  /// sizes.
  void add_product(const ir::Node& node, Product product);
  /// Notes that the node sums activations over `over`; what is computed from parameters alone
  /// keeps its sizes.
  void add_contraction(const ir::Node& node, Contraction::Kind kind, Dimension over);
  /// A parameter, or a part or another layout of one.
  [[nodiscard]] bool is_weight(ir::ValueId value) const;
  /// Depends on data, or on what a weight was multiplied with.
  [[nodiscard]] bool is_activation(ir::ValueId value) const;

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
  void note_activations(const ir::Node& node);
  void walk_integer(const ir::Node& node);
  [[nodiscard]] Result<void> check_outputs(const ir::Node& node) const;
  /// The input that a weight is, seen through layouts and parts; null when it is computed.
  [[nodiscard]] const ir::Input* origin(ir::ValueId value) const;
  [[nodiscard]] bool is_trained(const ir::Input* input) const;

  const ir::Model& model_;
  const ir::Graph& graph_;
  Side side_;
  Analysis& analysis_;
  GraphDims& dims_;
  std::vector<const ir::Input*> inputs_;  // by value
  std::vector<bool> activations_;         // by value
};

/// The first tensor that the node reads. Requires: it reads one (BugError)
[[nodiscard]] ir::ValueId first_tensor(const ir::Graph& graph, const ir::Node& node);
/// H0307: the archive contradicts itself.
[[nodiscard]] Error contradiction(const ir::Node& node, std::string what);
/// H0307 when the value has fewer dimensions.
[[nodiscard]] Result<void> need_rank(const Walk& walk,
                                     const ir::Node& node,
                                     ir::ValueId value,
                                     std::size_t least);

}  // namespace hydro::shrink
