#include <cmath>
#include <cstdint>
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

constexpr std::string_view kSmall = R"(graph {
  input user x %x: float32[~5, 3, 28, 28]
  input parameter conv1.weight %w: float32[64, 3, 7, 7]
  input buffer bn1.running_mean %m: float32[64]
  input constant "odd name" %k: int64[]
  %c: float32[~5, 64, 14, 14] = aten.conv2d.default(input=%x, weight=%w, bias=None, stride=[2, 2])  # net.py:3
  %n: int(5) = aten.sym_size.int(self=%x, dim=0)
  %v: float32[~5, 12544] = aten.view.default(self=%c, size=[%n, 12544])
  %a: float32[64], %b: float32[64] = hydro.two(list=[%m, %m], some=[%m, None], all=optionals[%m]) @7
  aten.check.default(e=[], f=floats[], g=bools[], h=tensors[], t="a \"b\" \x0a", u=[1.5, -inf, nan], p=[True, False])
  %d: float16[64] = aten.to.dtype(self=%a, dtype=float16, flag=True, scale=1e-05, big=1e+20, whole=2.0, n=-3)
  output user logits %v
  output buffer bn1.running_mean %b
}
)";

std::string error_of(std::string_view text) {
  const Result<Graph> graph = parse_graph(text);
  return graph ? "" : graph.error().id + " " + graph.error().where + ": " + graph.error().what;
}

TEST(GraphText, RoundTripsEveryKindOfArgument) {
  EXPECT_EQ(to_text(graph_of(kSmall)), kSmall);
}

TEST(GraphText, ReadsTypesAndProducers) {
  const Graph graph = graph_of(kSmall);
  const Value& conv = graph.value(graph.node(NodeId{0}).outputs.at(0));
  EXPECT_EQ(conv.producer, NodeId{0});
  EXPECT_EQ(conv.tensor().shape.at(0), (Dim{.size = 5, .dynamic = true}));
  EXPECT_EQ(std::get<IntType>(graph.value(graph.node(NodeId{1}).outputs.at(0)).type).hint, 5);
  EXPECT_EQ(graph.find_input("conv1.weight")->kind, InputKind::kParameter);
  EXPECT_EQ(graph.find_input("conv2.weight"), nullptr);
}

TEST(GraphText, CountsPositionsFromTheLastOneGiven) {
  const Graph graph = graph_of(kSmall);
  std::vector<std::int64_t> positions;
  for (const Node& node : graph.nodes()) {
    positions.push_back(node.position);
  }
  EXPECT_THAT(positions, testing::ElementsAre(0, 1, 2, 7, 8, 9));
}

TEST(GraphText, KeepsTheUsersPlace) {
  EXPECT_EQ(graph_of(kSmall).node(NodeId{0}).source.place, "net.py:3");
}

TEST(GraphText, SkipsCommentLinesAndLowerCaseBooleans) {
  const Graph graph = graph_of("# a\ngraph {\n  # b\n\n  aten.f.default(a=true, b=false)\n}\n");
  EXPECT_TRUE(graph.node(NodeId{0}).boolean("a"));
  EXPECT_FALSE(graph.node(NodeId{0}).boolean("b"));
}

TEST(GraphText, RefusesWithLineAndColumn) {
  EXPECT_EQ(error_of("graph {\n  output user y %y\n}\n"),
            "H0259 graph text:2:19: value `%y` is not defined before this use");
  EXPECT_EQ(
      error_of("graph {\n  input wrong x %x: float32[]\n}\n"),
      "H0259 graph text:2:14: `wrong` is no input kind (user, parameter, buffer, constant)");
}

struct BadText {
  std::string_view text;
  std::string_view part;
};

TEST(GraphText, SaysWhatIsWrong) {
  const std::vector<BadText> cases = {
      {.text = "", .part = "expected `graph`"},
      {.text = "graph {\n", .part = "ends before `}`"},
      {.text = "graph {\n}\nmore", .part = "after the closing"},
      {.text = "graph {\n  output x y %y\n}", .part = "no output kind"},
      {.text = "graph {\n  input user x %x: float33[]\n}", .part = "`float33` is no type"},
      {.text = "graph {\n  input user x %x: float32[a]\n}", .part = "`a` is no integer"},
      {.text = "graph {\n  input user x %x: float32[]\n  input user z %x: float32[]\n}",
       .part = "defined twice"},
      {.text = "graph {\n  f(a=1, a=2)\n}", .part = "given twice"},
      {.text = "graph {\n  f(a=maybe)\n}", .part = "`maybe` is no argument"},
      {.text = "graph {\n  f(a=[1, 2.0])\n}", .part = "different kinds"},
      {.text = "graph {\n  f(a=[[1]])\n}", .part = "list inside a list"},
      {.text = "graph {\n  f(a=things[])\n}", .part = "no kind of list"},
      {.text = "graph {\n  f(a=\"x\n\")\n}", .part = "expected `\"`"},
      {.text = "graph {\n  f(a=\"\\x0\")\n}", .part = "two hex digits"},
      {.text = "graph {\n  f() @x\n}", .part = "position after `@`"},
      {.text = "graph {\n  f() g()\n}", .part = "end of the line"},
      {.text = "graph {\n  (a=1)\n}", .part = "expected an op"},
  };
  for (const BadText& bad : cases) {
    EXPECT_THAT(error_of(bad.text), testing::HasSubstr(bad.part)) << bad.text;
  }
}

}  // namespace
}  // namespace hydro::ir
