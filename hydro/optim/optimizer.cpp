#include "hydro/optim/optimizer.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/kernels/optimizer_step.h"
#include "hydro/optim/flat_layout.h"
#include "hydro/optim/parallel.h"
#include "hydro/worker/settings.h"

namespace hydro::optim {
namespace {

// Small enough that two threads share a ResNet evenly, large enough that a piece outweighs its
// dispatch.
constexpr std::int64_t kPiece = 65536;

bool agree(const worker::Optimizer& a, const worker::Optimizer& b) {
  return a.kind == b.kind && a.nesterov == b.nesterov && a.amsgrad == b.amsgrad;
}

template <class Real>
std::span<Real> range(void* flat, const FlatLayout& layout, const Piece& piece) {
  const FlatTensor& place = layout.tensors()[piece.tensor];
  return {static_cast<Real*>(flat) + place.offset + (piece.trial * place.size) + piece.begin,
          static_cast<std::size_t>(piece.size)};
}

template <class Real>
std::span<Real> range(const at::Tensor& flat, const FlatLayout& layout, const Piece& piece) {
  return range<Real>(flat.data_ptr(), layout, piece);
}

/// A gradient stands alone, not in a flat buffer.
template <class Real>
std::span<const Real> gradient_range(const void* gradient,
                                     const FlatLayout& layout,
                                     const Piece& piece) {
  return {static_cast<const Real*>(gradient) +
              (piece.trial * layout.tensors()[piece.tensor].size) + piece.begin,
          static_cast<std::size_t>(piece.size)};
}

}  // namespace

Optimizer::Optimizer(FlatLayout layout,
                     std::vector<worker::Optimizer> settings,
                     std::vector<WidthFactors> factors)
    : layout_(std::move(layout)),
      settings_(std::move(settings)),
      factors_(std::move(factors)),
      pieces_(cut(layout_, kPiece)),
      updates_(layout_.tensors().size() * settings_.size()) {
  HYDRO_CHECK(std::cmp_equal(settings_.size(), layout_.trials()));
  HYDRO_CHECK(factors_.size() == layout_.tensors().size());
  const auto same = [&](const auto& other) { return agree(settings_.front(), other); };
  HYDRO_CHECK(std::ranges::all_of(settings_, same),
              "trials of unlike optimizers share a container");
  const bool is_sgd = settings_.front().kind == worker::OptimizerKind::kSgd;
  const auto has_momentum = [](const worker::Optimizer& one) { return one.momentum != 0; };
  if (!is_sgd || std::ranges::any_of(settings_, has_momentum)) {
    first_ = layout_.make_buffer();
  }
  if (!is_sgd) {
    second_ = layout_.make_buffer();
    largest_ = settings_.front().amsgrad ? layout_.make_buffer() : at::Tensor();
  }
}

void Optimizer::step(const at::Tensor& weights,
                     std::span<const at::Tensor> gradients,
                     std::span<const TrialStep> steps) {
  HYDRO_CHECK(gradients.size() == layout_.tensors().size() && steps.size() == settings_.size());
  Scene scene{.weights = weights.data_ptr(), .gradients = {}, .steps = steps};
  for (const at::Tensor& gradient : gradients) {
    scene.gradients.push_back(gradient.defined() ? gradient.const_data_ptr() : nullptr);
  }
  count_updates(scene);
  const bool is_double = layout_.dtype() == at::kDouble;
  for_each_piece(static_cast<std::int64_t>(pieces_.size()), [&](std::int64_t i) {
    const Piece& piece = pieces_[static_cast<std::size_t>(i)];
    is_double ? run_piece<double>(piece, scene) : run_piece<float>(piece, scene);
  });
}

void Optimizer::count_updates(const Scene& scene) {
  for (std::size_t tensor = 0; tensor < scene.gradients.size(); ++tensor) {
    for (std::size_t trial = 0; trial < scene.steps.size(); ++trial) {
      const bool moves = scene.gradients[tensor] != nullptr && scene.steps[trial].live;
      updates_[(tensor * settings_.size()) + trial] += moves ? 1 : 0;
    }
  }
}

std::vector<Average> Optimizer::averages(std::int64_t trial) const {
  const worker::Optimizer& own = settings_.at(static_cast<std::size_t>(trial));
  const bool is_sgd = own.kind == worker::OptimizerKind::kSgd;
  std::vector<std::pair<std::string, at::Tensor>> buffers;
  if (!is_sgd || own.momentum != 0) {
    buffers.emplace_back(is_sgd ? "velocity" : "mean", first_);
  }
  if (!is_sgd) {
    buffers.emplace_back("square", second_);
  }
  if (largest_.defined()) {
    buffers.emplace_back("largest", largest_);
  }
  std::vector<Average> found;
  for (const auto& [name, flat] : buffers) {
    for (std::size_t tensor = 0; tensor < layout_.tensors().size(); ++tensor) {
      found.push_back(
          {.name = name, .tensor = tensor, .value = layout_.view(flat, tensor, trial)});
    }
  }
  return found;
}

std::vector<std::int64_t> Optimizer::updates(std::int64_t trial) const {
  std::vector<std::int64_t> found;
  for (std::size_t tensor = 0; tensor < layout_.tensors().size(); ++tensor) {
    found.push_back(updates_[(tensor * settings_.size()) + static_cast<std::size_t>(trial)]);
  }
  return found;
}

void Optimizer::set_updates(std::int64_t trial, std::span<const std::int64_t> updates) {
  HYDRO_CHECK(updates.size() == layout_.tensors().size() && trial < layout_.trials());
  for (std::size_t tensor = 0; tensor < updates.size(); ++tensor) {
    updates_[(tensor * settings_.size()) + static_cast<std::size_t>(trial)] = updates[tensor];
  }
}

std::int64_t Optimizer::updates(const Piece& piece) const {
  return updates_[(piece.tensor * settings_.size()) + static_cast<std::size_t>(piece.trial)];
}

template <class Real>
void Optimizer::run_piece(const Piece& piece, const Scene& scene) const {
  const bool is_live = scene.steps[static_cast<std::size_t>(piece.trial)].live;
  if (!is_live || scene.gradients[piece.tensor] == nullptr) {
    return;
  }
  if (settings_.front().kind == worker::OptimizerKind::kSgd) {
    run_sgd<Real>(piece, scene);
  } else {
    run_adam<Real>(piece, scene);
  }
}

template <class Real>
void Optimizer::run_sgd(const Piece& piece, const Scene& scene) const {
  const worker::Optimizer& trial = settings_[static_cast<std::size_t>(piece.trial)];
  const TrialStep& step = scene.steps[static_cast<std::size_t>(piece.trial)];
  const WidthFactors& factors = factors_[piece.tensor];
  const kernels::SgdNumbers numbers{.lr = trial.lr * step.lr_factor * factors.lr,
                                    .momentum = trial.momentum,
                                    .dampening = trial.dampening,
                                    .weight_decay = trial.weight_decay * factors.decay,
                                    .gradient_scale = step.gradient_scale,
                                    .nesterov = trial.nesterov,
                                    .first_step = updates(piece) == 1};
  kernels::SgdRange<Real> data{
      .weight = range<Real>(scene.weights, layout_, piece),
      .gradient = gradient_range<Real>(scene.gradients[piece.tensor], layout_, piece),
      .velocity = {}};
  if (trial.momentum != 0) {
    data.velocity = range<Real>(first_, layout_, piece);
  }
  kernels::sgd_step(numbers, data);
}

template <class Real>
void Optimizer::run_adam(const Piece& piece, const Scene& scene) const {
  const worker::Optimizer& trial = settings_[static_cast<std::size_t>(piece.trial)];
  const TrialStep& step = scene.steps[static_cast<std::size_t>(piece.trial)];
  const WidthFactors& factors = factors_[piece.tensor];
  const kernels::AdamNumbers numbers{.lr = trial.lr * step.lr_factor * factors.lr,
                                     .beta1 = trial.beta1,
                                     .beta2 = trial.beta2,
                                     .eps = trial.eps * factors.eps,
                                     .weight_decay = trial.weight_decay * factors.decay,
                                     .gradient_scale = step.gradient_scale,
                                     .step = updates(piece),
                                     .decoupled = trial.kind == worker::OptimizerKind::kAdamW};
  kernels::AdamRange<Real> data{
      .weight = range<Real>(scene.weights, layout_, piece),
      .gradient = gradient_range<Real>(scene.gradients[piece.tensor], layout_, piece),
      .mean = range<Real>(first_, layout_, piece),
      .square = range<Real>(second_, layout_, piece),
      .largest = {}};
  if (largest_.defined()) {
    data.largest = range<Real>(largest_, layout_, piece);
  }
  kernels::adam_step(numbers, data);
}

}  // namespace hydro::optim
