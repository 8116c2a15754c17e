// hydro/optim/testing.h — builders for this room's tests.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "hydro/base/safetensors.h"
#include "hydro/ops/torch.h"
#include "hydro/optim/flat_layout.h"
#include "hydro/optim/optimizer.h"

namespace hydro::optim::testing {

/// A float tensor of a safetensors file, copied.
inline at::Tensor tensor_of(const SafeTensorFile& file, const std::string& name) {
  const SafeTensor& stored = file.tensors.at(name);
  at::Tensor tensor = at::empty(stored.shape, at::kFloat);
  std::memcpy(tensor.data_ptr(), stored.bytes.data(), stored.bytes.size());
  return tensor;
}

/// A vector of values that follow no pattern a loop could exploit.
inline at::Tensor wave(const std::vector<std::int64_t>& shape, double phase) {
  std::int64_t size = 1;
  for (const std::int64_t dim : shape) {
    size *= dim;
  }
  return at::sin((at::arange(size, at::kDouble) * 1.7) + phase).to(at::kFloat).reshape(shape);
}

/// max |a - b|
inline double distance(const at::Tensor& a, const at::Tensor& b) {
  return (a - b).abs().max().item<double>();
}

}  // namespace hydro::optim::testing
