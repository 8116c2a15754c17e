#include "hydro/cli/torch_backend.h"

#include <memory>
#include <utility>

#include "hydro/base/result.h"
#include "hydro/data/dataset.h"
#include "hydro/run/backend.h"
#include "hydro/run/material.h"
#include "hydro/shrink/coordinates.h"
#include "hydro/shrink/surrogate.h"
#include "hydro/store/waiting_states.h"
#include "hydro/train/train.h"
#include "hydro/worker/messages.h"
#include "hydro/worker/settings.h"
#include "hydro/worker/worker.h"

namespace hydro::cli {

Result<void> TorchBackend::check_shapes(const shrink::Surrogate& surrogate) const {
  return train::check_shapes(surrogate);
}

Result<shrink::CoordinateMeasure> TorchBackend::measure_coordinates(
    const shrink::Surrogate& surrogate,
    const data::Loader& data,
    const run::CoordinateRequest& request) const {
  const train::CoordinateSetting setting = {.settings = request.settings,
                                            .task = request.task,
                                            .seeds = request.seeds,
                                            .batch_size = request.batch_size,
                                            .stop = request.stop};
  return train::measure_coordinates(surrogate, data, setting);
}

worker::WorkerFactory TorchBackend::workers(
    const run::Material& material,
    worker::Task task,
    std::shared_ptr<store::WaitingStates> waiting) const {
  auto study = std::make_shared<train::Study>();  // shared by the workers of all slots
  study->task = task;
  study->training = material.loaders.training;
  study->validation = material.loaders.validation;
  study->test = material.loaders.test;
  study->waiting = std::move(waiting);
  for (const run::Architecture& architecture : material.architectures) {
    study->models.emplace(architecture.surrogate_key, architecture.surrogate);
    study->models.emplace(architecture.target_key, architecture.target);
  }
  return [study](worker::SlotId) { return train::make_worker(study); };
}

}  // namespace hydro::cli
