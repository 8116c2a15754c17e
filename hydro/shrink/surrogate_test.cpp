#include "hydro/shrink/surrogate.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "hydro/base/result.h"
#include "hydro/ir/graph.h"
#include "hydro/ir/model.h"
#include "hydro/ir/testing.h"
#include "hydro/shrink/rules.h"
#include "hydro/shrink/testing.h"

namespace hydro::shrink {

namespace {

constexpr std::string_view kNet = R"(graph {
  input parameter fc1.weight %w1: float32[64, 32]
  input parameter fc1.bias %b1: float32[64]
  input parameter fc2.weight %w2: float32[48, 64]
  input parameter head.weight %w3: float32[10, 48]
  input parameter head.bias %b3: float32[10]
  input buffer offset %z: float32[48]
  input user x %x: float32[~5, 32]
  %h1: float32[~5, 64] = aten.linear.default(input=%x, weight=%w1, bias=%b1)
  %h2: float32[~5, 48] = aten.linear.default(input=%h1, weight=%w2, bias=None)
  %a: float32[~5, 48] = aten.add.Tensor(self=%h2, other=%z, alpha=1)
  %d: float32[~5, 48] = aten.dropout.default(input=%a, p=0.5, train=True)
  %y: float32[~5, 10] = aten.linear.default(input=%d, weight=%w3, bias=%b3)
  %e: float32[~5, 10] = aten.neg.default(self=%y)
  output user logits %e
}
)";

Case net(const std::string& options) {
  return case_of(options + "\n" + std::string(kNet));
}

Surrogate shrunk(const Case& made) {
  return shrink(made.model, made.options).value();
}

const ParameterPlan& plan_of(const Surrogate& surrogate, const std::string& name) {
  const auto found = std::ranges::find(surrogate.parameters, name, &ParameterPlan::name);
  HYDRO_CHECK(found != surrogate.parameters.end(), name);
  return *found;
}

std::string surrogate_text(const Case& made) {
  const Result<Surrogate> surrogate = shrink(made.model, made.options);
  if (!surrogate) {
    return ir::refusal_text(surrogate.error()) + surrogate.error().why + "\n" +
           surrogate.error().excerpt;
  }
  std::string text = plan_text(*surrogate);
  for (const ir::Graph* graph : {&surrogate->model.train, &surrogate->model.eval}) {
    const Result<void> holds = ir::verify(*graph, ir::Purity::kPure);
    text += holds ? "" : ir::refusal_text(holds.error());
  }
  const std::string train = ir::to_text(surrogate->model.train);
  const std::string eval = ir::to_text(surrogate->model.eval);
  text += train + (eval == train ? "eval as train\n" : eval);
  return text;
}

TEST(Shrink, GivesTheGoldenSurrogates) {
  ir::check_golden("shrink", [](const ir::GoldenCase& golden) {
    return surrogate_text(case_of(golden.input));
  });
}

TEST(Shrink, AnUnknownOpKeepsItsWidthsAndNamesModuleLineAndCost) {
  Case made = net("scaling 8");
  ir::Node& node = made.model.eval.node(ir::NodeId{3});
  node.op = "aten.renorm.default";
  node.source = {.place = "net.py:31", .module = "body.scan"};
  const Surrogate surrogate = shrunk(made);
  EXPECT_EQ(plan_of(surrogate, "fc2.weight").surrogate_shape,
            (std::vector<std::int64_t>{48, 8}));
  const std::string& warning = surrogate.warnings.at(0);
  EXPECT_NE(warning.find("aten.renorm.default `body.scan` (net.py:31)"), std::string::npos);
  EXPECT_NE(warning.find("costs 756 of the surrogate's 1138 parameters"), std::string::npos)
      << warning;
}

TEST(Shrink, ARoleThatTheGraphContradictsIsAnError) {
  const Case made = net("scaling 8\nrole fc2.weight output");
  const Result<Surrogate> refused = shrink(made.model, made.options);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().id, "H0308");
  EXPECT_NE(refused.error().why.find("its fan-out is a width"), std::string::npos);
  EXPECT_EQ(plan_of(shrunk(net("scaling 8\nrole fc2.weight none")), "fc2.weight").role,
            Role::kNone);
}

TEST(Shrink, SuggestsTheNearestNameForAnOverrideThatMatchesNothing) {
  const Case made = net("scaling 8\nrole head.wieght output");
  const Result<Surrogate> refused = shrink(made.model, made.options);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().id, "H0303");
  EXPECT_EQ(refused.error().remedy, "did you mean `head.weight`?");
}

TEST(Shrink, InsertedNodesLeaveThePositionsOfAllOthers) {
  const Case made = net("scaling 8");
  const Surrogate surrogate = shrunk(made);
  std::vector<std::int64_t> kept;
  for (const ir::Node& node : surrogate.model.train.nodes()) {
    if (node.position >= 0) {
      kept.push_back(node.position);
    } else {
      EXPECT_EQ(node.op, "aten.mul.Tensor");
      EXPECT_EQ(node.number("other"), 8);
    }
  }
  std::vector<std::int64_t> before;
  for (const ir::Node& node : made.model.train.nodes()) {
    before.push_back(node.position);
  }
  EXPECT_EQ(kept, before);
  EXPECT_EQ(surrogate.model.train.node_count(), made.model.train.node_count() + 1);
}

TEST(Shrink, AtScalingOneOnlyTheReadoutChanges) {
  const Case made = net("scaling 1");
  const Surrogate surrogate = shrunk(made);
  EXPECT_EQ(ir::to_text(surrogate.model.train), ir::to_text(made.model.train));
  EXPECT_EQ(ir::to_text(surrogate.model.eval), ir::to_text(made.model.eval));
  for (const ir::StateEntry& entry : surrogate.model.state) {
    const ir::StateEntry& before = *made.model.find_state(entry.name);
    EXPECT_EQ(entry.shape, before.shape);
    EXPECT_EQ(entry.laws == before.laws, !entry.name.starts_with("head")) << entry.name;
  }
}

TEST(Shrink, TheReadoutKeepsItsLawUnderStandard) {
  const Case made = net("scaling 1\nparametrization standard");
  const Surrogate surrogate = shrunk(made);
  for (const ir::StateEntry& entry : surrogate.model.state) {
    EXPECT_EQ(entry.laws, made.model.find_state(entry.name)->laws);
  }
}

TEST(Shrink, TheInputLayersLawStaysAtAnyScaling) {
  const Case made = net("scaling 16\nlaw fc1.weight uniform -0.3 0.3");
  EXPECT_EQ(plan_of(shrunk(made), "fc1.weight").laws.at(0).high, 0.3);
}

TEST(Shrink, FindsTheReadoutBehindOpsWithoutWeights) {
  const Surrogate surrogate = shrunk(net("scaling 8"));
  EXPECT_TRUE(plan_of(surrogate, "head.weight").readout);
  EXPECT_TRUE(plan_of(surrogate, "head.bias").readout);
  EXPECT_EQ(plan_of(surrogate, "head.bias").role, Role::kOutputBias);
  EXPECT_FALSE(plan_of(surrogate, "fc2.weight").readout);
}

TEST(Shrink, ABufferOfOneNumberLosesElements) {
  const Surrogate surrogate = shrunk(net("scaling 8"));
  EXPECT_EQ(surrogate.model.tensors.at("offset").shape, std::vector<std::int64_t>{6});
  EXPECT_EQ(surrogate.model.tensors.at("offset").bytes.size(), 6 * sizeof(float));
}

TEST(Shrink, WarnsOfNarrowWidths) {
  const Surrogate surrogate = shrunk(net("scaling 8"));
  ASSERT_EQ(surrogate.warnings.size(), 2U);
  EXPECT_NE(surrogate.warnings[0].find("`fc2.weight[0]` 48 -> 6"), std::string::npos);
  EXPECT_EQ(shrunk(net("scaling 4")).warnings.size(), 1U);
}

TEST(Shrink, SaysThatDropoutKeepsItsProbability) {
  EXPECT_NE(shrunk(net("scaling 4")).warnings.at(0).find("dropout"), std::string::npos);
  EXPECT_TRUE(shrunk(net("scaling 1")).warnings.empty());
}

TEST(Shrink, AClassAlreadyUnderTheMinimumStays) {
  Case made = net("scaling 3\nmin_width 50");
  made.options.saving = Saving::kAny;
  const Surrogate surrogate = shrunk(made);
  EXPECT_EQ(plan_of(surrogate, "fc1.weight").surrogate_shape,
            (std::vector<std::int64_t>{50, 32}));
  EXPECT_EQ(plan_of(surrogate, "fc2.weight").surrogate_shape,
            (std::vector<std::int64_t>{48, 50}));
}

TEST(Shrink, ATiedEntryFollowsItsHolder) {
  Case made = net("scaling 8");
  made.model.state.push_back(
      {.name = "alias", .shape = {64, 32}, .tie = "fc1.weight", .laws = {}});
  const Surrogate surrogate = shrunk(made);
  EXPECT_EQ(surrogate.model.find_state("alias")->shape, (std::vector<std::int64_t>{8, 32}));
  EXPECT_EQ(surrogate.parameters.size(), 5U);
}

TEST(Shrink, WhatTheOutputDoesNotUseKeepsItsShapeAndIsNotCounted) {
  Case made = net("scaling 8");
  const std::int64_t counted = shrunk(made).target_parameters;
  made.model.state.push_back(
      {.name = "unused.weight", .shape = {512, 512}, .tie = "", .laws = {}});
  const Surrogate surrogate = shrunk(made);
  EXPECT_EQ(surrogate.target_parameters, counted);
  EXPECT_EQ(plan_of(surrogate, "unused.weight").surrogate_shape,
            (std::vector<std::int64_t>{512, 512}));
  EXPECT_EQ(plan_of(surrogate, "unused.weight").role, Role::kNone);
}

TEST(Shrink, ShapesOfStateAndGraphMustAgree) {
  Case made = net("scaling 8");
  made.model.state.front().shape = {63, 32};
  const Result<Surrogate> refused = shrink(made.model, made.options);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().id, "H0307");
}

TEST(Rules, EveryOpHasOneRow) {
  std::set<std::string_view> ops;
  for (const RuleRow& row : rule_rows()) {
    EXPECT_TRUE(ops.insert(row.op).second) << row.op;
    EXPECT_NE(row.rule, nullptr) << row.op;
  }
}

TEST(Roles, HaveNamesThatReadBack) {
  for (const Role role : {Role::kInput,
                          Role::kHidden,
                          Role::kOutput,
                          Role::kVector,
                          Role::kOutputBias,
                          Role::kNone}) {
    EXPECT_EQ(find_role(role_name(role)), role);
  }
  EXPECT_FALSE(find_role("readout").has_value());
}

}  // namespace

}  // namespace hydro::shrink
