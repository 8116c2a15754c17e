// hydro/engine/thread_engine.h — an Engine whose workers are threads of this process: one
// thread and one queue a slot, one queue of answers.
#pragma once

#include <cstdint>
#include <memory>

#include "hydro/worker/worker.h"

namespace hydro::engine {

/// Slots are numbered from 0. Each slot's worker is made, used and destroyed on that slot's
/// thread; a BugError or another exception of it becomes a Failed answer, so that every command
/// is closed exactly once.
///
/// After request_stop() every command, also a later one, answers Stopped; there is no way back.
/// The destructor stops in the same way and joins. Thread-safety: submit(), wait() and
/// request_stop() may be called from any thread. Requires: slots at least 1 (BugError)
[[nodiscard]] std::unique_ptr<worker::Engine> make_thread_engine(std::int32_t slots,
                                                                 worker::WorkerFactory factory);

}  // namespace hydro::engine
