// hydro/run/signals.h — SIGINT and SIGTERM ask for a stop once, and end the process at the
// second time.
#pragma once

#include <memory>
#include <stop_token>

namespace hydro::run {

/// Blocks SIGINT and SIGTERM in the calling thread and in the threads that it starts later, and
/// waits for them on a thread of its own. SIGPIPE, SIGHUP and SIGXFSZ are ignored: a closed
/// terminal does not end a study, a write past `ulimit -f` is an error. One at a time.
class SignalStop {
 public:
  SignalStop();
  SignalStop(const SignalStop&) = delete;
  SignalStop& operator=(const SignalStop&) = delete;
  ~SignalStop();

  /// Stop is requested at the first signal; the second one ends the process at once with
  /// code 75.
  [[nodiscard]] std::stop_token token() const;

 private:
  struct Waiter;
  std::unique_ptr<Waiter> waiter_;
};

}  // namespace hydro::run
