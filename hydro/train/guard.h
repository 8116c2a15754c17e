// hydro/train/guard.h — the one place where libtorch's exceptions become errors; out of memory
// apart.
#pragma once

#include <functional>
#include <string>

#include "hydro/base/result.h"

namespace hydro::train {

/// Runs `work`; `doing` ("training") opens the message of what libtorch threw. It names no
/// container or step: equal causes have equal texts, which are counted together.
///
/// Errors: work's own; H0501 libtorch refused; H0502 out of memory. BugError comes through.
[[nodiscard]] Result<void> guard(const std::string& doing,
                                 const std::function<Result<void>()>& work);

/// The same in a thread that ends with `work`. OpenMP keeps a thread's helpers until that
/// thread ends; helpers of the main thread and of a target's together would be more than there
/// are cores, and libgomp then sends every waiting thread to sleep at once (1.07 times the
/// seconds).
[[nodiscard]] Result<void> guard_in_passing_thread(const std::string& doing,
                                                   const std::function<Result<void>()>& work);

}  // namespace hydro::train
