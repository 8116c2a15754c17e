// Nodes that are marked constant: computed once for each shape, shared by all trials.
#include <cstddef>
#include <string_view>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "hydro/ops/executor.h"
#include "hydro/ops/ops.h"
#include "hydro/ops/testing.h"
#include "hydro/ops/torch.h"

namespace hydro::ops {
namespace {

at::Tensor run_on(const Program& program, const Tensors& feeds) {
  RandomStreams random;
  random.keys.assign(static_cast<std::size_t>(program.trials), 1);
  return run(program, feeds, random)[0];
}

/// exp(c), as often as there are samples.
constexpr std::string_view kRows = R"(graph {
  input user x %x: float32[~4, 3]
  input constant c %c: float32[3]
  %n: int(4) = aten.sym_size.int(self=%x, dim=0) constant
  %e: float32[3] = aten.exp.default(self=%c) constant
  %r: float32[~4, 3] = aten.expand.default(self=%e, size=[%n, 3], implicit=False) constant
  output user r %r
}
)";

TEST(Constants, AreComputedOnceForEachShape) {
  const Program program = program_of(kRows, 1);
  const at::Tensor c = at::ones({3});
  const at::Tensor first = run_on(program, {at::ones({4, 3}), c});
  EXPECT_TRUE(run_on(program, {at::zeros({4, 3}), c}).is_same(first));
  const at::Tensor longer = run_on(program, {at::ones({6, 3}), c});
  EXPECT_EQ(longer.size(0), 6);
  EXPECT_TRUE(run_on(program, {at::ones({4, 3}), c}).is_same(first));
}

TEST(Constants, FollowTheTensorsTheyAreMadeOf) {
  const Program program = program_of(kRows, 1);
  const at::Tensor x = at::ones({4, 3});
  const at::Tensor ones = run_on(program, {x, at::ones({3})});
  const at::Tensor zeros = run_on(program, {x, at::zeros({3})});
  EXPECT_FALSE(at::equal(ones, zeros));
  EXPECT_TRUE(at::equal(zeros, at::ones({4, 3})));
}

TEST(Constants, HaveThePrecisionOfTheRun) {
  constexpr std::string_view kZeros = R"(graph {
  input user x %x: float32[~4, 3]
  %z: float32[2] = aten.zeros.default(size=[2], dtype=None) constant
  %w: float32[2] = aten.full.default(size=[2], fill_value=0.5, dtype=float32) constant
  %y: float32[2] = aten.add.Tensor(self=%z, other=%w, alpha=1)
  output user y %y
}
)";
  const Program program = program_of(kZeros, 1);
  EXPECT_EQ(run_on(program, {at::ones({4, 3})}).scalar_type(), at::kFloat);
  EXPECT_EQ(run_on(program, {at::ones({4, 3}, at::kDouble)}).scalar_type(), at::kDouble);
}

TEST(Constants, AreSharedByTrialsWhoseShapeTheyTake) {
  constexpr std::string_view kLike = R"(graph {
  input user x %x: float32[~4, 3]
  input parameter w %w: float32[2, 3]
  %h: float32[~4, 2] = aten.linear.default(input=%x, weight=%w, bias=None)
  %o: float32[~4, 2] = aten.ones_like.default(self=%h, dtype=None) constant
  %y: float32[~4, 2] = aten.add.Tensor(self=%h, other=%o, alpha=1)
  output user y %y
}
)";
  const Program program = program_of(kLike, 3);
  const at::Tensor x = normals({4, 3}, 1);
  const at::Tensor w = normals({3, 2, 3}, 2);
  for (int i = 0; i < 2; ++i) {
    const at::Tensor y = run_on(program, {x, w});
    EXPECT_TRUE(at::allclose(y, at::matmul(x, w.transpose(1, 2)) + 1));
  }
}

TEST(Constants, AreNeverWrittenOver) {
  constexpr std::string_view kSum = R"(graph {
  input user x %x: float32[3]
  input constant c %c: float32[3]
  %a: float32[3] = aten.add.Tensor(self=%c, other=1, alpha=1) constant
  %y: float32[3] = aten.add.Tensor(self=%a, other=%x, alpha=1)
  output user y %y
}
)";
  const Program program = program_of(kSum, 1);
  const Tensors feeds = {at::ones({3}), at::ones({3})};
  const at::Tensor first = run_on(program, feeds);
  EXPECT_TRUE(at::equal(first, at::full({3}, 3.0)));
  EXPECT_TRUE(at::equal(run_on(program, feeds), first));
}

TEST(Constants, ThreadsThatShareAProgramAgree) {
  const Program program = program_of(kRows, 1);
  const at::Tensor c = normals({3}, 1);
  std::vector<at::Tensor> results(4);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < results.size(); ++i) {
    threads.emplace_back([&, i] {
      for (int round = 0; round < 50; ++round) {
        results[i] = run_on(program, {at::ones({4 + round % 6, 3}), c});
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  for (const at::Tensor& result : results) {
    EXPECT_TRUE(at::equal(result, c.exp().expand_as(result)));
  }
}

}  // namespace
}  // namespace hydro::ops
