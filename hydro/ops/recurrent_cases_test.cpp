// Parity cases of recurrent layers against torch's own.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "hydro/ops/testing.h"
#include "hydro/ops/torch.h"

namespace hydro::ops {

namespace {

struct RecurrentArgs {
  std::string_view op = "aten.lstm.input";
  std::int64_t gates = 4;
  std::int64_t layers = 1;
  bool both = false;
  bool biases = true;
  bool batch_first = false;
  std::int64_t projected = 0;
  double dropout = 0;
};

constexpr std::int64_t kTime = 4;
constexpr std::int64_t kBatch = 3;
constexpr std::int64_t kInput = 5;
constexpr std::int64_t kHidden = 6;

std::int64_t directions(const RecurrentArgs& a) {
  return a.both ? 2 : 1;
}

std::int64_t given_width(const RecurrentArgs& a) {
  return a.projected > 0 ? a.projected : kHidden;
}

bool is_lstm(const RecurrentArgs& a) {
  return a.gates == 4;
}

std::size_t weights_a_layer(const RecurrentArgs& a) {
  const std::size_t one = (a.biases ? 4U : 2U) + (a.projected > 0 ? 1U : 0U);
  return one * static_cast<std::size_t>(directions(a));
}

Ints state_shape(const RecurrentArgs& a, std::int64_t width) {
  return {a.layers * directions(a), kBatch, width};
}

/// x, the states, and the weights of each layer and direction in torch's order.
std::vector<Operand> recurrent_operands(const RecurrentArgs& a) {
  const Ints input = a.batch_first ? Ints{kBatch, kTime, kInput} : Ints{kTime, kBatch, kInput};
  std::vector<Operand> operands = {{"x", input},
                                   {"h", state_shape(a, given_width(a)), Role::kConstant}};
  if (is_lstm(a)) {
    operands.push_back({"c", state_shape(a, kHidden), Role::kState});
  }
  const std::int64_t rows = a.gates * kHidden;
  for (std::int64_t place = 0; place < a.layers * directions(a); ++place) {
    const std::string n = std::to_string(place);
    const bool is_first = place < directions(a);
    const std::int64_t width = is_first ? kInput : given_width(a) * directions(a);
    operands.push_back({"wi" + n, {rows, width}, Role::kState});
    operands.push_back({"wh" + n, {rows, given_width(a)}, Role::kState});
    if (a.biases) {
      operands.push_back({"bi" + n, {rows}, Role::kState});
      operands.push_back({"bh" + n, {rows}, Role::kState});
    }
    if (a.projected > 0) {
      operands.push_back({"p" + n, {a.projected, kHidden}, Role::kState});
    }
  }
  return operands;
}

std::string body_of(const RecurrentArgs& a, const std::vector<Operand>& operands) {
  const std::size_t first = is_lstm(a) ? 3 : 2;
  std::string weights;
  for (std::size_t i = first; i < operands.size(); ++i) {
    weights += (i == first ? "%" : ", %") + operands[i].name;
  }
  const std::string type = ": float32[1, 1, 1]";
  return "  %y" + type + ", %n" + type + (is_lstm(a) ? ", %l" + type : "") + " = " +
         std::string(a.op) + "(input=%x, hx=" + (is_lstm(a) ? "[%h, %c]" : "%h") +
         ", params=[" + weights + "], has_biases=" + word(a.biases) +
         ", num_layers=" + std::to_string(a.layers) + ", dropout=" + std::to_string(a.dropout) +
         ", train=True, bidirectional=" + word(a.both) +
         ", batch_first=" + word(a.batch_first) + ")\n";
}

/// torch's own layers from `layer` on, `layers` of them.
Tensors plain(const RecurrentArgs& a,
              const at::Tensor& x,
              const Tensors& in,
              std::int64_t layer,
              std::int64_t layers) {
  const std::int64_t place = layer * directions(a);
  const std::int64_t places = layers * directions(a);
  const at::Tensor h = in[1].narrow(0, place, places).contiguous();
  const std::size_t first =
      (is_lstm(a) ? 3U : 2U) + static_cast<std::size_t>(layer) * weights_a_layer(a);
  const auto w =
      at::TensorList(in).slice(first, static_cast<std::size_t>(layers) * weights_a_layer(a));
  if (is_lstm(a)) {
    const at::Tensor c = in[2].narrow(0, place, places).contiguous();
    const auto [y, hn, cn] =
        at::lstm(x, {h, c}, w, a.biases, layers, 0.0, true, a.both, a.batch_first);
    return {y, hn, cn};
  }
  std::tuple<at::Tensor, at::Tensor> result;
  if (a.op == "aten.gru.input") {
    result = at::gru(x, h, w, a.biases, layers, 0.0, true, a.both, a.batch_first);
  } else if (a.op == "aten.rnn_tanh.input") {
    result = at::rnn_tanh(x, h, w, a.biases, layers, 0.0, true, a.both, a.batch_first);
  } else {
    result = at::rnn_relu(x, h, w, a.biases, layers, 0.0, true, a.both, a.batch_first);
  }
  return {std::get<0>(result), std::get<1>(result)};
}

/// Layer by layer, with the masks that the trial draws: [layers - 1, T, B, features].
Tensors plain_dropped(const RecurrentArgs& a, const Tensors& in, std::uint64_t key) {
  const std::int64_t features = given_width(a) * directions(a);
  const at::Tensor masks =
      drawn_mask({a.layers - 1, kTime, kBatch, features}, a.dropout, key, in[0]);
  Tensors results;
  at::Tensor x = in[0];
  for (std::int64_t layer = 0; layer < a.layers; ++layer) {
    const Tensors own = plain(a, x, in, layer, 1);
    x = own[0];
    if (layer + 1 < a.layers) {
      const at::Tensor mask = masks[layer];
      x = x * (a.batch_first ? mask.transpose(0, 1) : mask);
    }
    for (std::size_t i = 0; i < own.size(); ++i) {
      if (i >= results.size()) {
        results.push_back(own[i]);
      } else {
        results[i] = at::cat({results[i], own[i]});
      }
    }
  }
  results[0] = x;
  return results;
}

Case recurrent_case(const RecurrentArgs& a) {
  const std::vector<Operand> operands = recurrent_operands(a);
  return {.op = a.op,
          .operands = operands,
          .body = body_of(a, operands),
          .results = is_lstm(a) ? std::vector<std::string>{"y", "n", "l"}
                                : std::vector<std::string>{"y", "n"},
          .reference = [a](const Tensors& in, std::uint64_t key) {
            return a.dropout > 0 ? plain_dropped(a, in, key) : plain(a, in[0], in, 0, a.layers);
          }};
}

}  // namespace

std::vector<Case> recurrent_cases() {
  std::vector<Case> cases;
  for (const RecurrentArgs& cell : {RecurrentArgs{},
                                    RecurrentArgs{.op = "aten.gru.input", .gates = 3},
                                    RecurrentArgs{.op = "aten.rnn_tanh.input", .gates = 1},
                                    RecurrentArgs{.op = "aten.rnn_relu.input", .gates = 1}}) {
    const auto with = [&](auto change) {
      RecurrentArgs a = cell;
      change(a);
      cases.push_back(recurrent_case(a));
    };
    with([](RecurrentArgs& a) { a.layers = 1; });
    with([](RecurrentArgs& a) { a.batch_first = true; });
    with([](RecurrentArgs& a) { a.biases = false; });
    with([](RecurrentArgs& a) { a.layers = 2; });
    with([](RecurrentArgs& a) { a.both = true; });
    with([](RecurrentArgs& a) {
      a.layers = 3;
      a.both = true;
      a.dropout = 0.4;
    });
    with([](RecurrentArgs& a) {
      a.layers = 2;
      a.batch_first = true;
      a.dropout = 0.4;
    });
  }
  cases.push_back(recurrent_case({.layers = 2, .both = true, .projected = 2}));
  cases.push_back(recurrent_case({.layers = 2, .projected = 2, .dropout = 0.4}));
  return cases;
}

}  // namespace hydro::ops
