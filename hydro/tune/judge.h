// hydro/tune/judge.h — what a trial's reports mean for its way: where it is looked at next, why
// it ends, in words. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "hydro/search/verdict.h"
#include "hydro/tune/compact.h"
#include "hydro/tune/events.h"
#include "hydro/worker/settings.h"

namespace hydro::tune {

/// Steps up to an evaluation; no more than a trial trains in all.
[[nodiscard]] std::int64_t step_of(const StudySettings& settings,
                                   const worker::Budget& budget,
                                   std::int64_t evaluation);
/// Steps that a trial trains in all: its budget, or up to the scheduler's max_t.
[[nodiscard]] std::int64_t end_of(const StudySettings& settings, const worker::Budget& budget);

/// Why a trained trial has no value, or nothing.
[[nodiscard]] std::optional<std::string> fault_of(const Reports& reports,
                                                  const std::string& metric);

/// "rung 3: 0.412 under the cut-off 0.53, 14 values"
[[nodiscard]] std::string reason_of(const search::Verdict& verdict, Mode mode);

}  // namespace hydro::tune
