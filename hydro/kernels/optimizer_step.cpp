#include "hydro/kernels/optimizer_step.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "hydro/base/result.h"
#include "hydro/kernels/clones.h"

namespace hydro::kernels {
namespace {

/// Scalars already rounded to the element type, as torch does before its loops.
template <class Real>
struct SgdScalars {
  Real lr, momentum, keep, decay, scale;
};

template <class Real>
struct AdamScalars {
  Real shrink, l2, scale, mean_rate, beta2, square_rate, root_correction, eps, step_size;
};

template <class Real>
SgdScalars<Real> scalars_of(const SgdNumbers& numbers) {
  return {static_cast<Real>(numbers.lr),
          static_cast<Real>(numbers.momentum),
          static_cast<Real>(1 - numbers.dampening),
          static_cast<Real>(numbers.weight_decay),
          static_cast<Real>(numbers.gradient_scale)};
}

template <class Real>
AdamScalars<Real> scalars_of(const AdamNumbers& numbers) {
  const auto step = static_cast<double>(numbers.step);
  const double correction1 = 1 - std::pow(numbers.beta1, step);
  const double correction2 = 1 - std::pow(numbers.beta2, step);
  AdamScalars<Real> scalars{};
  scalars.shrink =
      static_cast<Real>(numbers.decoupled ? 1 - (numbers.lr * numbers.weight_decay) : 1);
  scalars.l2 = static_cast<Real>(numbers.decoupled ? 0 : numbers.weight_decay);
  scalars.scale = static_cast<Real>(numbers.gradient_scale);
  scalars.mean_rate = static_cast<Real>(1 - numbers.beta1);
  scalars.beta2 = static_cast<Real>(numbers.beta2);
  scalars.square_rate = static_cast<Real>(1 - numbers.beta2);
  scalars.root_correction = static_cast<Real>(std::sqrt(correction2));
  scalars.eps = static_cast<Real>(numbers.eps);
  scalars.step_size = static_cast<Real>(numbers.lr / correction1);
  return scalars;
}

template <class Real>
inline void plain_loop(const SgdScalars<Real>& s,
                       Real* __restrict w,
                       const Real* __restrict g,
                       std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    w[i] -= s.lr * ((g[i] * s.scale) + (s.decay * w[i]));
  }
}

template <bool Nesterov, bool First, class Real>
inline void velocity_loop(const SgdScalars<Real>& s, const SgdRange<Real>& range) {
  Real* __restrict w = range.weight.data();
  const Real* __restrict g = range.gradient.data();
  Real* __restrict v = range.velocity.data();
  const std::size_t n = range.weight.size();
  for (std::size_t i = 0; i < n; ++i) {
    const Real gradient = (g[i] * s.scale) + (s.decay * w[i]);
    const Real velocity = First ? gradient : (s.momentum * v[i]) + (s.keep * gradient);
    v[i] = velocity;
    w[i] -= s.lr * (Nesterov ? gradient + (s.momentum * velocity) : velocity);
  }
}

template <class Real>
inline void velocity_step(const SgdNumbers& numbers,
                          const SgdScalars<Real>& s,
                          const SgdRange<Real>& range) {
  if (numbers.nesterov) {
    numbers.first_step ? velocity_loop<true, true>(s, range)
                       : velocity_loop<true, false>(s, range);
  } else {
    numbers.first_step ? velocity_loop<false, true>(s, range)
                       : velocity_loop<false, false>(s, range);
  }
}

constexpr std::size_t kBlock = 16;

// Square roots by hand, four a time: with errno in play GCC keeps sqrt a call and the loop
// around it scalar. The instruction rounds as the scalar one does.
inline void take_roots(std::array<float, kBlock>& x) {
#if defined(__SSE2__)
  for (std::size_t i = 0; i < kBlock; i += 4) {
    _mm_storeu_ps(&x[i], _mm_sqrt_ps(_mm_loadu_ps(&x[i])));
  }
#else
  std::ranges::transform(x, x.begin(), [](float value) { return std::sqrt(value); });
#endif
}

inline void take_roots(std::array<double, kBlock>& x) {
#if defined(__SSE2__)
  for (std::size_t i = 0; i < kBlock; i += 2) {
    _mm_storeu_pd(&x[i], _mm_sqrt_pd(_mm_loadu_pd(&x[i])));
  }
#else
  std::ranges::transform(x, x.begin(), [](double value) { return std::sqrt(value); });
#endif
}

/// The pointers of one block of `count` elements, at most kBlock.
template <class Real>
struct AdamBlock {
  Real* w;
  const Real* g;
  Real* m;
  Real* v;
  Real* largest;
  std::size_t count;
};

template <bool Amsgrad, class Real>
inline void adam_block(const AdamScalars<Real>& s,
                       const AdamBlock<Real>& block,
                       std::size_t count) {
  Real* __restrict w = block.w;
  const Real* __restrict g = block.g;
  Real* __restrict m = block.m;
  Real* __restrict v = block.v;
  Real* __restrict largest = block.largest;
  std::array<Real, kBlock> bound{};
  for (std::size_t i = 0; i < count; ++i) {
    const Real gradient = (g[i] * s.scale) + (s.l2 * w[i]);
    m[i] = m[i] + (s.mean_rate * (gradient - m[i]));
    v[i] = (s.beta2 * v[i]) + (s.square_rate * gradient * gradient);
    bound[i] = v[i];
    if constexpr (Amsgrad) {
      largest[i] = largest[i] > v[i] ? largest[i] : v[i];
      bound[i] = largest[i];
    }
  }
  take_roots(bound);
  for (std::size_t i = 0; i < count; ++i) {
    w[i] =
        (w[i] * s.shrink) - (s.step_size * (m[i] / ((bound[i] / s.root_correction) + s.eps)));
  }
}

template <bool Amsgrad, class Real>
inline void adam_loop(const AdamScalars<Real>& s, const AdamRange<Real>& range) {
  const std::size_t n = range.weight.size();
  for (std::size_t i = 0; i < n; i += kBlock) {
    const AdamBlock<Real> block{range.weight.data() + i,
                                range.gradient.data() + i,
                                range.mean.data() + i,
                                range.square.data() + i,
                                Amsgrad ? range.largest.data() + i : nullptr,
                                std::min(kBlock, n - i)};
    if (block.count == kBlock) {
      adam_block<Amsgrad>(s, block, kBlock);  // a constant count: the loops unroll into vectors
    } else {
      adam_block<Amsgrad>(s, block, block.count);
    }
  }
}

// A template cannot be cloned, hence one pair of functions a type.
HYDRO_CLONED void run_plain(const SgdScalars<float>& s,
                            float* w,
                            const float* g,
                            std::size_t n) {
  plain_loop(s, w, g, n);
}

HYDRO_CLONED void run_plain(const SgdScalars<double>& s,
                            double* w,
                            const double* g,
                            std::size_t n) {
  plain_loop(s, w, g, n);
}

HYDRO_CLONED void run_velocity(const SgdNumbers& numbers,
                               const SgdScalars<float>& s,
                               const SgdRange<float>& range) {
  velocity_step(numbers, s, range);
}

HYDRO_CLONED void run_velocity(const SgdNumbers& numbers,
                               const SgdScalars<double>& s,
                               const SgdRange<double>& range) {
  velocity_step(numbers, s, range);
}

HYDRO_CLONED void run_adam(const AdamScalars<float>& s, const AdamRange<float>& range) {
  adam_loop<false>(s, range);
}

HYDRO_CLONED void run_adam(const AdamScalars<double>& s, const AdamRange<double>& range) {
  adam_loop<false>(s, range);
}

HYDRO_CLONED void run_amsgrad(const AdamScalars<float>& s, const AdamRange<float>& range) {
  adam_loop<true>(s, range);
}

HYDRO_CLONED void run_amsgrad(const AdamScalars<double>& s, const AdamRange<double>& range) {
  adam_loop<true>(s, range);
}

template <class Real>
void checked_sgd_step(const SgdNumbers& numbers, const SgdRange<Real>& range) {
  HYDRO_CHECK(range.gradient.size() == range.weight.size());
  if (numbers.momentum == 0) {
    run_plain(scalars_of<Real>(numbers),
              range.weight.data(),
              range.gradient.data(),
              range.weight.size());
    return;
  }
  HYDRO_CHECK(range.velocity.size() == range.weight.size());
  run_velocity(numbers, scalars_of<Real>(numbers), range);
}

template <class Real>
void checked_adam_step(const AdamNumbers& numbers, const AdamRange<Real>& range) {
  const std::size_t n = range.weight.size();
  HYDRO_CHECK(range.gradient.size() == n && range.mean.size() == n && range.square.size() == n);
  HYDRO_CHECK(range.largest.empty() || range.largest.size() == n);
  HYDRO_CHECK(numbers.step >= 1);
  const auto scalars = scalars_of<Real>(numbers);
  range.largest.empty() ? run_adam(scalars, range) : run_amsgrad(scalars, range);
}

}  // namespace

void sgd_step(const SgdNumbers& numbers, const SgdRange<float>& range) {
  checked_sgd_step(numbers, range);
}

void sgd_step(const SgdNumbers& numbers, const SgdRange<double>& range) {
  checked_sgd_step(numbers, range);
}

void adam_step(const AdamNumbers& numbers, const AdamRange<float>& range) {
  checked_adam_step(numbers, range);
}

void adam_step(const AdamNumbers& numbers, const AdamRange<double>& range) {
  checked_adam_step(numbers, range);
}

}  // namespace hydro::kernels
