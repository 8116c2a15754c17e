// Runs a recurrent node's layers one after another, so that what enters each is seen.
#include "hydro/train/recurrent_contributions.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "hydro/ir/graph.h"
#include "hydro/ops/executor.h"
#include "hydro/ops/ops.h"
#include "hydro/ops/torch.h"
#include "hydro/shrink/coordinates.h"
#include "hydro/train/mean_size.h"
#include "hydro/train/node_run.h"

namespace hydro::train {
namespace {

using Values = std::vector<ir::ValueId>;

Values list_of(const ir::Argument& argument) {
  const auto* list = std::get_if<Values>(&argument);
  return list != nullptr ? *list : Values{std::get<ir::ValueId>(argument)};
}

/// Which layers a node has, and where.
struct Shape {
  std::int64_t layers = 1;
  std::int64_t directions = 1;
  std::size_t weights_a_cell = 2;
  std::int64_t time = 0;  // axis of the inputs
};

Shape shape_of(const ir::Node& node, const at::Tensor& input) {
  Shape shape{.layers = node.integer("num_layers"),
              .directions = node.boolean("bidirectional") ? 2 : 1};
  shape.weights_a_cell = list_of(node.argument("params")).size() /
                         static_cast<std::size_t>(shape.layers * shape.directions);
  shape.time = input.dim() == 3 && node.boolean("batch_first") ? 1 : 0;
  return shape;
}

/// The hidden states before each step: those after it, one step later, behind the first.
at::Tensor states_before(const Shape& shape,
                         const at::Tensor& outputs,
                         const at::Tensor& first_states,
                         std::int64_t direction) {
  const std::int64_t hidden = outputs.size(-1) / shape.directions;
  const at::Tensor own = outputs.narrow(-1, direction * hidden, hidden);
  const at::Tensor first = first_states.select(0, direction).unsqueeze(shape.time);
  const std::int64_t rest = own.size(shape.time) - 1;
  return direction == 0 ? at::cat({first, own.narrow(shape.time, 0, rest)}, shape.time)
                        : at::cat({own.narrow(shape.time, 1, rest), first}, shape.time);
}

class Layers {
 public:
  Layers(const ops::Program& program, const ir::Node& node, const ops::Frame& frame)
      : program_(program),
        node_(node),
        frame_(frame),
        shape_(shape_of(node, frame.tensor(node.value("input")))),
        params_(list_of(node.argument("params"))) {}

  /// Calls `visit(weight, what it is multiplied with)` for each.
  void run(const std::function<void(ir::ValueId, const at::Tensor&)>& visit) const {
    at::Tensor x = frame_.tensor(node_.value("input"));
    for (std::int64_t layer = 0; layer < shape_.layers; ++layer) {
      const at::Tensor y = output_of(layer, x);
      for (std::int64_t direction = 0; direction < shape_.directions; ++direction) {
        const std::size_t cell =
            first_weight(layer) + (static_cast<std::size_t>(direction) * shape_.weights_a_cell);
        visit(params_[cell], x);
        visit(params_[cell + 1], states_before(shape_, y, states(layer, 0), direction));
      }
      x = y;
    }
  }

 private:
  [[nodiscard]] std::size_t first_weight(std::int64_t layer) const {
    return static_cast<std::size_t>(layer * shape_.directions) * shape_.weights_a_cell;
  }

  /// First hidden (0) or cell (1) states of one layer.
  [[nodiscard]] at::Tensor states(std::int64_t layer, std::size_t which) const {
    const ir::ValueId all = list_of(node_.argument("hx")).at(which);
    return frame_.tensor(all)
        .narrow(0, layer * shape_.directions, shape_.directions)
        .contiguous();
  }

  [[nodiscard]] at::Tensor output_of(std::int64_t layer, const at::Tensor& x) const {
    ir::Node one = node_;
    one.argument("num_layers") = std::int64_t{1};
    one.argument("dropout") = 0.0;
    const auto begin = params_.begin() + static_cast<std::ptrdiff_t>(first_weight(layer));
    one.argument("params") =
        Values(begin, begin + static_cast<std::ptrdiff_t>(first_weight(1)));
    ops::Frame run = frame_;
    run.set(node_.value("input"), x);
    const Values hx = list_of(node_.argument("hx"));
    for (std::size_t i = 0; i < hx.size(); ++i) {
      run.set(hx[i], states(layer, i));
    }
    run_again(program_, one, run);
    return run.tensor(node_.outputs.front());
  }

  const ops::Program& program_;
  const ir::Node& node_;
  const ops::Frame& frame_;
  Shape shape_;
  Values params_;
};

}  // namespace

bool is_recurrent(const ir::Node& node) {
  return node.find_argument("params") != nullptr && node.find_argument("num_layers") != nullptr;
}

std::vector<shrink::LayerMeasure> measure_recurrent(
    const ops::Program& program,
    const ir::Node& node,
    const ops::Frame& frame,
    const std::set<std::string>& weights,
    const std::function<at::Tensor(const std::string& weight)>& change_of) {
  std::map<ir::ValueId, std::string> names;
  for (const ir::Input& input : program.graph.inputs) {
    if (weights.contains(input.name)) {
      names.emplace(input.value, input.name);
    }
  }
  std::vector<shrink::LayerMeasure> measures;
  Layers(program, node, frame).run([&](ir::ValueId weight, const at::Tensor& x) {
    if (const auto name = names.find(weight); name != names.end()) {
      measures.push_back({.layer = name->second,
                          .update = mean_size(at::linear(x, change_of(name->second))),
                          .activation = mean_size(at::linear(x, frame.tensor(weight)))});
    }
  });
  return measures;
}

}  // namespace hydro::train
