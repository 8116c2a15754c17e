// hydro/train/feeder.h — batches as tensors: the loader fills one buffer again and again,
// tensors point into it. Thread-safety: one worker's own.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/data/dataset.h"
#include "hydro/ir/graph.h"
#include "hydro/ops/torch.h"
#include "hydro/train/network.h"

namespace hydro::train {

/// Valid until the feeder's next gather.
struct Batch {
  NamedTensors inputs;
  at::Tensor classes;  // [B], of a language model [B, T]; undefined where there are none
  at::Tensor values;   // [B, ...], of a regression; undefined where there are none
};

class Feeder {
 public:
  explicit Feeder(std::shared_ptr<const data::Loader> loader,
                  at::ScalarType dtype = at::kFloat);

  [[nodiscard]] std::int64_t size() const { return loader_->dataset().size; }

  /// Images lie channels-last.
  [[nodiscard]] Batch gather(std::span<const std::int64_t> indices, std::int64_t epoch);

 private:
  std::shared_ptr<const data::Loader> loader_;  // shared with all workers of the study
  at::ScalarType dtype_;
  data::BatchBuffer buffer_;
};

/// Errors: H0504, a model input that the data do not have
[[nodiscard]] Result<void> check_inputs(const ir::Graph& graph, const data::Dataset& dataset);

}  // namespace hydro::train
