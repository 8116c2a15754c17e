#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hydro/base/result.h"
#include "hydro/ir/graph.h"
#include "hydro/ir/testing.h"

namespace hydro::ir {
namespace {

Graph buffered() {
  return graph_of(R"(graph {
    input user x %x: float32[5, 4]
    input buffer count %n: int64[]
    %m: int64[] = aten.add.Tensor(self=%n, other=1, alpha=1)
    %r: float32[5, 4] = aten.relu.default(self=%x)
    output user y %r
    output buffer count %m
  })");
}

std::string complaint(const Graph& graph, Purity purity = Purity::kAny) {
  const Result<void> result = verify(graph, purity);
  return result ? "" : result.error().id + ": " + result.error().what;
}

TEST(Verify, AcceptsAPureGraph) {
  EXPECT_EQ(complaint(buffered(), Purity::kPure), "");
}

TEST(Verify, RefusesAMutationOnlyWhereGraphsMustBePure) {
  Graph graph = buffered();
  graph.node(NodeId{1}).op = "aten.relu_.default";
  EXPECT_EQ(complaint(graph), "");
  EXPECT_EQ(complaint(graph, Purity::kPure), "H0258: a mutation is left at aten.relu_.default");
}

TEST(Verify, KnowsWhichNamesMutate) {
  EXPECT_TRUE(mutates("aten.add_.Tensor"));
  EXPECT_FALSE(mutates("aten.__and__.Tensor"));
  EXPECT_FALSE(mutates("aten.add.Tensor"));
  EXPECT_FALSE(mutates("hydro.odd_"));
}

TEST(Verify, RefusesUseBeforeDefinition) {
  Graph graph = buffered();
  graph.node(NodeId{0}).argument("self") = graph.node(NodeId{1}).outputs.at(0);
  EXPECT_THAT(complaint(graph), testing::HasSubstr("`self` is used before it is defined"));
}

TEST(Verify, RefusesASecondDefinition) {
  Graph graph = buffered();
  graph.node(NodeId{1}).outputs = graph.node(NodeId{0}).outputs;
  EXPECT_THAT(complaint(graph), testing::HasSubstr("defined twice"));
}

TEST(Verify, RefusesABufferOutputWithoutItsInput) {
  Graph graph = buffered();
  graph.outputs[1].name = "x";
  EXPECT_THAT(complaint(graph), testing::HasSubstr("names no buffer input"));
}

TEST(Verify, RefusesABufferThatChangesItsType) {
  Graph graph = buffered();
  graph.outputs[1].value = graph.outputs[0].value;
  EXPECT_THAT(complaint(graph), testing::HasSubstr("changes its type"));
}

TEST(Verify, RefusesTwoNextValuesOfABuffer) {
  Graph graph = buffered();
  graph.outputs.push_back(graph.outputs[1]);
  EXPECT_THAT(complaint(graph), testing::HasSubstr("two next values"));
}

TEST(Verify, RefusesAnInputGivenTwice) {
  Graph graph = buffered();
  graph.inputs[1].name = "x";
  EXPECT_THAT(complaint(graph), testing::HasSubstr("input `x` is given twice"));
}

TEST(Verify, RefusesATensorAmongIntegers) {
  Graph graph = buffered();
  graph.node(NodeId{0}).arguments.push_back(
      {.name = "size", .value = std::vector<IntItem>{ValueId{0}}});
  EXPECT_THAT(complaint(graph), testing::HasSubstr("holds a tensor among integers"));
}

}  // namespace
}  // namespace hydro::ir
