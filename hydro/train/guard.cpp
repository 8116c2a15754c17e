#include "hydro/train/guard.h"

#include <functional>
#include <future>
#include <new>
#include <string>
#include <string_view>

#include "hydro/base/result.h"
#include "hydro/ops/torch.h"

namespace hydro::train {
namespace {

/// libtorch's CPU allocator says out of memory with an ordinary c10::Error.
bool is_out_of_memory(std::string_view message) {
  return message.find("can't allocate memory") != std::string_view::npos ||
         message.find("not enough memory") != std::string_view::npos;
}

Error out_of_memory(const std::string& doing, const std::string& reason) {
  return make_error("H0502", "out of memory while " + doing).because(reason);
}

}  // namespace

Result<void> guard(const std::string& doing, const std::function<Result<void>()>& work) {
  try {
    return work();
  } catch (const c10::OutOfMemoryError& error) {
    return out_of_memory(doing, error.what_without_backtrace());
  } catch (const c10::Error& error) {
    const std::string reason = error.what_without_backtrace();
    return is_out_of_memory(reason)
               ? out_of_memory(doing, reason)
               : make_error("H0501", "libtorch failed while " + doing).because(reason);
  } catch (const std::bad_alloc& error) {
    return out_of_memory(doing, error.what());
  }
}

Result<void> guard_in_passing_thread(const std::string& doing,
                                     const std::function<Result<void>()>& work) {
  return std::async(std::launch::async, [&] { return guard(doing, work); }).get();
}

}  // namespace hydro::train
