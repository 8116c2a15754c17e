// hydro/plan/containers.h — which trials train together: trials of one key are packed evenly
// into containers. Thread-safety: pure functions.            Source: DESIGN "Containers",
// "Groups".
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "hydro/worker/messages.h"
#include "hydro/worker/settings.h"

namespace hydro::plan {

/// What a trial brings to the grouping.
struct Candidate {
  worker::TrialId id{};
  std::string model;  // key of the graph: archive, S, parametrization
  std::int64_t batch_size = 0;
  worker::Budget budget;
  worker::TrialSettings settings;
  double cost_per_sample = 1;   // multiply-adds, or any number in proportion to them
  std::int64_t steps_done = 0;  // over 0: its state waits, from a container before
};

/// One reason why two trials may not share a container.
struct Difference {
  std::string what;  // "batch_size"
  std::string left;
  std::string right;
  bool operator==(const Difference&) const = default;
};

/// Everything in which two trials differ and that changes a shape or a code path; empty: they
/// may share.
[[nodiscard]] std::vector<Difference> differences(const Candidate& left,
                                                  const Candidate& right);

/// Equal for two candidates if and only if they have no differences().
[[nodiscard]] std::string container_key(const Candidate& candidate);

/// The trials of each container, ascending. Every candidate is in exactly one; a key with n
/// trials gives ceil(n / limit) containers, whose sizes differ by at most one.
///
/// Order: most work first (samples x cost x trials), so that the last containers to start are
/// short ones and the slots end together; ties by the lowest trial. Requires: limit at least 1
/// (BugError)
[[nodiscard]] std::vector<std::vector<worker::TrialId>> pack(
    std::span<const Candidate> candidates, std::int64_t limit);

}  // namespace hydro::plan
