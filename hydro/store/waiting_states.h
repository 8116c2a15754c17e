// hydro/store/waiting_states.h — where the states of trials wait that are in no container: in
// memory up to a limit, beyond it as files. One for all workers of a study; what still waits is
// removed with it. Thread-safety: any thread; one trial's calls come one after another.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "hydro/base/result.h"
#include "hydro/store/trial_state.h"

namespace hydro::store {

class WaitingStates {
 public:
  /// `memory`: bytes of tensors held in memory. `folder` is made with the first file.
  WaitingStates(std::filesystem::path folder, std::uint64_t memory);
  ~WaitingStates();

  WaitingStates(const WaitingStates&) = delete;
  WaitingStates& operator=(const WaitingStates&) = delete;

  /// Keeps the state. One that fits in neither memory nor file stays in memory all the same:
  /// nothing is lost, and take_trouble() says so.
  ///
  /// Requires: no state of the trial waits (BugError)
  void put(std::int64_t trial, TrialState state);

  /// The state, which goes on waiting. In memory it is shared with the store.
  ///
  /// Errors: H0631
  [[nodiscard]] Result<std::shared_ptr<const TrialState>> find(std::int64_t trial) const;
  /// No word when nothing waits.
  void forget(std::int64_t trial);
  /// Why a state could not be written (H0630): once, the first.
  [[nodiscard]] std::optional<Error> take_trouble();

 private:
  [[nodiscard]] std::filesystem::path file_of(std::int64_t trial) const;
  [[nodiscard]] bool reserve(std::uint64_t bytes);
  [[nodiscard]] Result<void> write(std::int64_t trial, const TrialState& state) const;
  void keep(std::int64_t trial, std::shared_ptr<const TrialState> state);
  void keep_in_spite(std::uint64_t bytes, const Error& cause);

  const std::filesystem::path folder_;
  const std::uint64_t memory_;
  mutable std::mutex mutex_;  // of all below; no file is touched under it
  std::uint64_t used_ = 0;
  std::map<std::int64_t, std::shared_ptr<const TrialState>> waiting_;  // null: in its file
  std::optional<Error> trouble_;
  bool told_ = false;
};

}  // namespace hydro::store
