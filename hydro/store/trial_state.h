// hydro/store/trial_state.h — a trial's whole state as plain bytes: what one container gives
// out and another takes in, through memory or through a file. Only what training changes is
// here; data order and random numbers follow from the step. Thread-safety: values.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "hydro/base/bytes.h"
#include "hydro/base/result.h"

namespace hydro::store {

struct StateTensor {
  std::string dtype;  // as in hydro/base/safetensors.h
  std::vector<std::int64_t> shape;
  Bytes bytes;  // row-major
  bool operator==(const StateTensor&) const = default;
};

struct TrialState {
  std::int64_t step = 0;
  std::int64_t evaluated = 0;  // the last step that was evaluated
  std::int64_t reported = 0;   // the last step of a report
  double loss_sum = 0;         // training losses since then
  std::map<std::string, StateTensor> tensors;

  /// Bytes of all tensors.
  [[nodiscard]] std::uint64_t size() const;
  bool operator==(const TrialState&) const = default;
};

/// A safetensors file, written durably.
///
/// Errors: H0603
[[nodiscard]] Result<void> write_trial_state(const std::filesystem::path& path,
                                             const TrialState& state);

/// Errors: H0631 the file is missing, torn, or not as it was written
[[nodiscard]] Result<TrialState> read_trial_state(const std::filesystem::path& path);

}  // namespace hydro::store
