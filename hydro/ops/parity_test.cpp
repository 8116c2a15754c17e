// Every row of the table, K in {1, 2, 5}, both precisions: values and gradients against K
// separate plain calls.
#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "hydro/base/result.h"
#include "hydro/ir/testing.h"
#include "hydro/ops/executor.h"
#include "hydro/ops/ops.h"
#include "hydro/ops/table.h"
#include "hydro/ops/testing.h"
#include "hydro/ops/torch.h"

namespace hydro::ops {
namespace {

struct Setting {
  std::int64_t trials = 1;
  at::ScalarType dtype = at::kFloat;
  bool shared = true;  // activations: one tensor for all trials, or one a trial
};

bool per_trial(Role role, const Setting& setting) {
  switch (role) {
    case Role::kActivation:
    case Role::kIds:
      return !setting.shared;
    case Role::kState:
    case Role::kVariance:
    case Role::kShare:
    case Role::kCount:
      return true;
    case Role::kConstant:
    case Role::kMask:
    case Role::kIndex:
      break;
  }
  return false;
}

bool has_gradient(Role role) {
  return role == Role::kActivation || role == Role::kState;
}

bool is_integer(Role role) {
  return role == Role::kIds || role == Role::kIndex || role == Role::kCount;
}

std::string input_kind(Role role, const Setting& setting) {
  if (per_trial(role, setting)) {
    return has_gradient(role) ? "parameter " : "buffer ";
  }
  return role == Role::kActivation || role == Role::kIds ? "user " : "constant ";
}

std::string graph_text(const Case& test, const Setting& setting) {
  std::string text = "graph {\n";
  for (const Operand& operand : test.operands) {
    const std::string kind = input_kind(operand.role, setting);
    std::string shape;
    for (const std::int64_t size : operand.shape) {
      shape += (shape.empty() ? "" : ", ") + std::to_string(size);
    }
    text += "  input " + kind + operand.name + " %" + operand.name +
            (is_integer(operand.role) ? ": int64[" : ": float32[") + shape + "]\n";
  }
  text += test.body;
  for (const std::string& result : test.results) {
    text += "  output user " + result + " %" + result + "\n";
  }
  return text + "}\n";
}

at::Tensor make_feed(const Operand& operand, std::uint64_t key, const Setting& setting) {
  std::vector<std::int64_t> sizes = operand.shape;
  if (per_trial(operand.role, setting) && setting.trials > 1) {
    sizes.insert(sizes.begin(), setting.trials);
  }
  const at::Tensor drawn = normals(sizes, key);
  switch (operand.role) {
    case Role::kMask:
      return drawn > 0;
    case Role::kCount:
      return (drawn.abs() * 3).floor().to(at::kLong) + 1;
    case Role::kVariance:
      return (drawn.abs() + 0.5).to(setting.dtype);
    case Role::kShare:
      return at::sigmoid(drawn).to(setting.dtype);
    case Role::kIds:
    case Role::kIndex:
      return (drawn.abs() * 1000).floor().to(at::kLong).remainder(operand.limit);
    case Role::kActivation:
    case Role::kState:
    case Role::kConstant:
      break;
  }
  return drawn.to(setting.dtype).requires_grad_(has_gradient(operand.role));
}

/// A weighted sum that lets every element of every result differ in its gradient.
at::Tensor loss_of(const Tensors& results) {
  at::Tensor loss = at::zeros({}, at::kDouble);
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (results[i].requires_grad()) {
      const at::Tensor weights =
          normals(results[i].sizes().vec(), 1000 + i).to(results[i].scalar_type());
      loss = loss + (results[i] * weights).sum().to(at::kDouble);
    }
  }
  return loss;
}

struct Outcome {
  Tensors results;    // a trial's
  Tensors gradients;  // of its operands; undefined where there is none
};

std::uint64_t trial_key(std::int64_t trial) {
  return 77 + static_cast<std::uint64_t>(trial);
}

/// The operands of one trial as leaves of their own.
Tensors leaves_of(const Case& test,
                  const Tensors& feeds,
                  std::int64_t trial,
                  const Setting& setting) {
  Tensors leaves;
  for (std::size_t i = 0; i < feeds.size(); ++i) {
    const bool sliced = per_trial(test.operands[i].role, setting) && setting.trials > 1;
    const at::Tensor part = (sliced ? feeds[i].select(0, trial) : feeds[i]).detach().clone();
    leaves.push_back(part.requires_grad_(feeds[i].requires_grad()));
  }
  return leaves;
}

Outcome run_reference(const Case& test,
                      const Tensors& feeds,
                      std::int64_t trial,
                      const Setting& setting) {
  const Tensors leaves = leaves_of(test, feeds, trial, setting);
  Outcome outcome{.results = test.reference(leaves, trial_key(trial)), .gradients = {}};
  if (const at::Tensor loss = loss_of(outcome.results); loss.requires_grad()) {
    loss.backward();
  }
  for (const at::Tensor& leaf : leaves) {
    outcome.gradients.push_back(leaf.grad());
  }
  return outcome;
}

Tensors run_program(const Case& test, const Tensors& feeds, const Setting& setting) {
  const Result<Program> program =
      compile(ir::graph_of(graph_text(test, setting)), setting.trials);
  RandomStreams random{.keys = {}, .step = 9};
  for (std::int64_t trial = 0; trial < setting.trials; ++trial) {
    random.keys.push_back(trial_key(trial));
  }
  return run(*program, feeds, random);
}

/// The sum over trials of each trial's own loss, as training has it.
at::Tensor stacked_loss(const Tensors& results, std::int64_t trials) {
  at::Tensor loss = at::zeros({}, at::kDouble);
  for (std::int64_t trial = 0; trial < trials; ++trial) {
    Tensors own;
    for (const at::Tensor& result : results) {
      own.push_back(trials > 1 ? result.select(0, trial) : result);
    }
    loss = loss + loss_of(own);
  }
  return loss;
}

void expect_close(const at::Tensor& actual,
                  const at::Tensor& reference,
                  double tolerance,
                  const std::string& what) {
  ASSERT_EQ(actual.sizes(), reference.sizes()) << what;
  EXPECT_EQ(actual.scalar_type(), reference.scalar_type()) << what;
  EXPECT_LE(relative_error(actual, reference), tolerance) << what;
}

void expect_gradients(const Case& test,
                      const Tensors& feeds,
                      const std::vector<Outcome>& references,
                      const Setting& setting,
                      double tolerance) {
  for (std::size_t i = 0; i < feeds.size(); ++i) {
    if (!references[0].gradients[i].defined()) {
      EXPECT_FALSE(feeds[i].grad().defined() &&
                   feeds[i].grad().abs().max().item<double>() != 0);
      continue;
    }
    Tensors wanted;
    for (const Outcome& reference : references) {
      wanted.push_back(reference.gradients[i]);
    }
    const bool sliced = per_trial(test.operands[i].role, setting) && setting.trials > 1;
    const at::Tensor all = at::stack(wanted);
    expect_close(feeds[i].grad(),
                 sliced ? all : all.sum(0),
                 tolerance,
                 "gradient of " + test.operands[i].name);
  }
}

void check(const Case& test, const Tolerance& allowed, const Setting& setting) {
  const double tolerance =
      setting.dtype == at::kDouble ? allowed.double_precision : allowed.single_precision;
  Tensors feeds;
  for (std::size_t i = 0; i < test.operands.size(); ++i) {
    feeds.push_back(make_feed(test.operands[i], i + 1, setting));
  }
  std::vector<Outcome> references;
  for (std::int64_t trial = 0; trial < setting.trials; ++trial) {
    references.push_back(run_reference(test, feeds, trial, setting));
  }
  const Tensors results = run_program(test, feeds, setting);
  ASSERT_EQ(results.size(), references[0].results.size());
  for (std::size_t i = 0; i < results.size(); ++i) {
    for (std::int64_t trial = 0; trial < setting.trials; ++trial) {
      expect_close(setting.trials > 1 ? results[i].select(0, trial) : results[i],
                   references[static_cast<std::size_t>(trial)].results[i],
                   tolerance,
                   "result " + test.results[i] + " of trial " + std::to_string(trial));
    }
  }
  if (const at::Tensor loss = stacked_loss(results, setting.trials); loss.requires_grad()) {
    loss.backward();
    expect_gradients(test, feeds, references, setting, tolerance);
  }
}

std::vector<Case> cases_of(std::vector<Case> cases, std::string_view op) {
  std::erase_if(cases, [&](const Case& test) { return test.op != op; });
  return cases;
}

std::vector<Case> table_cases() {
  std::vector<Case> cases;
  for (const auto& family : {image_cases,
                             channel_cases,
                             value_cases,
                             pointwise_cases,
                             shape_cases,
                             random_cases,
                             token_cases,
                             attention_cases,
                             recurrent_cases}) {
    std::ranges::move(family(), std::back_inserter(cases));
  }
  return cases;
}

std::string test_name(const testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::ranges::replace_if(
      name, [](unsigned char letter) { return std::isalnum(letter) == 0; }, '_');
  return name;
}

std::vector<std::string> table_ops() {
  std::vector<std::string> ops;
  for (const Row& row : table()) {
    ops.emplace_back(row.op);
  }
  return ops;
}

std::vector<std::string> boxed_ops() {
  std::vector<std::string> ops;
  for (const Case& test : boxed_cases()) {
    ops.emplace_back(test.op);
  }
  std::ranges::sort(ops);
  ops.erase(std::ranges::unique(ops).begin(), ops.end());
  return ops;
}

void check_all(const std::vector<Case>& cases, const Tolerance& tolerance) {
  for (const Case& test : cases) {
    for (const std::int64_t trials : {1, 2, 5}) {
      for (const at::ScalarType dtype : {at::kFloat, at::kDouble}) {
        for (const bool shared : {true, false}) {
          SCOPED_TRACE(test.body + "K=" + std::to_string(trials) +
                       (dtype == at::kFloat ? " single" : " double") +
                       (shared ? ", shared input" : ", own inputs"));
          check(test, tolerance, {.trials = trials, .dtype = dtype, .shared = shared});
        }
      }
    }
  }
}

class Parity : public testing::TestWithParam<std::string> {
 protected:
  static void SetUpTestSuite() { at::set_num_threads(1); }
};

TEST_P(Parity, StackedTrialsEqualSeparatePlainCalls) {
  const std::vector<Case> cases = cases_of(table_cases(), GetParam());
  ASSERT_FALSE(cases.empty()) << "a row needs a case in one of the files *_cases_test.cpp";
  check_all(cases, find_row(GetParam())->tolerance);
}

INSTANTIATE_TEST_SUITE_P(Table, Parity, testing::ValuesIn(table_ops()), test_name);

class WithoutARow : public Parity {};

TEST_P(WithoutARow, StackedTrialsEqualSeparatePlainCalls) {
  EXPECT_EQ(find_row(GetParam()), nullptr);
  check_all(cases_of(boxed_cases(), GetParam()), {});
}

INSTANTIATE_TEST_SUITE_P(Torch, WithoutARow, testing::ValuesIn(boxed_ops()), test_name);

TEST(ParityCases, NameOnlyOpsOfTheTable) {
  for (const Case& test : table_cases()) {
    EXPECT_NE(find_row(test.op), nullptr) << test.op;
  }
}

}  // namespace
}  // namespace hydro::ops
