// LSTM, GRU and plain recurrent layers. K trials take one product for the inputs of all steps
// and one a step for the hidden state. Source: torch's nn.LSTM, nn.GRU and nn.RNN, whose gate
// orders, biases and projections these are.
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/fuse/trial_axis.h"
#include "hydro/ir/graph.h"
#include "hydro/ops/boxed.h"
#include "hydro/ops/draw.h"
#include "hydro/ops/families.h"
#include "hydro/ops/ops.h"
#include "hydro/ops/products.h"
#include "hydro/ops/torch.h"

namespace hydro::ops {

namespace {

using fuse::Axis;
using Tensors = std::vector<at::Tensor>;

enum class Cell : std::uint8_t { kLstm, kGru, kTanh, kRelu };

Cell cell_of(const ir::Node& node) {
  constexpr std::array<std::pair<std::string_view, Cell>, 4> kCells = {
      {{"aten.lstm.input", Cell::kLstm},
       {"aten.gru.input", Cell::kGru},
       {"aten.rnn_tanh.input", Cell::kTanh},
       {"aten.rnn_relu.input", Cell::kRelu}}};
  for (const auto& [op, cell] : kCells) {
    if (op == node.op) {
      return cell;
    }
  }
  HYDRO_CHECK(false, node.op + " is no recurrent layer");
}

/// The weights of one layer and direction; undefined where it has none.
struct Weights {
  at::Tensor input;
  at::Tensor hidden;
  at::Tensor input_bias;
  at::Tensor hidden_bias;
  at::Tensor projection;
};

/// Hidden state and, of an LSTM, cell state.
struct State {
  at::Tensor hidden;
  at::Tensor cell;
};

struct Shape {
  Cell cell = Cell::kLstm;
  std::int64_t layers = 1;
  std::int64_t directions = 1;
  bool has_biases = true;
  bool has_projection = false;
  bool batch_first = false;
};

Tensors stacked_list(const Call& call, std::string_view name) {
  Tensors tensors;
  for (const ir::ValueId value : call.values(name)) {
    tensors.push_back(call.stacked(value, Axis::kFront));
  }
  return tensors;
}

/// [K, layers * directions, B, H] each.
State first_state(const Call& call, const Shape& shape) {
  if (shape.cell != Cell::kLstm) {
    return {.hidden = call.stacked("hx", Axis::kFront), .cell = {}};
  }
  const Tensors states = stacked_list(call, "hx");
  return {.hidden = states.at(0), .cell = states.at(1)};
}

Shape shape_of(const Call& call) {
  Shape shape{.cell = cell_of(call.node()),
              .layers = call.integer("num_layers"),
              .directions = call.boolean("bidirectional") ? 2 : 1,
              .has_biases = call.boolean("has_biases"),
              .batch_first = call.boolean("batch_first")};
  if (shape.cell == Cell::kLstm) {
    const std::vector<ir::ValueId>& states = call.values("hx");
    shape.has_projection =
        call.tensor(states.at(0)).size(-1) != call.tensor(states.at(1)).size(-1);
  }
  return shape;
}

std::size_t weights_a_layer(const Shape& shape) {
  return (shape.has_biases ? 4U : 2U) + (shape.has_projection ? 1U : 0U);
}

/// The weights of layer * directions + direction.
Weights weights_at(const Shape& shape, const Tensors& all, std::int64_t place) {
  const std::size_t count = weights_a_layer(shape);
  const std::span<const at::Tensor> own =
      std::span(all).subspan(static_cast<std::size_t>(place) * count, count);
  Weights weights{
      .input = own[0], .hidden = own[1], .input_bias = {}, .hidden_bias = {}, .projection = {}};
  if (shape.has_biases) {
    weights.input_bias = own[2];
    weights.hidden_bias = own[3];
  }
  if (shape.has_projection) {
    weights.projection = own[count - 1];
  }
  return weights;
}

std::optional<at::Tensor> given(const at::Tensor& bias) {
  return bias.defined() ? std::optional(bias) : std::nullopt;
}

/// A GRU's reset gate stands between its hidden bias and the rest; elsewhere both biases are
/// one.
bool adds_biases_up(Cell cell) {
  return cell != Cell::kGru;
}

/// What the inputs of all steps give to the gates. x [K, T, B, I] or shared [T, B, I] -> [K, T,
/// B, gates].
at::Tensor input_gates(Cell cell, const at::Tensor& x, bool x_is_shared, const Weights& w) {
  std::optional<at::Tensor> bias = given(w.input_bias);
  if (bias && adds_biases_up(cell)) {
    bias = *bias + w.hidden_bias;
  }
  return x_is_shared ? linear_wide(x, w.input, bias) : linear_batched(x, w.input, bias);
}

State step_lstm(const at::Tensor& gates, const State& before, const Weights& w) {
  const Tensors parts = gates.chunk(4, -1);
  State next;
  next.cell = at::addcmul(
      at::mul(at::sigmoid(parts[1]), before.cell), at::sigmoid(parts[0]), at::tanh(parts[2]));
  next.hidden = at::mul(at::sigmoid(parts[3]), at::tanh(next.cell));
  if (w.projection.defined()) {
    next.hidden = at::bmm(next.hidden, w.projection.transpose(1, 2));
  }
  return next;
}

State step_gru(const at::Tensor& from_input, const State& before, const Weights& w) {
  const at::Tensor from_hidden = linear_batched(before.hidden, w.hidden, given(w.hidden_bias));
  const Tensors x = from_input.chunk(3, -1);
  const Tensors h = from_hidden.chunk(3, -1);
  const at::Tensor reset = at::sigmoid(x[0] + h[0]);
  const at::Tensor update = at::sigmoid(x[1] + h[1]);
  const at::Tensor fresh = at::tanh(at::addcmul(x[2], reset, h[2]));
  return {.hidden = at::addcmul(fresh, update, before.hidden - fresh), .cell = {}};
}

State step(Cell cell, const at::Tensor& from_input, const State& before, const Weights& w) {
  if (cell == Cell::kGru) {
    return step_gru(from_input, before, w);
  }
  const at::Tensor gates = at::baddbmm(from_input, before.hidden, w.hidden.transpose(1, 2));
  if (cell == Cell::kLstm) {
    return step_lstm(gates, before, w);
  }
  return {.hidden = cell == Cell::kTanh ? at::tanh(gates) : at::relu(gates), .cell = {}};
}

/// One layer in one direction: its outputs [K, T, B, H], and `state` becomes the last one.
at::Tensor run_direction(
    Cell cell, const at::Tensor& gates, const Weights& w, bool backwards, State& state) {
  const Tensors inputs = gates.unbind(1);
  Tensors outputs(inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const std::size_t t = backwards ? inputs.size() - 1 - i : i;
    state = step(cell, inputs[t], state, w);
    outputs[t] = state.hidden;
  }
  return at::stack(outputs, 1);
}

/// Masks between layers, one for each but the last: row by row [layers - 1, T, B, features].
Tensors layer_masks(const Call& call, const Shape& shape, Sizes sizes, const at::Tensor& like) {
  if (!fuse::is_random(call.node()) || shape.layers == 1) {
    return Tensors(static_cast<std::size_t>(shape.layers - 1));
  }
  sizes.insert(sizes.begin(), shape.layers - 1);
  const bool has_axis = call.output_axis() != Axis::kShared;
  return keep_masks(call, sizes, call.number("dropout"), like).unbind(has_axis ? 1 : 0);
}

/// [T, B, features] of what a layer gives in one trial.
Sizes output_sizes(const Call& call, const Shape& shape, const at::Tensor& time_major) {
  const at::Tensor& hidden =
      shape.cell == Cell::kLstm ? call.tensor(call.values("hx").at(0)) : call.tensor("hx");
  const std::int64_t rank = time_major.dim();
  return {
      time_major.size(rank - 3), time_major.size(rank - 2), hidden.size(-1) * shape.directions};
}

/// [..., B, T, I] as [..., T, B, I], and back.
at::Tensor swap_time(const Shape& shape, const at::Tensor& x) {
  return shape.batch_first ? x.transpose(-3, -2) : x;
}

void put_all(const Call& call, const Shape& shape, const at::Tensor& y, const State& last) {
  call.put(0, swap_time(shape, y));
  call.put(1, last.hidden);
  if (shape.cell == Cell::kLstm) {
    call.put(2, last.cell);
  }
}

/// In mixed precision recurrent layers stay in the run's own: oneDNN's in bf16 are not to be
/// had on every processor.
class WithoutAutocast {
 public:
  WithoutAutocast() : was_on_(at::autocast::is_autocast_enabled(at::kCPU)) {
    at::autocast::set_autocast_enabled(at::kCPU, false);
  }

  ~WithoutAutocast() { at::autocast::set_autocast_enabled(at::kCPU, was_on_); }

  WithoutAutocast(const WithoutAutocast&) = delete;
  WithoutAutocast& operator=(const WithoutAutocast&) = delete;
  WithoutAutocast(WithoutAutocast&&) = delete;
  WithoutAutocast& operator=(WithoutAutocast&&) = delete;

 private:
  bool was_on_;
};

at::Tensor in_own_precision(const Call& call, const at::Tensor& x) {
  return x.is_floating_point() ? x.to(call.place().real) : x;
}

State stack_states(const std::vector<State>& states) {
  Tensors hidden;
  Tensors cell;
  for (const State& state : states) {
    hidden.push_back(state.hidden);
    cell.push_back(state.cell);
  }
  return {.hidden = at::stack(hidden, 1),
          .cell = cell.front().defined() ? at::stack(cell, 1) : at::Tensor()};
}

/// torch's own layer: output, hidden state, cell state.
std::tuple<at::Tensor, State> plain_layer(const Shape& shape,
                                          const at::Tensor& x,
                                          const State& state,
                                          at::TensorList weights) {
  const bool both = shape.directions == 2;
  if (shape.cell == Cell::kLstm) {
    const auto [y, h, c] = at::lstm(x,
                                    {state.hidden, state.cell},
                                    weights,
                                    shape.has_biases,
                                    1,
                                    /*dropout=*/0.0,
                                    /*train=*/true,
                                    both,
                                    /*batch_first=*/false);
    return {y, State{.hidden = h, .cell = c}};
  }
  const auto run = [&](auto layer) {
    return layer(x, state.hidden, weights, shape.has_biases, 1, 0.0, true, both, false);
  };
  const auto [y, h] =
      shape.cell == Cell::kGru    ? run([](const auto&... of) { return at::gru(of...); })
      : shape.cell == Cell::kTanh ? run([](const auto&... of) { return at::rnn_tanh(of...); })
                                  : run([](const auto&... of) { return at::rnn_relu(of...); });
  return {y, State{.hidden = h, .cell = {}}};
}

/// One trial with dropout between its layers: torch's layers with our masks in between.
void run_layer_by_layer(const Call& call, const Shape& shape) {
  Tensors weights;
  for (const ir::ValueId value : call.values("params")) {
    weights.push_back(call.tensor(value));
  }
  const bool is_lstm = shape.cell == Cell::kLstm;
  const State all{.hidden = is_lstm ? call.tensor(call.values("hx").at(0)) : call.tensor("hx"),
                  .cell = is_lstm ? call.tensor(call.values("hx").at(1)) : at::Tensor()};
  at::Tensor x = swap_time(shape, in_own_precision(call, call.tensor("input")));
  const Tensors masks = layer_masks(call, shape, output_sizes(call, shape, x), x);
  const std::size_t count = weights_a_layer(shape) * static_cast<std::size_t>(shape.directions);
  std::vector<State> last;
  for (std::int64_t layer = 0; layer < shape.layers; ++layer) {
    const auto own = [&](const at::Tensor& states) {
      return states.defined()
                 ? states.narrow(0, layer * shape.directions, shape.directions).contiguous()
                 : states;
    };
    const auto place = static_cast<std::size_t>(layer);
    const auto [y, state] = plain_layer(shape,
                                        x,
                                        {.hidden = own(all.hidden), .cell = own(all.cell)},
                                        at::TensorList(weights).slice(place * count, count));
    last.push_back(state);
    x = place < masks.size() && masks[place].defined() ? y * masks[place] : y;
  }
  Tensors hidden;
  Tensors cell;
  for (const State& state : last) {
    hidden.push_back(state.hidden);
    cell.push_back(state.cell);
  }
  put_all(call,
          shape,
          x,
          {.hidden = at::cat(hidden), .cell = is_lstm ? at::cat(cell) : at::Tensor()});
}

}  // namespace

void recurrent(const Call& call) {
  const WithoutAutocast guard;
  const Shape shape = shape_of(call);
  if (fuse::is_random(call.node()) && shape.layers > 1) {
    run_layer_by_layer(call, shape);
  } else {
    put_results(call, call_boxed(call, [&](ir::ValueId value) {
                  return in_own_precision(call, of_one_trial(call, value));
                }));
  }
}

void recurrent_stacked(const Call& call) {
  const WithoutAutocast guard;
  const Shape shape = shape_of(call);
  const Tensors weights = stacked_list(call, "params");
  const State all = first_state(call, shape);
  bool x_is_shared = call.axis("input") == Axis::kShared;
  at::Tensor x = swap_time(
      shape,
      in_own_precision(
          call, x_is_shared ? call.tensor("input") : call.stacked("input", Axis::kFront)));
  const Tensors masks = layer_masks(call, shape, output_sizes(call, shape, x), x);
  std::vector<State> last;
  for (std::int64_t layer = 0; layer < shape.layers; ++layer) {
    Tensors outputs;
    for (std::int64_t direction = 0; direction < shape.directions; ++direction) {
      const std::int64_t place = layer * shape.directions + direction;
      const Weights w = weights_at(shape, weights, place);
      State state{.hidden = all.hidden.select(1, place),
                  .cell = all.cell.defined() ? all.cell.select(1, place) : at::Tensor()};
      const at::Tensor gates = input_gates(shape.cell, x, x_is_shared, w);
      outputs.push_back(run_direction(shape.cell, gates, w, direction == 1, state));
      last.push_back(std::move(state));
    }
    x = at::cat(outputs, -1);
    x_is_shared = false;
    const auto place = static_cast<std::size_t>(layer);
    x = place < masks.size() && masks[place].defined() ? x * masks[place] : x;
  }
  put_all(call, shape, x, stack_states(last));
}

}  // namespace hydro::ops
