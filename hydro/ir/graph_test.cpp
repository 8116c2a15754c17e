#include "hydro/ir/graph.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hydro/base/result.h"
#include "hydro/ir/model.h"
#include "hydro/ir/testing.h"

namespace hydro::ir {
namespace {

Graph chain() {
  return graph_of(R"(graph {
    input user x %x: float32[~5, 4]
    %a: float32[~5, 4] = aten.relu.default(self=%x)
    %b: float32[~5, 4] = aten.add.Tensor(self=%a, other=%x, alpha=1)  # net.py:9
    output user y %b
  })");
}

TEST(Graph, MakesNamesUnique) {
  Graph graph;
  graph.add_input(InputKind::kUser, "x", "x", TensorType{});
  EXPECT_EQ(graph.value(graph.add_value("x", TensorType{})).name, "x_1");
  EXPECT_EQ(graph.value(graph.add_value("x", TensorType{})).name, "x_2");
}

TEST(Graph, ListsUsersOnce) {
  const Graph graph = chain();
  const auto readers = users(graph);
  EXPECT_THAT(readers.at(0), testing::ElementsAre(NodeId{0}, NodeId{1}));
  EXPECT_THAT(readers.at(2), testing::IsEmpty());
}

TEST(Graph, CompactDropsWhatNobodyNames) {
  Graph graph = chain();
  graph.add_value("unused", TensorType{});
  const std::string before = to_text(graph);
  graph.compact();
  EXPECT_EQ(graph.value_count(), 3);
  EXPECT_EQ(to_text(graph), before);
  EXPECT_TRUE(verify(graph, Purity::kPure));
}

TEST(Graph, SetNodesDerivesProducersAgain) {
  Graph graph = chain();
  std::vector<Node> nodes(graph.nodes().begin(), graph.nodes().end());
  std::swap(nodes[0], nodes[1]);
  graph.set_nodes(std::move(nodes));
  EXPECT_EQ(graph.value(ValueId{1}).producer, NodeId{1});
  EXPECT_FALSE(verify(graph, Purity::kAny));
}

TEST(Node, GivesArgumentsByNameAndKind) {
  const Graph graph = chain();
  const Node& add = graph.node(NodeId{1});
  EXPECT_EQ(add.integer("alpha"), 1);
  EXPECT_EQ(add.number("alpha"), 1.0);
  EXPECT_EQ(add.value("other"), ValueId{0});
  EXPECT_EQ(add.find_argument("nothing"), nullptr);
  EXPECT_THROW((void)add.argument("nothing"), BugError);
  EXPECT_THROW((void)add.text("alpha"), BugError);
  EXPECT_EQ(add.describe(), "aten.add.Tensor (net.py:9)");
}

TEST(DType, NamesAndSizesAgree) {
  EXPECT_EQ(find_dtype("bfloat16"), DType::kBFloat16);
  EXPECT_EQ(find_dtype("complex64"), std::nullopt);
  EXPECT_EQ(dtype_size(DType::kInt64), 8);
  EXPECT_TRUE(is_floating(DType::kFloat16));
  EXPECT_FALSE(is_floating(DType::kBool));
}

TEST(Model, NamesLawsAndFindsState) {
  Model model;
  model.state.emplace_back().name = "fc.weight";
  EXPECT_NE(model.find_state("fc.weight"), nullptr);
  EXPECT_EQ(model.find_state("fc"), nullptr);
  EXPECT_EQ(law_name(LawKind::kTruncatedNormal), "truncated_normal");
  EXPECT_EQ(find_law("uniform"), LawKind::kUniform);
  EXPECT_EQ(find_law("cauchy"), std::nullopt);
}

}  // namespace
}  // namespace hydro::ir
