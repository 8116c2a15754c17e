// hydro/train/testing_independence.h — trials compared across containers, for tests of their
// independence.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <vector>

#include <gtest/gtest.h>

#include "hydro/ops/torch.h"
#include "hydro/train/container.h"
#include "hydro/train/testing.h"
#include "hydro/train/train.h"
#include "hydro/worker/settings.h"

namespace hydro::train::testing {

/// Largest difference over max(largest weight, 1e-3), over all tensors of a trial.
inline double distance(const Network& a,
                       std::int64_t slot_a,
                       const Network& b,
                       std::int64_t slot_b) {
  double worst = 0;
  for (std::size_t i = 0; i < a.names().size(); ++i) {
    const at::Tensor x = parameter(a, i, slot_a);
    const at::Tensor y = parameter(b, i, slot_b);
    const double largest = std::max(y.abs().max().item<double>(), 1e-3);
    worst = std::max(worst, (x - y).abs().max().item<double>() / largest);
  }
  return worst;
}

inline bool same_bits(const Network& a,
                      std::int64_t slot_a,
                      const Network& b,
                      std::int64_t slot_b) {
  bool same = true;
  for (const ir::StateEntry& entry : a.state()) {
    same = same && a.state_of(entry, slot_a).equal(b.state_of(entry, slot_b));
  }
  return same;
}

/// Eight unlike trials of one kind: rates from `largest` down, momentum from its own down.
inline std::vector<worker::TrialSettings> eight(worker::TrialSettings (*make)(double),
                                                double largest) {
  std::vector<worker::TrialSettings> trials;
  for (int i = 0; i < 8; ++i) {
    trials.push_back(make(largest / (1 + i)));
    trials.back().optimizer.momentum *= 1 - (i / 9.0);
    trials.back().label_smoothing = i == 3 ? .1 : 0;
  }
  return trials;
}

inline void expect_stacked_equals_solo(const Study& study,
                                       const std::vector<worker::TrialSettings>& trials) {
  const Container stacked = trained(study, spec_of(trials, 100), 100, at::kDouble);
  for (std::int64_t k = 0; k < std::ssize(trials); ++k) {
    const auto own = spec_of({trials[static_cast<std::size_t>(k)]}, 100, k);
    const Container solo = trained(study, own, 100, at::kDouble);
    EXPECT_LE(distance(stacked.network(), k, solo.network(), 0), 1e-9) << "trial " << k;
  }
}

}  // namespace hydro::train::testing
