// hydro/plan/testing.h — candidates for tests.
#pragma once

#include <cstdint>

#include "hydro/plan/containers.h"
#include "hydro/worker/messages.h"

namespace hydro::plan {

/// SGD, one epoch of 10,240 samples at `batch_size`.
inline Candidate make_candidate(std::int64_t id, std::int64_t batch_size = 128) {
  const std::int64_t steps = 10'240 / batch_size;
  return {.id = worker::TrialId{id},
          .model = "resnet18/8/mup",
          .batch_size = batch_size,
          .budget = {.steps = steps, .steps_per_epoch = steps, .evaluate_every = steps},
          .settings = {}};
}

}  // namespace hydro::plan
