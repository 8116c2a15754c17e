// A weight that is embedding and head at once, in a surrogate: its gradient is the slope of the
// loss, on rows that the embedding reads and on rows that only the head does.
#include <algorithm>
#include <cstddef>
#include <string>

#include <gtest/gtest.h>

#include "hydro/shrink/surrogate.h"
#include "hydro/train/network.h"

#include "tests/chain/chain.h"
#include "tests/chain/made_up.h"

namespace hydro::chain {
namespace {

struct Tied {
  const char* network;
  const char* weight;
};

class TiedEmbedding : public ::testing::TestWithParam<Tied> {
 protected:
  TiedEmbedding()
      : narrow(
            shrunk(archive_of(std::string(GetParam().network) + "-1").model, {.scaling = 4})),
        inputs(inputs_of(narrow.model.train, at::kDouble)),
        network(train::Network::make(narrow,
                                     {.study_seed = 7, .owners = {"0"}, .dtype = at::kDouble})
                    .value()),
        place(static_cast<std::size_t>(std::ranges::find(network.names(), GetParam().weight) -
                                       network.names().begin())) {}

  /// Weighs every score differently.
  at::Tensor loss() {
    const at::Tensor output = network.train(inputs, /*step=*/0).output;
    return (output * at::sin(at::arange(output.numel(), at::kDouble) * .9).view_as(output))
        .sum();
  }

  /// Of the loss along `direction`, measured.
  double slope(const at::Tensor& direction) {
    constexpr double kStep = 1e-5;
    const at::NoGradGuard no_gradients;
    at::Tensor weight = network.layout().view(network.weights(), place, 0);
    weight.add_(direction, kStep);
    const double above = loss().item<double>();
    weight.sub_(direction, 2 * kStep);
    const double below = loss().item<double>();
    weight.add_(direction, kStep);
    return (above - below) / (2 * kStep);
  }

  shrink::Surrogate narrow;
  train::NamedTensors inputs;
  train::Network network;
  std::size_t place;
};

TEST_P(TiedEmbedding, TakesItsGradientFromBothUses) {
  const at::Tensor gradient = train::gradients_of(loss(), network).at(place);
  at::Tensor is_read = at::zeros({gradient.size(0), 1}, at::kDouble);
  is_read.index_fill_(0, inputs.front().second.flatten(), 1);
  const at::Tensor waves =
      at::cos(at::arange(gradient.numel(), at::kDouble) * .7).view_as(gradient);
  for (const at::Tensor& rows : {is_read, 1 - is_read}) {
    ASSERT_GT(rows.sum().item<double>(), 0);
    const at::Tensor direction = rows * waves;
    const double wanted = slope(direction);
    EXPECT_NEAR((gradient * direction).sum().item<double>() / wanted, 1, 1e-6);
  }
}

INSTANTIATE_TEST_SUITE_P(Networks,
                         TiedEmbedding,
                         ::testing::Values(Tied{"gpt2", "transformer.wte.weight"},
                                           Tied{"lstm_tied", "embedding.weight"}),
                         [](const auto& row) { return std::string(row.param.network); });

}  // namespace
}  // namespace hydro::chain
