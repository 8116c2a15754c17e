// hydro/base/clock.h — time as an argument: what reads a clock takes one, so that tests and the
// simulator bring theirs.
#pragma once

#include <chrono>
#include <cstdint>

namespace hydro {

class Clock {
 public:
  Clock() = default;
  Clock(const Clock&) = delete;
  Clock& operator=(const Clock&) = delete;
  virtual ~Clock() = default;

  /// Nanoseconds since 1970, for people.
  [[nodiscard]] virtual std::int64_t wall_ns() const = 0;
  /// Nanoseconds that never go back, for durations.
  [[nodiscard]] virtual std::int64_t mono_ns() const = 0;
};

class SystemClock : public Clock {
 public:
  [[nodiscard]] std::int64_t wall_ns() const override {
    return nanoseconds(std::chrono::system_clock::now().time_since_epoch());
  }

  [[nodiscard]] std::int64_t mono_ns() const override {
    return nanoseconds(std::chrono::steady_clock::now().time_since_epoch());
  }

 private:
  template <class Duration>
  static std::int64_t nanoseconds(Duration duration) {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(duration).count();
  }
};

}  // namespace hydro
