#include "hydro/ops/executor.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hydro/base/result.h"
#include "hydro/ir/graph.h"
#include "hydro/ir/testing.h"
#include "hydro/ops/ops.h"
#include "hydro/ops/testing.h"
#include "hydro/ops/torch.h"

namespace hydro::ops {
namespace {

/// All regions and their borders: shared input, channels, a per-trial scale, batch norm,
/// dropout, linear.
constexpr std::string_view kNet = R"(graph {
  input user x %x: float32[~5, 3, 8, 8]
  input parameter conv1.weight %w1: float32[4, 3, 3, 3]
  input parameter bn1.weight %g: float32[4]
  input parameter bn1.bias %b: float32[4]
  input buffer bn1.running_mean %m: float32[4]
  input buffer bn1.running_var %v: float32[4]
  input parameter conv2.weight %w2: float32[4, 4, 3, 3]
  input parameter scale %s: float32[4, 1, 1]
  input parameter fc1.weight %f1: float32[6, 64]
  input parameter fc2.weight %f2: float32[10, 6]
  input parameter fc2.bias %fb: float32[10]
  %c1: float32[~5, 4, 8, 8] = aten.conv2d.default(input=%x, weight=%w1, bias=None, stride=[1, 1], padding=[1, 1], dilation=[1, 1], groups=1)
  %y: float32[~5, 4, 8, 8], %m1: float32[4], %v1: float32[4] = hydro.batch_norm(input=%c1, weight=%g, bias=%b, running_mean=%m, running_var=%v, training=True, momentum=0.1, eps=1e-05)
  %r: float32[~5, 4, 8, 8] = aten.relu.default(self=%y)
  %c2: float32[~5, 4, 8, 8] = aten.conv2d.default(input=%r, weight=%w2, bias=None, stride=[1, 1], padding=[1, 1], dilation=[1, 1], groups=1)
  %a: float32[~5, 4, 8, 8] = aten.add.Tensor(self=%c2, other=%r, alpha=1)
  %z: float32[~5, 4, 8, 8] = aten.mul.Tensor(self=%a, other=%s)
  %p: float32[~5, 4, 4, 4] = aten.max_pool2d.default(self=%z, kernel_size=[2, 2], stride=[2, 2], padding=[0, 0], dilation=[1, 1], ceil_mode=False)
  %f: float32[~5, 64] = aten.flatten.using_ints(self=%p, start_dim=1, end_dim=-1)
  %h: float32[~5, 6] = aten.linear.default(input=%f, weight=%f1, bias=None)
  %d: float32[~5, 6] = aten.dropout.default(input=%h, p=0.5, train=True)
  %o: float32[~5, 10] = aten.linear.default(input=%d, weight=%f2, bias=%fb)
  output user logits %o
  output buffer bn1.running_mean %m1
  output buffer bn1.running_var %v1
}
)";

std::vector<std::int64_t> sizes_of(const ir::TensorType& type) {
  std::vector<std::int64_t> sizes;
  for (const ir::Dim& dim : type.shape) {
    sizes.push_back(dim.size);
  }
  return sizes;
}

/// The feeds of one trial in double precision; its state is drawn from `seed`, its data are
/// everyone's.
Tensors solo_feeds(const ir::Graph& graph, std::uint64_t seed) {
  Tensors feeds;
  for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
    const ir::Input& input = graph.inputs[i];
    const std::uint64_t key = input.kind == ir::InputKind::kUser ? 1 : 100 * seed + i;
    const at::Tensor drawn = normals(sizes_of(graph.value(input.value).tensor()), key);
    const bool buffer = input.kind == ir::InputKind::kBuffer;
    feeds.push_back(buffer ? drawn.abs() + 0.5 : drawn);
    feeds.back().requires_grad_(input.kind == ir::InputKind::kParameter);
  }
  return feeds;
}

Tensors stacked_feeds(const ir::Graph& graph, const std::vector<std::uint64_t>& seeds) {
  std::vector<Tensors> solo;
  for (const std::uint64_t seed : seeds) {
    solo.push_back(solo_feeds(graph, seed));
  }
  Tensors feeds;
  for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
    Tensors parts;
    for (const Tensors& one : solo) {
      parts.push_back(one[i].detach());
    }
    const bool shared = graph.inputs[i].kind == ir::InputKind::kUser || seeds.size() == 1;
    feeds.push_back(shared ? parts[0] : at::stack(parts));
    feeds.back().requires_grad_(graph.inputs[i].kind == ir::InputKind::kParameter);
  }
  return feeds;
}

RandomStreams streams_of(const std::vector<std::uint64_t>& seeds) {
  RandomStreams random{.keys = {}, .step = 3};
  for (const std::uint64_t seed : seeds) {
    random.keys.push_back(seed * 7919);
  }
  return random;
}

struct Ran {
  Tensors results;
  Tensors gradients;  // of the parameters
};

Ran train_on(const Program& program,
             const Tensors& feeds,
             const std::vector<std::uint64_t>& seeds) {
  Ran ran{.results = run(program, feeds, streams_of(seeds)), .gradients = {}};
  ran.results[0].square().sum().backward();
  for (const at::Tensor& feed : feeds) {
    if (feed.requires_grad()) {
      ran.gradients.push_back(feed.grad());
    }
  }
  return ran;
}

Ran train_once(const std::vector<std::uint64_t>& seeds) {
  const Program program = program_of(kNet, static_cast<std::int64_t>(seeds.size()));
  return train_on(program, stacked_feeds(program.graph, seeds), seeds);
}

TEST(Executor, ThreeTrialsInOneGraphEqualThreeGraphs) {
  const Ran all = train_once({1, 2, 3});
  for (std::int64_t trial = 0; trial < 3; ++trial) {
    const Ran solo = train_once({static_cast<std::uint64_t>(trial + 1)});
    for (std::size_t i = 0; i < solo.results.size(); ++i) {
      EXPECT_LE(relative_error(all.results[i].select(0, trial), solo.results[i]), 1e-10)
          << "result " << i;
    }
    for (std::size_t i = 0; i < solo.gradients.size(); ++i) {
      EXPECT_LE(relative_error(all.gradients[i].select(0, trial), solo.gradients[i]), 1e-10)
          << "gradient " << i;
    }
  }
}

/// Three trials; the middle one's first convolution is filled with `weight` when there is one.
Ran train_three(at::ScalarType dtype, std::optional<double> weight) {
  const Program program = program_of(kNet, 3);
  Tensors feeds;
  for (const at::Tensor& feed : stacked_feeds(program.graph, {1, 2, 3})) {
    feeds.push_back(feed.detach().to(dtype));
  }
  if (weight) {
    feeds[1].select(0, 1).fill_(*weight);
  }
  for (std::size_t i = 0; i < feeds.size(); ++i) {
    feeds[i].requires_grad_(program.graph.inputs[i].kind == ir::InputKind::kParameter);
  }
  return train_on(program, feeds, {1, 2, 3});
}

void expect_equal_trial(const Tensors& actual, const Tensors& wanted, std::int64_t trial) {
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    EXPECT_TRUE(at::equal(actual[i].select(0, trial), wanted[i].select(0, trial))) << i;
  }
}

TEST(Executor, ATrialWithNanLeavesItsSiblingsBitIdentical) {
  for (const at::ScalarType dtype : {at::kFloat, at::kDouble}) {
    const Ran clean = train_three(dtype, std::nullopt);
    const Ran spoiled = train_three(dtype, std::numeric_limits<double>::quiet_NaN());
    EXPECT_TRUE(spoiled.results[0].select(0, 1).isnan().any().item<bool>());
    for (const std::int64_t sibling : {0, 2}) {
      expect_equal_trial(spoiled.results, clean.results, sibling);
      expect_equal_trial(spoiled.gradients, clean.gradients, sibling);
    }
  }
}

constexpr std::string_view kDropout = R"(graph {
  input user x %x: float32[~33, 5]
  %y: float32[~33, 5] = aten.dropout.default(input=%x, p=0.5, train=True) @12
  output user y %y
}
)";

at::Tensor dropped(const std::vector<std::uint64_t>& seeds) {
  const Program program = program_of(kDropout, static_cast<std::int64_t>(seeds.size()));
  return run(program, Tensors{at::ones({33, 5})}, streams_of(seeds))[0];
}

TEST(Executor, ATrialsDropoutMaskIsTheSameInEverySlotAndContainer) {
  const at::Tensor solo = dropped({4});
  EXPECT_TRUE(at::equal(dropped({4, 5, 6})[0], solo));
  EXPECT_TRUE(at::equal(dropped({5, 6, 7, 8, 4})[4], solo));
  EXPECT_FALSE(at::equal(dropped({5}), solo));
}

TEST(Executor, DropoutCountsElementsInRowMajorOrderWhateverTheLayout) {
  constexpr std::string_view kImage = R"(graph {
  input user x %x: float32[~2, 3, 4, 4]
  %y: float32[~2, 3, 4, 4] = aten.dropout.default(input=%x, p=0.5, train=True)
  output user y %y
}
)";
  const Program program = program_of(kImage, 1);
  const at::Tensor x = at::ones({2, 3, 4, 4});
  const at::Tensor last = x.contiguous(at::MemoryFormat::ChannelsLast);
  EXPECT_TRUE(at::equal(run(program, Tensors{last}, streams_of({1}))[0],
                        run(program, Tensors{x}, streams_of({1}))[0]));
}

TEST(Executor, ValuesDieOnceAfterTheirLastReader) {
  const Program program = program_of(kNet, 2);
  std::set<std::int32_t> dead;
  for (const Step& step : program.steps) {
    for (const ir::ValueId operand : ir::operands(program.graph.node(step.node))) {
      EXPECT_FALSE(dead.contains(static_cast<std::int32_t>(operand))) << "read after death";
    }
    for (const ir::ValueId value : step.dead) {
      EXPECT_TRUE(dead.insert(static_cast<std::int32_t>(value)).second);
    }
  }
  EXPECT_EQ(dead.size(), program.graph.values().size() - program.graph.outputs.size());
}

TEST(Executor, MemoryIsReusedOnlyWhereNobodyElseReadsIt) {
  const Program program = program_of(kNet, 1);
  std::vector<std::string> reusing;
  for (const Step& step : program.steps) {
    if (step.reuse) {
      reusing.push_back(program.graph.node(step.node).op);
    }
  }
  EXPECT_THAT(reusing, testing::ElementsAre("aten.relu.default", "aten.add.Tensor"));
}

TEST(Executor, FeedsAreNeverOverwritten) {
  const Program program = program_of(kNet, 1);
  const Tensors feeds = solo_feeds(program.graph, 1);
  Tensors before;
  for (const at::Tensor& feed : feeds) {
    before.push_back(feed.detach().clone());
  }
  static_cast<void>(run(program, feeds, streams_of({1})));
  for (std::size_t i = 0; i < feeds.size(); ++i) {
    EXPECT_TRUE(at::equal(feeds[i], before[i])) << program.graph.inputs[i].name;
  }
}

TEST(Executor, ChannelsLastImagesStayChannelsLast) {
  const Program program = program_of(kNet, 1);
  Tensors feeds = solo_feeds(program.graph, 1);
  feeds[0] = feeds[0].to(at::kFloat).contiguous(at::MemoryFormat::ChannelsLast);
  for (std::size_t i = 1; i < feeds.size(); ++i) {
    feeds[i] = feeds[i].detach().to(at::kFloat);
  }
  int images = 0;
  static_cast<void>(
      run(program, feeds, streams_of({1}), [&](const ir::Node& node, const Frame& frame) {
        const at::Tensor& result = frame.tensor(node.outputs[0]);
        if (result.dim() == 4) {
          ++images;
          EXPECT_TRUE(result.is_contiguous(at::MemoryFormat::ChannelsLast)) << node.op;
        }
      }));
  EXPECT_EQ(images, 7);
}

TEST(Executor, NextBuffersCarryNoGradient) {
  const Ran ran = train_once({1, 2});
  EXPECT_TRUE(ran.results[0].requires_grad());
  EXPECT_FALSE(ran.results[1].requires_grad());
}

TEST(Executor, ResultsThatTrialsShareAreDeliveredToEachOfThem) {
  const Program program = program_of(
      "graph {\n  input user x %x: float32[2]\n  %y: float32[2] = aten.relu.default(self=%x)\n "
      " output user y %y\n}\n",
      3);
  EXPECT_EQ(run(program, Tensors{at::ones({2})}, streams_of({1, 2, 3}))[0].sizes().vec(),
            (std::vector<std::int64_t>{3, 2}));
}

/// compile() of a graph whose one node is `node`.
Result<Program> compiled(const std::string& node) {
  return compile(ir::graph_of("graph {\n  input user x %x: float32[2]\n  %y: float32[2] = " +
                              node + "  # net.py:7\n  output user y %y\n}\n"),
                 1);
}

TEST(Executor, AnOpThatTorchDoesNotHaveIsRefusedWithTheUsersLine) {
  const Result<Program> program = compiled("extension.frobnicate.default(self=%x)");
  ASSERT_FALSE(program.has_value());
  EXPECT_EQ(program.error().id, "H0330");
  EXPECT_THAT(program.error().what, testing::HasSubstr("extension.frobnicate.default"));
  EXPECT_EQ(program.error().where, "net.py:7");
}

TEST(Executor, AnOpThatDrawsFromTorchsGeneratorIsRefused) {
  const Result<Program> program = compiled("aten.poisson.default(self=%x)");
  ASSERT_FALSE(program.has_value());
  EXPECT_EQ(program.error().id, "H0332");
  EXPECT_THAT(program.error().what, testing::HasSubstr("aten.poisson.default"));
  EXPECT_EQ(program.error().where, "net.py:7");
}

TEST(Executor, ARandomOpThatIsSwitchedOffRunsAsTorchDoes) {
  const auto graph = [](const std::string& p) {
    return ir::graph_of(
        "graph {\n  input user x %x: float32[2, 3, 4]\n  %y: float32[2, 3, 4], %w: float32[2, "
        "3, 3] = aten._scaled_dot_product_attention_math.default(query=%x, key=%x, value=%x, "
        "attn_mask=None, dropout_p=" +
        p + ", is_causal=False)\n  output user y %y\n}\n");
  };
  EXPECT_FALSE(compile(graph("0.5"), 1).has_value());
  const Result<Program> program = compile(graph("0.0"), 1);
  ASSERT_TRUE(program.has_value());
  const at::Tensor x = normals({2, 3, 4}, 1);
  EXPECT_TRUE(at::allclose(run(*program, Tensors{x}, streams_of({1}))[0],
                           at::scaled_dot_product_attention(x, x, x)));
}

TEST(Executor, WhereVmapFailsTrialsRunOneByOneFromThenOn) {
  const Program program = program_of(
      "graph {\n  input parameter w %w: float32[3, 2]\n  %i: int64[6, 2] = "
      "aten.nonzero.default(self=%w)\n  output user i %i\n}\n",
      2);
  EXPECT_FALSE(program.cache->loops(0));
  for (int i = 0; i < 2; ++i) {
    const at::Tensor indices =
        run(program, Tensors{at::ones({2, 3, 2})}, streams_of({1, 2}))[0];
    EXPECT_EQ(indices.sizes().vec(), (std::vector<std::int64_t>{2, 6, 2}));
    EXPECT_TRUE(program.cache->loops(0));
  }
}

TEST(Executor, ShapesThatWerePredictedRightPassTheCheck) {
  for (const std::vector<std::uint64_t>& seeds : {std::vector<std::uint64_t>{1}, {1, 2, 3}}) {
    const Program program = program_of(kNet, static_cast<std::int64_t>(seeds.size()));
    const Result<void> checked =
        check_shapes(program, stacked_feeds(program.graph, seeds), streams_of(seeds));
    EXPECT_TRUE(checked.has_value());
  }
}

TEST(Executor, AWrongPredictionIsNamedWithBothShapes) {
  std::string wrong(kNet);
  wrong.replace(wrong.find("%f: float32[~5, 64]"), 19, "%f: float32[~5, 63]");
  const Program program = program_of(wrong, 2);
  const Result<void> checked =
      check_shapes(program, stacked_feeds(program.graph, {1, 2}), streams_of({1, 2}));
  ASSERT_FALSE(checked.has_value());
  EXPECT_EQ(checked.error().id, "H0331");
  EXPECT_THAT(checked.error().what,
              testing::AllOf(testing::HasSubstr("[5, 64]"), testing::HasSubstr("[5, 63]")));
  EXPECT_THAT(checked.error().where, testing::HasSubstr("aten.flatten.using_ints"));
}

}  // namespace
}  // namespace hydro::ops
