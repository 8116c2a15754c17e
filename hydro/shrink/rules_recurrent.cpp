// The rule of recurrent layers. All layers and directions share the hidden width, since their
// states lie in one tensor; each gate is an equal part of a weight's rows.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/ir/graph.h"
#include "hydro/shrink/atoms.h"
#include "hydro/shrink/rules.h"
#include "hydro/shrink/walk.h"

namespace hydro::shrink {

namespace {

std::int64_t gates(std::string_view op) {
  if (op.starts_with("aten.lstm")) {
    return 4;
  }
  return op.starts_with("aten.gru") ? 3 : 1;
}

Dimension repeated(Walk& walk,
                   std::int64_t count,
                   const Dimension& inner,
                   std::string_view what) {
  Dimension made = walk.atoms().add_pinned(count, what);
  made.insert(made.end(), inner.begin(), inner.end());
  return made;
}

/// The weights of one layer in one direction.
struct Cell {
  ir::ValueId input_weight{};
  ir::ValueId hidden_weight{};
  std::optional<ir::ValueId> input_bias;
  std::optional<ir::ValueId> hidden_bias;
};

/// Empty when the parameters are not two or four a cell (a projected LSTM has more).
std::vector<Cell> cells_of(const ir::Node& node, std::int64_t count) {
  const auto* params = std::get_if<std::vector<ir::ValueId>>(&node.argument("params"));
  const bool biases = node.boolean("has_biases");
  const std::size_t step = biases ? 4 : 2;
  if (params == nullptr || count < 1 ||
      params->size() != step * static_cast<std::size_t>(count)) {
    return {};
  }
  std::vector<Cell> cells;
  for (std::size_t i = 0; i < params->size(); i += step) {
    const auto at = [&](std::size_t k) { return (*params)[i + k]; };
    cells.push_back({.input_weight = at(0),
                     .hidden_weight = at(1),
                     .input_bias = biases ? std::optional(at(2)) : std::nullopt,
                     .hidden_bias = biases ? std::optional(at(3)) : std::nullopt});
  }
  return cells;
}

void label_cell(Walk& walk,
                const ir::Node& node,
                const Cell& cell,
                const Dimension& input,
                const Dimension& hidden) {
  const Dimension rows = repeated(walk, gates(node.op), hidden, "gates");
  const auto weight =
      [&](ir::ValueId value, const std::optional<ir::ValueId>& bias, const Dimension& fan_in) {
        const Dimensions w = walk.dims(value);
        walk.unify(node, w[0], rows);
        walk.unify(node, w[1], fan_in);
        if (bias) {
          walk.unify(node, walk.dims(*bias).back(), rows);
        }
        walk.add_product(node,
                         {.weight = value,
                          .bias = bias,
                          .activation = "input",
                          .fan_in = w[1],
                          .fan_out = w[0]});
      };
  weight(cell.input_weight, cell.input_bias, input);
  weight(cell.hidden_weight, cell.hidden_bias, hidden);
}

Result<void> need_matrices(const Walk& walk, const ir::Node& node, const Cell& cell) {
  for (const ir::ValueId weight : {cell.input_weight, cell.hidden_weight}) {
    HYDRO_TRY_VOID(need_rank(walk, node, weight, 2));
  }
  for (const auto& bias : {cell.input_bias, cell.hidden_bias}) {
    if (bias) {
      HYDRO_TRY_VOID(need_rank(walk, node, *bias, 1));
    }
  }
  return {};
}

std::vector<ir::ValueId> states_of(const ir::Node& node) {
  const ir::Argument& hx = node.argument("hx");
  if (const auto* list = std::get_if<std::vector<ir::ValueId>>(&hx)) {
    return *list;
  }
  return {node.value("hx")};
}

}  // namespace

Result<void> recurrent_rule(Walk& walk, const ir::Node& node) {
  const bool both_ways = node.boolean("bidirectional");
  const std::int64_t layers = node.integer("num_layers");
  const std::size_t directions = both_ways ? 2 : 1;
  const std::vector<Cell> cells =
      cells_of(node, layers * static_cast<std::int64_t>(directions));
  if (cells.empty()) {
    walk.pin_all(node, "no width rule");
    return {};
  }
  HYDRO_TRY_VOID(need_rank(walk, node, node.value("input"), 2));
  for (const Cell& cell : cells) {
    HYDRO_TRY_VOID(need_matrices(walk, node, cell));
  }
  const Dimension hidden = walk.dims(cells.front().hidden_weight)[1];
  const Dimension result =
      both_ways ? repeated(walk, 2, hidden, "directions of a recurrent layer") : hidden;
  Dimensions out = walk.dims(node.value("input"));
  for (std::size_t i = 0; i < cells.size(); ++i) {
    label_cell(walk, node, cells[i], i < directions ? out.back() : result, hidden);
  }
  for (const ir::ValueId state : states_of(node)) {
    HYDRO_TRY_VOID(need_rank(walk, node, state, 1));
    walk.unify(node, walk.dims(state).back(), hidden);
  }
  walk.set_outputs(node, walk.dims(states_of(node).front()));
  out.back() = result;
  walk.set(node.outputs.at(0), out);
  return {};
}

}  // namespace hydro::shrink
