// hydro/optim/optimizer.h — SGD, Adam and AdamW for all trials of a container, each with its
// own numbers.
//
//   Optimizer optimizer(layout, settings, factors);      // settings: one a trial; factors: one
//   a tensor optimizer.step(weights, gradients, steps);           // weights: the container's
//   flat buffer
//
// One trial's update never reads another's data, and every element is updated on its own: the
// result does not depend on K, on slots or on threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "hydro/ops/torch.h"
#include "hydro/optim/flat_layout.h"
#include "hydro/worker/settings.h"

namespace hydro::optim {

/// What a narrower width makes of the target's numbers, a tensor. Source: DESIGN
/// "Parametrization".
struct WidthFactors {
  double lr = 1;
  double decay = 1;
  double eps = 1;
};

/// What one trial's numbers are at this step.
struct TrialStep {
  double lr_factor = 1;       // the schedule's
  double gradient_scale = 1;  // the clipping's
  bool live = true;           // false: nothing of the trial is touched, nor its step counted
};

/// One running average of one tensor of one trial, as a view.
struct Average {
  std::string name;  // "velocity"; "mean", "square", "largest"
  std::size_t tensor = 0;
  at::Tensor value;
};

class Optimizer {
 public:
  /// Requires: one setting a trial, equal in kind, nesterov and amsgrad; one factor a tensor
  /// (BugError)
  Optimizer(FlatLayout layout,
            std::vector<worker::Optimizer> settings,
            std::vector<WidthFactors> factors);

  /// Updates `weights` in place. A tensor without a gradient (undefined) is left alone, as
  /// torch does.
  ///
  /// Requires: gradients lie as the layout does, see FlatLayout::match (BugError)
  void step(const at::Tensor& weights,
            std::span<const at::Tensor> gradients,
            std::span<const TrialStep> steps);

  // What the optimizer remembers of one trial; another optimizer that is given the same goes on
  // as this one would.

  /// Those that the trial's own settings use.
  [[nodiscard]] std::vector<Average> averages(std::int64_t trial) const;
  /// How often each tensor was updated.
  [[nodiscard]] std::vector<std::int64_t> updates(std::int64_t trial) const;
  /// Requires: one number a tensor (BugError)
  void set_updates(std::int64_t trial, std::span<const std::int64_t> updates);

 private:
  /// Where this step's data lie, and how far each trial has come.
  struct Scene {
    void* weights = nullptr;
    std::vector<const void*> gradients;  // null: none
    std::span<const TrialStep> steps;
  };

  void count_updates(const Scene& scene);
  template <class Real>
  void run_piece(const Piece& piece, const Scene& scene) const;
  template <class Real>
  void run_sgd(const Piece& piece, const Scene& scene) const;
  template <class Real>
  void run_adam(const Piece& piece, const Scene& scene) const;
  [[nodiscard]] std::int64_t updates(const Piece& piece) const;

  FlatLayout layout_;
  std::vector<worker::Optimizer> settings_;
  std::vector<WidthFactors> factors_;
  std::vector<Piece> pieces_;
  std::vector<std::int64_t> updates_;  // done so far, [tensor][trial]
  at::Tensor first_;    // SGD: velocity; Adam: mean. Undefined when no trial needs it
  at::Tensor second_;   // Adam: mean of squares
  at::Tensor largest_;  // AMSGrad
};

}  // namespace hydro::optim
