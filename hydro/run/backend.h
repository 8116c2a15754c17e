// hydro/run/backend.h — what a study needs from whoever computes: workers, and two measurements
// on a model. `cli` implements it with libtorch; tests put a fake behind the whole chain.
#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>

#include "hydro/base/result.h"
#include "hydro/data/dataset.h"
#include "hydro/run/material.h"
#include "hydro/shrink/coordinates.h"
#include "hydro/shrink/surrogate.h"
#include "hydro/store/waiting_states.h"
#include "hydro/worker/settings.h"
#include "hydro/worker/worker.h"

namespace hydro::run {

struct CoordinateRequest {
  worker::TrialSettings settings;
  worker::Task task = worker::Task::kClassification;
  std::int64_t seeds = 6;
  std::int64_t batch_size = 64;
  std::stop_token stop = {};  // a request ends the measurement with H0650
};

class Backend {
 public:
  Backend() = default;
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;
  virtual ~Backend() = default;

  /// Compares every node's predicted shape with one real run.
  [[nodiscard]] virtual Result<void> check_shapes(const shrink::Surrogate& surrogate) const = 0;
  [[nodiscard]] virtual Result<shrink::CoordinateMeasure> measure_coordinates(
      const shrink::Surrogate& surrogate,
      const data::Loader& data,
      const CoordinateRequest& request) const = 0;
  /// `waiting`: where all workers leave the trials that they take out of containers.
  [[nodiscard]] virtual worker::WorkerFactory workers(
      const Material& material,
      worker::Task task,
      std::shared_ptr<store::WaitingStates> waiting) const = 0;
};

}  // namespace hydro::run
