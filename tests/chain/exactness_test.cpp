// Shrinking a model and building the same family natively at the small width must be the same:
// parameter shapes, and with the same weights bit-identical outputs through the same executor,
// close to plain PyTorch's.
#include <algorithm>
#include <string>
#include <tuple>

#include <gtest/gtest.h>

#include "tests/chain/chain.h"

namespace hydro::chain {
namespace {

constexpr shrink::Parametrization kStandard = shrink::Parametrization::kStandard;

class Exactness : public ::testing::TestWithParam<std::tuple<std::string, int>> {
 protected:
  void SetUp() override {
    const auto& [family, scaling] = GetParam();
    const std::string small = family + "-" + std::to_string(scaling);
    const shrink::Options options = {.scaling = static_cast<double>(scaling),
                                     .min_width = 1,
                                     .parametrization = kStandard,
                                     .roles = {}};
    shrunk_ = shrunk(archive_of(family + "-1").model, options);
    shrink::Options native = options;
    native.scaling = 1;
    native_ = shrunk(archive_of(small).model, native);
    tensors_ = tensors_of(small);
  }

  shrink::Surrogate shrunk_;
  shrink::Surrogate native_;
  NamedTensors tensors_;
};

TEST_P(Exactness, ShrunkParametersHaveTheNativeShapes) {
  for (const ir::StateEntry& entry : shrunk_.model.state) {
    if (entry.kind != ir::StateKind::kNonPersistent) {
      EXPECT_EQ(entry.shape, tensors_.at("state/" + entry.name).sizes().vec()) << entry.name;
    }
  }
  EXPECT_EQ(shrunk_.model.state.size(), native_.model.state.size());
}

TEST_P(Exactness, ShrunkAndNativeOutputsAreBitIdentical) {
  for (const at::ScalarType dtype : {at::kFloat, at::kDouble}) {
    EXPECT_TRUE(at::equal(run_graph(shrunk_.model, shrunk_.model.train, tensors_, dtype),
                          run_graph(native_.model, native_.model.train, tensors_, dtype)));
    EXPECT_TRUE(at::equal(run_graph(shrunk_.model, shrunk_.model.eval, tensors_, dtype),
                          run_graph(native_.model, native_.model.eval, tensors_, dtype)));
  }
}

void expect_close(const at::Tensor& got, const at::Tensor& wanted, double tolerance) {
  const double largest = wanted.abs().max().item<double>();
  EXPECT_LE((got - wanted).abs().max().item<double>(), tolerance * largest);
}

TEST_P(Exactness, OutputsAreThoseOfPlainPyTorch) {
  expect_close(run_graph(shrunk_.model, shrunk_.model.train, tensors_, at::kFloat),
               tensors_.at("train32"),
               1e-3);
  expect_close(run_graph(shrunk_.model, shrunk_.model.eval, tensors_, at::kFloat),
               tensors_.at("eval32"),
               1e-3);
  expect_close(run_graph(shrunk_.model, shrunk_.model.train, tensors_, at::kDouble),
               tensors_.at("train64"),
               1e-9);
  expect_close(run_graph(shrunk_.model, shrunk_.model.eval, tensors_, at::kDouble),
               tensors_.at("eval64"),
               1e-9);
}

INSTANTIATE_TEST_SUITE_P(Networks,
                         Exactness,
                         ::testing::Combine(::testing::ValuesIn(networks()),
                                            ::testing::Values(4)),
                         [](const auto& row) { return std::get<0>(row.param); });

INSTANTIATE_TEST_SUITE_P(
    Families,
    Exactness,
    ::testing::Combine(
        ::testing::Values(
            "mlp", "resnet18", "wide_bottleneck", "resnext", "vgg", "vgg_bn", "depthwise"),
        ::testing::Values(2, 4, 8)),
    [](const auto& row) {
      return std::get<0>(row.param) + "By" + std::to_string(std::get<1>(row.param));
    });

}  // namespace
}  // namespace hydro::chain
