// hydro/train/trial_state.h — one trial's tensors out of a container as plain bytes, and into
// another one, whatever slot it has there and however many share it. Thread-safety: the
// container's.
#pragma once

#include <cstdint>

#include "hydro/base/result.h"
#include "hydro/optim/optimizer.h"
#include "hydro/store/trial_state.h"
#include "hydro/train/network.h"

namespace hydro::train {

/// Weights, statistics, the optimizer's averages and counts, by name.
[[nodiscard]] store::TrialState copy_out(const Network& network,
                                         const optim::Optimizer& optimizer,
                                         std::int64_t trial);

/// The same back, bit for bit.
///
/// Errors: H0631 a state of another model or optimizer
[[nodiscard]] Result<void> copy_in(const store::TrialState& state,
                                   Network& network,
                                   optim::Optimizer& optimizer,
                                   std::int64_t trial);

}  // namespace hydro::train
