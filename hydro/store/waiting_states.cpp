#include "hydro/store/waiting_states.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "hydro/base/file.h"
#include "hydro/base/result.h"
#include "hydro/store/trial_state.h"

namespace hydro::store {

WaitingStates::WaitingStates(std::filesystem::path folder, std::uint64_t memory)
    : folder_(std::move(folder)), memory_(memory) {}

WaitingStates::~WaitingStates() {
  std::error_code ignored;
  for (const auto& [trial, state] : waiting_) {
    if (state == nullptr) {
      std::filesystem::remove(file_of(trial), ignored);
    }
  }
  std::filesystem::remove(folder_, ignored);  // only when nothing else is in it
}

std::filesystem::path WaitingStates::file_of(std::int64_t trial) const {
  return folder_ / ("trial-" + std::to_string(trial) + ".safetensors");
}

void WaitingStates::put(std::int64_t trial, TrialState state) {
  const std::uint64_t bytes = state.size();
  if (!reserve(bytes)) {
    const Result<void> written = write(trial, state);
    if (written.has_value()) {
      keep(trial, nullptr);
      return;
    }
    keep_in_spite(bytes, written.error());
  }
  keep(trial, std::make_shared<const TrialState>(std::move(state)));
}

bool WaitingStates::reserve(std::uint64_t bytes) {
  const std::scoped_lock lock(mutex_);
  if (used_ > memory_ || bytes > memory_ - used_) {
    return false;
  }
  used_ += bytes;
  return true;
}

Result<void> WaitingStates::write(std::int64_t trial, const TrialState& state) const {
  HYDRO_TRY_VOID(make_folder(folder_));
  return write_trial_state(file_of(trial), state);
}

void WaitingStates::keep(std::int64_t trial, std::shared_ptr<const TrialState> state) {
  const std::scoped_lock lock(mutex_);
  const bool is_new = waiting_.emplace(trial, std::move(state)).second;
  HYDRO_CHECK(is_new, "trial " + std::to_string(trial) + " waits already");
}

void WaitingStates::keep_in_spite(std::uint64_t bytes, const Error& cause) {
  const std::scoped_lock lock(mutex_);
  used_ += bytes;
  if (!trouble_) {
    trouble_ = make_error("H0630", cause.what + "; paused trials stay in memory")
                   .because(cause.why)
                   .keeping("all trials; memory use is above `tune.pause_memory`");
  }
}

Result<std::shared_ptr<const TrialState>> WaitingStates::find(std::int64_t trial) const {
  {
    const std::scoped_lock lock(mutex_);
    const auto found = waiting_.find(trial);
    if (found == waiting_.end()) {
      return make_error("H0631", "no state of trial " + std::to_string(trial) + " waits");
    }
    if (found->second != nullptr) {
      return found->second;
    }
  }
  HYDRO_TRY(TrialState state, read_trial_state(file_of(trial)));
  return std::make_shared<const TrialState>(std::move(state));
}

void WaitingStates::forget(std::int64_t trial) {
  std::shared_ptr<const TrialState> state;
  {
    const std::scoped_lock lock(mutex_);
    const auto found = waiting_.find(trial);
    if (found == waiting_.end()) {
      return;
    }
    state = std::move(found->second);
    used_ -= state != nullptr ? state->size() : 0;
    waiting_.erase(found);
  }
  if (state == nullptr) {
    std::error_code ignored;
    std::filesystem::remove(file_of(trial), ignored);
  }
}

std::optional<Error> WaitingStates::take_trouble() {
  const std::scoped_lock lock(mutex_);
  if (!trouble_ || told_) {
    return std::nullopt;
  }
  told_ = true;
  return trouble_;
}

}  // namespace hydro::store
