// hydro/cli/torch_backend.h — joins `run` with `train`: the backend that computes with
// libtorch.
#pragma once

#include <memory>

#include "hydro/run/backend.h"

namespace hydro::cli {

class TorchBackend : public run::Backend {
 public:
  [[nodiscard]] Result<void> check_shapes(const shrink::Surrogate& surrogate) const override;
  [[nodiscard]] Result<shrink::CoordinateMeasure> measure_coordinates(
      const shrink::Surrogate& surrogate,
      const data::Loader& data,
      const run::CoordinateRequest& request) const override;
  [[nodiscard]] worker::WorkerFactory workers(
      const run::Material& material,
      worker::Task task,
      std::shared_ptr<store::WaitingStates> waiting) const override;
};

}  // namespace hydro::cli
