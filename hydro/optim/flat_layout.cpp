#include "hydro/optim/flat_layout.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <span>
#include <vector>

#include "hydro/base/result.h"

namespace hydro::optim {
namespace {

constexpr std::int64_t kAlignment = 64;

std::vector<std::int64_t> strides_of(const FlatTensor& tensor) {
  if (tensor.channels_last) {
    const auto& s = tensor.shape;
    return {s[1] * s[2] * s[3], 1, s[3] * s[1], s[1]};
  }
  std::vector<std::int64_t> strides(tensor.shape.size(), 1);
  for (std::size_t i = strides.size(); i-- > 1;) {
    strides[i - 1] = strides[i] * tensor.shape[i];
  }
  return strides;
}

}  // namespace

FlatLayout::FlatLayout(std::span<const std::vector<std::int64_t>> shapes,
                       std::int64_t trials,
                       at::ScalarType dtype)
    : trials_(trials), dtype_(dtype) {
  HYDRO_CHECK(trials >= 1);
  const auto step = kAlignment / static_cast<std::int64_t>(at::elementSize(dtype));
  for (const auto& shape : shapes) {
    const auto size =
        std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
    tensors_.push_back({.shape = shape,
                        .size = size,
                        .offset = elements_,
                        .channels_last = trials == 1 && shape.size() == 4});
    elements_ += ((size * trials) + step - 1) / step * step;
  }
}

at::Tensor FlatLayout::make_buffer() const {
  return at::zeros({elements_}, dtype_);
}

at::Tensor FlatLayout::view(const at::Tensor& flat, std::size_t tensor) const {
  const FlatTensor& place = tensors_.at(tensor);
  if (trials_ == 1) {
    return view(flat, tensor, 0);
  }
  std::vector<std::int64_t> shape = place.shape;
  std::vector<std::int64_t> strides = strides_of(place);
  shape.insert(shape.begin(), trials_);
  strides.insert(strides.begin(), place.size);
  return flat.as_strided(shape, strides, place.offset);
}

at::Tensor FlatLayout::view(const at::Tensor& flat,
                            std::size_t tensor,
                            std::int64_t trial) const {
  const FlatTensor& place = tensors_.at(tensor);
  HYDRO_CHECK(trial >= 0 && trial < trials_);
  return flat.as_strided(place.shape, strides_of(place), place.offset + (trial * place.size));
}

at::Tensor FlatLayout::match(const at::Tensor& gradient, std::size_t tensor) const {
  const FlatTensor& place = tensors_.at(tensor);
  HYDRO_CHECK(gradient.numel() == place.size * trials_ && gradient.scalar_type() == dtype_);
  return gradient.contiguous(place.channels_last ? at::MemoryFormat::ChannelsLast
                                                 : at::MemoryFormat::Contiguous);
}

std::vector<Piece> cut(const FlatLayout& layout, std::int64_t limit) {
  std::vector<Piece> pieces;
  for (std::size_t tensor = 0; tensor < layout.tensors().size(); ++tensor) {
    const std::int64_t size = layout.tensors()[tensor].size;
    for (std::int64_t trial = 0; trial < layout.trials(); ++trial) {
      for (std::int64_t begin = 0; begin < size; begin += limit) {
        pieces.push_back({tensor, trial, begin, std::min(limit, size - begin)});
      }
    }
  }
  return pieces;
}

}  // namespace hydro::optim
