// hydro/kernels/optimizer_step.h — one optimizer step of one trial over one contiguous range,
// in a single pass. Every element is updated on its own: cutting a range in pieces changes no
// bit. Thread-safety: pure on disjoint ranges.   Source: torch.optim.SGD, Adam, AdamW (2.11),
// same order of rounding.
#pragma once

#include <cstdint>
#include <span>

namespace hydro::kernels {

struct SgdNumbers {
  double lr = 0;
  double momentum = 0;
  double dampening = 0;
  double weight_decay = 0;    // L2
  double gradient_scale = 1;  // from clipping
  bool nesterov = false;
  bool first_step = false;  // the momentum buffer starts as the gradient, undamped
};

struct AdamNumbers {
  double lr = 0;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
  double weight_decay = 0;
  double gradient_scale = 1;
  std::int64_t step = 1;   // 1 at the first update
  bool decoupled = false;  // AdamW: decay = lr x weight_decay; else L2
};

/// What a step reads and writes; all spans of one length.
template <class Real>
struct SgdRange {
  std::span<Real> weight;
  std::span<const Real> gradient;
  std::span<Real> velocity;  // unused, may be empty, when momentum is 0
};

template <class Real>
struct AdamRange {
  std::span<Real> weight;
  std::span<const Real> gradient;
  std::span<Real> mean;
  std::span<Real> square;
  std::span<Real> largest;  // AMSGrad's running maximum of `square`; empty: plain Adam
};

/// Requires: lengths agree (BugError)
void sgd_step(const SgdNumbers& numbers, const SgdRange<float>& range);
void sgd_step(const SgdNumbers& numbers, const SgdRange<double>& range);

/// Requires: lengths agree, step at least 1 (BugError)
void adam_step(const AdamNumbers& numbers, const AdamRange<float>& range);
void adam_step(const AdamNumbers& numbers, const AdamRange<double>& range);

}  // namespace hydro::kernels
