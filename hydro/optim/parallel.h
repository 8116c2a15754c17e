// hydro/optim/parallel.h — our loops on libtorch's own threads.
#pragma once

#include <cstdint>
#include <functional>

namespace hydro::optim {

/// Calls `work(i)` for every i in [0, count), on the calling thread's intra-op threads; returns
/// when all are done. Exceptions come through. Goes through a TensorIterator because
/// at::parallel_for is an OpenMP region compiled into its caller, and a second OpenMP runtime
/// beside libtorch's must not be linked.
void for_each_piece(std::int64_t count, const std::function<void(std::int64_t)>& work);

}  // namespace hydro::optim
