#include "hydro/fuse/trial_axis.h"

#include <cstddef>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "hydro/ir/graph.h"
#include "hydro/ir/testing.h"

namespace hydro::fuse {
namespace {

Axis axis_named(const ir::Graph& graph, std::string_view name) {
  const Axes axes = mark_axes(graph);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (graph.values()[i].name == name) {
      return axes[i];
    }
  }
  ADD_FAILURE() << "no value " << name;
  return Axis::kShared;
}

ir::Graph dropout_of_an_input(const std::string& train, const std::string& p) {
  return ir::graph_of(
      "graph {\n  input user x %x: float32[~5, 8]\n  %y: float32[~5, 8] = "
      "aten.dropout.default(input=%x, p=" +
      p + ", train=" + train + ")\n  output user y %y\n}\n");
}

TEST(TrialAxis, GoldenGraphsAreMarked) {
  ir::check_golden("fuse", [](const ir::GoldenCase& golden) {
    const ir::Graph graph = ir::graph_of(golden.input);
    return to_text(graph, mark_axes(graph));
  });
}

TEST(TrialAxis, RandomNumbersSeparateTrialsThatShareEverythingElse) {
  EXPECT_EQ(axis_named(dropout_of_an_input("True", "0.5"), "y"), Axis::kFront);
}

TEST(TrialAxis, DropoutThatIsOffKeepsAValueShared) {
  EXPECT_EQ(axis_named(dropout_of_an_input("False", "0.5"), "y"), Axis::kShared);
  EXPECT_EQ(axis_named(dropout_of_an_input("True", "0.0"), "y"), Axis::kShared);
}

TEST(TrialAxis, IntegersAreSharedWhateverTheyMeasure) {
  const ir::Graph graph = ir::graph_of(R"(graph {
  input parameter w %w: float32[8, 4]
  %n: int(8) = aten.sym_size.int(self=%w, dim=0)
  output user n %n
}
)");
  EXPECT_EQ(axis_named(graph, "n"), Axis::kShared);
}

}  // namespace
}  // namespace hydro::fuse
