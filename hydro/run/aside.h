// hydro/run/aside.h — one thread beside the caller's, for things that take long. It lives as
// long as its owner: a process that was started on it dies with it (PR_SET_PDEATHSIG).
// Thread-safety: one caller.
#pragma once

#include <condition_variable>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <stop_token>
#include <thread>
#include <utility>

namespace hydro::run {

class Aside {
 public:
  Aside() = default;

  /// Begins `deed`. Requires: the one before is done
  template <class T>
  [[nodiscard]] std::future<T> run(std::function<T()> deed) {
    const auto task = std::make_shared<std::packaged_task<T()>>(std::move(deed));
    const std::scoped_lock lock(mutex_);
    deed_ = [task] { (*task)(); };  // both hold it until it is done
    if (!thread_.joinable()) {
      thread_ = std::jthread([this](const std::stop_token& stop) { work(stop); });
    }
    changed_.notify_all();
    return task->get_future();
  }

 private:
  void work(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (changed_.wait(lock, stop, [this] { return deed_ != nullptr; })) {
      const std::function<void()> deed = std::exchange(deed_, nullptr);
      lock.unlock();
      deed();
      lock.lock();
    }
  }

  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::function<void()> deed_;
  std::jthread thread_;  // from the first deed on
};

}  // namespace hydro::run
