// hydro/train/train.h — the room's whole outside: workers that train, and measurements on a
// model. No torch type here. Everything inside runs on libtorch.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/data/dataset.h"
#include "hydro/shrink/coordinates.h"
#include "hydro/shrink/surrogate.h"
#include "hydro/store/waiting_states.h"
#include "hydro/worker/worker.h"

namespace hydro::train {

/// What all workers of a study share; immutable once built, but for the trials that wait.
struct Study {
  worker::Task task = worker::Task::kClassification;
  std::map<std::string, std::shared_ptr<const shrink::Surrogate>>
      models;  // by ContainerSpec::model
  std::shared_ptr<const data::Loader> training;
  std::shared_ptr<const data::Loader> validation;
  std::shared_ptr<const data::Loader> test;  // may be null
  std::int64_t evaluation_batch = 256;
  std::shared_ptr<store::WaitingStates> waiting =
      {};  // of extracted trials; null: none ever is
};

/// A worker that trains on the CPU with libtorch.
[[nodiscard]] std::unique_ptr<worker::Worker> make_worker(std::shared_ptr<const Study> study);

/// Once per process, in `main` before any thread starts: flushes denormals.
void prepare_process();

/// Runs both graphs once on random data (batch 2) and compares every node's shape with the
/// prediction.
///
/// Errors: H03xx naming node and both shapes
[[nodiscard]] Result<void> check_shapes(const shrink::Surrogate& surrogate);

struct CoordinateSetting {
  worker::TrialSettings settings;  // decay 0, lr a quarter of its median
  worker::Task task = worker::Task::kClassification;
  std::int64_t seeds = 6;
  std::int64_t batch_size = 64;
  std::stop_token stop = {};
};

/// Trains `surrogate` for three forward passes on one fixed batch of `data`, once per seed.
///
/// Errors: H0650 a stop was requested between two passes
[[nodiscard]] Result<shrink::CoordinateMeasure> measure_coordinates(
    const shrink::Surrogate& surrogate,
    const data::Loader& data,
    const CoordinateSetting& setting);

struct TorchInfo {
  std::string version;
  std::string path;  // of libtorch_cpu.so
  int threads = 0;
  std::string capability;  // "AVX512"
};

[[nodiscard]] TorchInfo torch_info();

}  // namespace hydro::train
