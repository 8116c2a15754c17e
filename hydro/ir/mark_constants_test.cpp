#include <string>

#include <gtest/gtest.h>

#include "hydro/ir/graph.h"
#include "hydro/ir/model.h"
#include "hydro/ir/operator_tags.h"
#include "hydro/ir/passes.h"
#include "hydro/ir/testing.h"

namespace hydro::ir {
namespace {

constexpr const char* kTrain = R"(graph {
  input parameter w %w: float32[8, 8]
  input buffer mask %m: bool[8, 8]
  input buffer mean %r: float32[8]
  input constant lifted_0 %c: float32[]
  input user x %x: float32[~5, 8]
  %n: int(5) = aten.sym_size.int(self=%x, dim=0)
  %ones: float32[~5, 8] = aten.new_ones.default(self=%x, size=[%n, 8], dtype=None)
  %scaled: float32[~5, 8] = aten.mul.Tensor(self=%ones, other=%c)
  %not: bool[8, 8] = aten.logical_not.default(self=%m)
  %drawn: float32[~5, 8] = aten.rand.default(size=[%n, 8], dtype=float32)
  %kept: float32[~5, 8] = aten.floor.default(self=%drawn)
  %read: float32[8] = aten.neg.default(self=%r)
  %of_data: float32[~5, 8] = aten.add.Tensor(self=%x, other=%scaled, alpha=1)
  %of_w: float32[8, 8] = aten.neg.default(self=%w)
  output user y %of_data
  output buffer mean %read
}
)";

// Values of marked nodes, in order.
std::string marked(const Graph& graph) {
  std::string names;
  for (const Node& node : graph.nodes()) {
    names += node.constant ? graph.value(node.outputs.at(0)).name + " " : "";
  }
  return names;
}

TEST(MarkConstants, MarksWhatShapesAndConstantsAloneDecide) {
  Model model;
  model.train = graph_of(kTrain);
  mark_constants(model);
  EXPECT_EQ(marked(model.train), "n ones scaled not ");
}

TEST(MarkConstants, ABufferThatTrainingChangesIsNoneInTheEvalGraphEither) {
  Model model;
  model.train = graph_of(kTrain);
  model.eval = graph_of(R"(graph {
  input buffer mask %m: bool[8, 8]
  input buffer mean %r: float32[8]
  input user x %x: float32[~5, 8]
  %a: bool[8, 8] = aten.logical_not.default(self=%m)
  %b: float32[8] = aten.neg.default(self=%r)
  output user y %b
}
)");
  mark_constants(model);
  EXPECT_EQ(marked(model.eval), "a ");
}

TEST(MarkConstants, MarksSurviveTheTextForm) {
  Model model;
  model.train = graph_of(kTrain);
  mark_constants(model);
  const Graph again = graph_of(to_text(model.train));
  EXPECT_EQ(marked(again), marked(model.train));
  EXPECT_EQ(to_text(again), to_text(model.train));
}

TEST(OperatorTags, KnowPointwiseAndRandomOperators) {
  EXPECT_TRUE(is_pointwise("aten.gelu.default"));
  EXPECT_TRUE(is_pointwise("aten.__lshift__.Scalar"));  // the first
  EXPECT_TRUE(is_pointwise("aten.xlogy.Tensor"));       // the last
  EXPECT_FALSE(is_pointwise("aten.softmax.int"));
  EXPECT_FALSE(is_pointwise("aten.gelu_.default"));
  EXPECT_TRUE(is_random("aten.bernoulli.p"));
  EXPECT_FALSE(is_random("aten.relu.default"));
}

}  // namespace
}  // namespace hydro::ir
