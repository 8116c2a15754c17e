// What a change of a weight gives, by plain torch calls, for every way a weight can be used.
#include "hydro/train/contributions.h"

#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "hydro/ir/graph.h"
#include "hydro/ir/model.h"
#include "hydro/ops/executor.h"
#include "hydro/ops/ops.h"
#include "hydro/ops/torch.h"
#include "hydro/shrink/coordinates.h"
#include "hydro/shrink/surrogate.h"
#include "hydro/train/mean_size.h"
#include "hydro/train/testing.h"

namespace hydro::train {
namespace {

/// Numbers that differ everywhere.
at::Tensor waves(at::IntArrayRef sizes, double phase) {
  return at::sin(at::arange(c10::multiply_integers(sizes), at::kDouble) * 1.3 + phase)
      .view(sizes)
      .to(at::kFloat);
}

at::Tensor change_of(const at::Tensor& weight) {
  return waves(weight.sizes(), 2) * .1;
}

using Tensors = std::map<std::string, at::Tensor>;

struct Measured {
  std::vector<shrink::LayerMeasure> layers;
  Tensors inputs;
};

/// The graph on made-up numbers; integers count up.
Measured measured(const std::string& text) {
  const shrink::Surrogate surrogate = testing::surrogate_of(text, text);
  const ops::Program program = ops::compile(surrogate.model.train, 1).value();
  const auto contributions = Contributions::make(surrogate.model, program).value();
  Measured result;
  std::vector<at::Tensor> feeds;
  for (const ir::Input& input : program.graph.inputs) {
    const ir::TensorType& type = program.graph.value(input.value).tensor();
    const auto sizes = testing::sizes_of(type);
    feeds.push_back(ir::is_floating(type.dtype)
                        ? waves(sizes, static_cast<double>(feeds.size()))
                        : at::arange(c10::multiply_integers(sizes), at::kLong).view(sizes));
    result.inputs.emplace(input.name, feeds.back());
  }
  const auto change = [&](const std::string& weight) {
    return change_of(result.inputs.at(weight));
  };
  const auto watch = [&](const ir::Node& node, const ops::Frame& frame) {
    for (const shrink::LayerMeasure& layer : contributions.measure(node, frame, change)) {
      result.layers.push_back(layer);
    }
  };
  static_cast<void>(ops::run(program, feeds, {.keys = {0}}, watch));
  return result;
}

/// A weight of [6, 4] or [4, 6] that meets x [3, 4], through `nodes`, which give %y.
Measured product(const std::string& weight, const std::string& nodes) {
  return measured(
      "graph {\n  input user x %x: float32[~3, 4]\n  input parameter w %w: " + weight +
      "\n  input parameter b %b: float32[6]\n" + nodes + "  output user y %y\n}\n");
}

struct Use {
  const char* name;
  const char* weight;
  const char* nodes;
  bool is_transposed;  // the weight is [in, out]
};

class WeightUses : public ::testing::TestWithParam<Use> {};

TEST_P(WeightUses, GiveTheChangeTimesTheInputWithoutTheBias) {
  const Use& use = GetParam();
  const Measured got = product(use.weight, use.nodes);
  ASSERT_EQ(got.layers.size(), 1U);
  EXPECT_EQ(got.layers[0].layer, "w");
  const at::Tensor change = change_of(got.inputs.at("w"));
  const double expected =
      mean_size(at::mm(got.inputs.at("x"), use.is_transposed ? change : change.t()));
  EXPECT_NEAR(got.layers[0].update, expected, 1e-5 * expected);
  EXPECT_GT(got.layers[0].activation, 0);
}

INSTANTIATE_TEST_SUITE_P(
    Ops,
    WeightUses,
    ::testing::Values(
        Use{"linear",
            "float32[6, 4]",
            "  %y: float32[~3, 6] = aten.linear.default(input=%x, weight=%w, bias=%b)\n",
            false},
        Use{"addmm",
            "float32[4, 6]",
            "  %y: float32[~3, 6] = aten.addmm.default(self=%b, mat1=%x, mat2=%w, beta=1, "
            "alpha=1)\n",
            true},
        Use{"matmul",
            "float32[4, 6]",
            "  %y: float32[~3, 6] = aten.matmul.default(self=%x, other=%w)\n",
            true},
        Use{"mm",
            "float32[4, 6]",
            "  %y: float32[~3, 6] = aten.mm.default(self=%x, mat2=%w)\n",
            true},
        Use{"transposed",
            "float32[6, 4]",
            "  %t: float32[4, 6] = aten.t.default(self=%w)\n"
            "  %y: float32[~3, 6] = aten.addmm.default(self=%b, mat1=%x, mat2=%t, beta=1, "
            "alpha=1)\n",
            false},
        Use{"permuted",
            "float32[6, 4]",
            "  %t: float32[4, 6] = aten.permute.default(self=%w, dims=[1, 0])\n"
            "  %y: float32[~3, 6] = aten.matmul.default(self=%x, other=%t)\n",
            false}),
    [](const auto& row) { return std::string(row.param.name); });

TEST(WeightUses, APartOfAPackedWeightIsChangedAlone) {
  const Measured got = measured(
      "graph {\n  input user x %x: float32[~3, 4]\n  input parameter w %w: float32[12, 4]\n"
      "  %p: float32[6, 4], %q: float32[6, 4] = aten.chunk.default(self=%w, chunks=2, dim=0)\n"
      "  %a: float32[~3, 6] = aten.linear.default(input=%x, weight=%p, bias=None)\n"
      "  %c: float32[~3, 6] = aten.linear.default(input=%x, weight=%q, bias=None)\n"
      "  %y: float32[~3, 6] = aten.add.Tensor(self=%a, other=%c, alpha=1)\n"
      "  output user y %y\n}\n");
  ASSERT_EQ(got.layers.size(), 2U);
  const at::Tensor both =
      at::mm(got.inputs.at("x"), change_of(got.inputs.at("w")).t()).view({3, 2, 6});
  EXPECT_NEAR(got.layers[0].update, mean_size(both.select(1, 0)), 1e-5);
  EXPECT_NEAR(got.layers[1].update, mean_size(both.select(1, 1)), 1e-5);
}

TEST(WeightUses, AnEmbeddingGivesTheChangeOfTheRowsThatAreRead) {
  const Measured got = measured(
      "graph {\n  input user x %x: int64[~3, 2]\n  input parameter e %e: float32[9, 4]\n"
      "  %y: float32[~3, 2, 4] = aten.embedding.default(weight=%e, indices=%x, "
      "padding_idx=-1, scale_grad_by_freq=False, sparse=False)\n  output user y %y\n}\n");
  ASSERT_EQ(got.layers.size(), 1U);
  EXPECT_EQ(got.layers[0].usage, shrink::WeightUsage::kLookup);
  const at::Tensor read = change_of(got.inputs.at("e")).narrow(0, 0, 6);
  EXPECT_NEAR(got.layers[0].update, mean_size(read), 1e-6);
}

TEST(WeightUses, AFrozenWeightIsNotMeasured) {
  const std::string text =
      "graph {\n  input user x %x: float32[~3, 4]\n  input parameter w %w: float32[6, 4]\n"
      "  %y: float32[~3, 6] = aten.linear.default(input=%x, weight=%w, bias=None)\n"
      "  output user y %y\n}\n";
  shrink::Surrogate surrogate = testing::surrogate_of(text, text);
  surrogate.model.state.front().kind = ir::StateKind::kFrozen;
  const ops::Program program = ops::compile(surrogate.model.train, 1).value();
  const auto contributions = Contributions::make(surrogate.model, program).value();
  const ops::Frame frame(program.graph.value_count());
  EXPECT_TRUE(contributions.measure(program.graph.node(ir::NodeId{0}), frame, {}).empty());
}

const char* const kLstm =
    "graph {\n  input user x %x: float32[~3, 5, 4]\n"
    "  input parameter i0 %i0: float32[8, 4]\n  input parameter h0 %h0: float32[8, 2]\n"
    "  input parameter i0r %i0r: float32[8, 4]\n  input parameter h0r %h0r: float32[8, 2]\n"
    "  input parameter i1 %i1: float32[8, 4]\n  input parameter h1 %h1: float32[8, 2]\n"
    "  input parameter i1r %i1r: float32[8, 4]\n  input parameter h1r %h1r: float32[8, 2]\n"
    "  %z: float32[4, 3, 2] = aten.zeros.default(size=[4, 3, 2])\n"
    "  %y: float32[~3, 5, 4], %h: float32[4, 3, 2], %c: float32[4, 3, 2] = "
    "aten.lstm.input(input=%x, hx=[%z, %z], params=[%i0, %h0, %i0r, %h0r, %i1, %h1, %i1r, "
    "%h1r], has_biases=False, num_layers=2, dropout=0.5, train=True, bidirectional=True, "
    "batch_first=True)\n  output user y %y\n}\n";

at::Tensor lstm_layer(const Tensors& inputs, const std::string& layer, const at::Tensor& x) {
  const at::Tensor zero = at::zeros({2, 3, 2});
  const std::vector<at::Tensor> weights = {inputs.at("i" + layer),
                                           inputs.at("h" + layer),
                                           inputs.at("i" + layer + "r"),
                                           inputs.at("h" + layer + "r")};
  return std::get<0>(at::lstm(x, {zero, zero}, weights, false, 1, 0, false, true, true));
}

double given(const Measured& measured, const std::string& layer) {
  for (const shrink::LayerMeasure& one : measured.layers) {
    if (one.layer == layer) {
      return one.update;
    }
  }
  return -1;
}

TEST(Recurrent, EveryLayerAndDirectionHasItsOwnInputsAndStates) {
  const Measured got = measured(kLstm);
  ASSERT_EQ(got.layers.size(), 8U);
  const auto expect = [&](const std::string& weight, const at::Tensor& x) {
    const double expected = mean_size(at::linear(x, change_of(got.inputs.at(weight))));
    EXPECT_NEAR(given(got, weight), expected, 1e-5 * expected) << weight;
  };
  const at::Tensor first = lstm_layer(got.inputs, "0", got.inputs.at("x"));
  const at::Tensor second = lstm_layer(got.inputs, "1", first);
  expect("i0", got.inputs.at("x"));
  expect("i0r", got.inputs.at("x"));
  expect("i1", first);
  expect("i1r", first);
  const at::Tensor zero = at::zeros({3, 1, 2});
  for (const auto& [layer, y] : {std::pair("0", first), std::pair("1", second)}) {
    const at::Tensor ahead = y.narrow(1, 0, 4).narrow(2, 0, 2);
    const at::Tensor back = y.narrow(1, 1, 4).narrow(2, 2, 2);
    expect(std::string("h") + layer, at::cat({zero, ahead}, 1));
    expect(std::string("h") + layer + "r", at::cat({back, zero}, 1));
  }
}

}  // namespace
}  // namespace hydro::train
