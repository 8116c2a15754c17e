// hydro/optim/flat_layout.h — how the tensors of a container's trials lie in one flat buffer:
// ordered [tensor][trial], each tensor's block aligned to 64 bytes. Parameters are views in
// such a buffer, gradients and optimizer state lie the same way, so that a step is one pass
// over plain ranges.
//
// With one trial, 4-d weights lie channels-last, as convolutions want them; with more they are
// row-major. Thread-safety: immutable.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "hydro/ops/torch.h"

namespace hydro::optim {

struct FlatTensor {
  std::vector<std::int64_t> shape;  // of one trial
  std::int64_t size = 0;            // elements of one trial
  std::int64_t offset = 0;          // first element of the block of all trials
  bool channels_last = false;
};

class FlatLayout {
 public:
  FlatLayout(std::span<const std::vector<std::int64_t>> shapes,
             std::int64_t trials,
             at::ScalarType dtype);

  [[nodiscard]] std::span<const FlatTensor> tensors() const { return tensors_; }

  [[nodiscard]] std::int64_t trials() const { return trials_; }

  [[nodiscard]] at::ScalarType dtype() const { return dtype_; }

  /// A new buffer, zeroed.
  [[nodiscard]] at::Tensor make_buffer() const;
  /// The tensor of all trials as a view: [K, shape...], without K when there is one trial.
  [[nodiscard]] at::Tensor view(const at::Tensor& flat, std::size_t tensor) const;
  /// One trial's tensor as a view.
  [[nodiscard]] at::Tensor view(const at::Tensor& flat,
                                std::size_t tensor,
                                std::int64_t trial) const;
  /// `gradient` as it is where its memory already lies as the tensor's view does; else a copy
  /// that does.
  [[nodiscard]] at::Tensor match(const at::Tensor& gradient, std::size_t tensor) const;

 private:
  std::vector<FlatTensor> tensors_;
  std::int64_t trials_ = 1;
  std::int64_t elements_ = 0;
  at::ScalarType dtype_;
};

/// One contiguous piece of one trial's tensor.
struct Piece {
  std::size_t tensor = 0;
  std::int64_t trial = 0;
  std::int64_t begin = 0;  // within the trial's tensor
  std::int64_t size = 0;
};

/// Every trial's tensors cut in pieces of at most `limit` elements, in order of tensor, trial,
/// begin.
[[nodiscard]] std::vector<Piece> cut(const FlatLayout& layout, std::int64_t limit);

}  // namespace hydro::optim
