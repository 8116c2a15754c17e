// hydro/train/exact_weights.h — the weights of a single-precision network in double precision.
// What two small steps change of a weight is often under its rounding: behind a head that
// starts at zero, by orders of magnitude. One trial.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "hydro/ops/torch.h"
#include "hydro/optim/flat_layout.h"
#include "hydro/optim/optimizer.h"
#include "hydro/train/network.h"

namespace hydro::train {

class ExactWeights {
 public:
  explicit ExactWeights(const Network& network)
      : layout_(doubled(network.layout())), weights_(layout_.make_buffer()) {
    for (std::size_t i = 0; i < layout_.tensors().size(); ++i) {
      layout_.view(weights_, i).copy_(network.leaves()[i].detach());
    }
    start_ = weights_.clone();
  }

  [[nodiscard]] const optim::FlatLayout& layout() const { return layout_; }

  /// Updates these weights, and the network's as their rounding.
  void step(optim::Optimizer& optimizer,
            const std::vector<at::Tensor>& gradients,
            const optim::TrialStep& step,
            const Network& network) {
    const at::NoGradGuard no_gradient;
    std::vector<at::Tensor> exact;
    exact.reserve(gradients.size());
    for (std::size_t i = 0; i < gradients.size(); ++i) {
      exact.push_back(gradients[i].defined() ? layout_.match(gradients[i].to(at::kDouble), i)
                                             : at::Tensor());
    }
    optimizer.step(weights_, exact, {&step, 1});
    for (std::size_t i = 0; i < layout_.tensors().size(); ++i) {
      network.layout().view(network.weights(), i).copy_(layout_.view(weights_, i));
    }
  }

  /// W_t - W_0 in single precision.
  [[nodiscard]] at::Tensor change(std::size_t tensor) const {
    return (layout_.view(weights_, tensor) - layout_.view(start_, tensor)).to(at::kFloat);
  }

 private:
  static optim::FlatLayout doubled(const optim::FlatLayout& layout) {
    std::vector<std::vector<std::int64_t>> shapes;
    for (const optim::FlatTensor& tensor : layout.tensors()) {
      shapes.push_back(tensor.shape);
    }
    return {shapes, 1, at::kDouble};
  }

  optim::FlatLayout layout_;
  at::Tensor weights_;
  at::Tensor start_;
};

}  // namespace hydro::train
