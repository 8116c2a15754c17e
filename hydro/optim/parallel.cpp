#include "hydro/optim/parallel.h"

#include <cstdint>
#include <functional>

#include "hydro/base/result.h"
#include "hydro/ops/torch.h"

namespace hydro::optim {

void for_each_piece(std::int64_t count, const std::function<void(std::int64_t)>& work) {
  if (count < 2 || at::get_num_threads() == 1) {
    for (std::int64_t i = 0; i < count; ++i) {
      work(i);
    }
    return;
  }
  const at::Tensor numbers = at::arange(count, at::kLong);
  auto iterator = at::TensorIteratorConfig().add_owned_const_input(numbers).build();
  // `outer` is 1: the numbers are one contiguous row.
  iterator.for_each(
      [&](char** data, const std::int64_t* strides, std::int64_t size, std::int64_t outer) {
        HYDRO_CHECK(outer == 1);
        for (std::int64_t i = 0; i < size; ++i) {
          work(*reinterpret_cast<const std::int64_t*>(data[0] + (i * strides[0])));
        }
      },
      1);
}

}  // namespace hydro::optim
