#include "hydro/ir/passes.h"

#include <cstddef>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hydro/base/result.h"
#include "hydro/ir/graph.h"
#include "hydro/ir/schema.h"
#include "hydro/ir/testing.h"

namespace hydro::ir {
namespace {

// What stands above the graph of a golden case: "pass: NAME", "schema OP: TEXT", "tie NAME:
// HOLDER", "output: NAME".
struct Setting {
  std::string pass;
  PassContext context;
  std::string graph;
};

Setting setting_of(const std::string& input) {
  Setting setting;
  std::istringstream lines(input);
  std::string line;
  while (std::getline(lines, line) && !line.starts_with("graph")) {
    const std::size_t colon = line.find(": ");
    const std::string key = line.substr(0, colon);
    const std::string value = colon == std::string::npos ? "" : line.substr(colon + 2);
    if (key == "pass") {
      setting.pass = value;
    } else if (key == "output") {
      setting.context.output = value;
    } else if (key.starts_with("schema ")) {
      setting.context.schemas[key.substr(7)] = parse_schema(value).value();
    } else if (key.starts_with("tie ")) {
      setting.context.ties[key.substr(4)] = value;
    }
  }
  setting.graph = input.substr(input.find("graph {"));
  return setting;
}

std::string run_pass(const GoldenCase& golden) {
  const Setting setting = setting_of(golden.input);
  const Pass* pass = find_pass(setting.pass);
  if (pass == nullptr && setting.pass != "all") {
    return "no pass `" + setting.pass + "`\n";
  }
  Graph graph = graph_of(setting.graph);
  const Result<void> done =
      pass == nullptr ? run_passes(graph, setting.context) : pass->run(graph, setting.context);
  if (!done) {
    return refusal_text(done.error());
  }
  const Result<void> sound = verify(graph, Purity::kAny);
  return sound ? to_text(graph) : refusal_text(sound.error());
}

TEST(Passes, GiveTheGoldenText) {
  check_golden("ir", run_pass);
}

TEST(Passes, HaveNamesInTheirOrder) {
  std::vector<std::string_view> names;
  for (const Pass& pass : pass_order()) {
    names.push_back(pass.name);
  }
  EXPECT_THAT(names,
              testing::ElementsAre("fill_defaults",
                                   "merge_ties",
                                   "batch_norm_state",
                                   "recurrent_types",
                                   "functionalize",
                                   "drop_identities",
                                   "select_output",
                                   "dead_code"));
  EXPECT_EQ(find_pass("nothing"), nullptr);
}

TEST(SelectOutput, DropsBufferUpdatesOfModulesThatItDoesNotUse) {
  Graph graph = graph_of(R"(graph {
    input user x %x: float32[5, 4]
    input buffer main.count %m: int64[]
    input buffer aux.count %a: int64[]
    %m1: int64[] = aten.add.Tensor(self=%m, other=1, alpha=1)
    %a1: int64[] = aten.add.Tensor(self=%a, other=1, alpha=1)
    %y: float32[5, 4] = aten.relu.default(self=%x)
    %z: float32[5, 4] = aten.tanh.default(self=%x)
    output user logits %y
    output user aux %z
    output buffer main.count %m1
    output buffer aux.count %a1
  })");
  for (const auto& [node, module] :
       std::map<int, std::string>{{0, "main"}, {1, "aux"}, {2, "main"}, {3, "aux"}}) {
    graph.node(NodeId{node}).source.module = module;
  }
  ASSERT_TRUE(select_output(graph, {.schemas = {}, .ties = {}, .output = "logits"}));
  ASSERT_EQ(graph.outputs.size(), 2U);
  EXPECT_EQ(graph.outputs[1].name, "main.count");
}

}  // namespace
}  // namespace hydro::ir
