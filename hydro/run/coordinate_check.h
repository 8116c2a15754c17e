// hydro/run/coordinate_check.h — the coordinate check of a job: two widths measured by the
// backend, judged by `shrink`.
#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/job/job.h"
#include "hydro/run/backend.h"
#include "hydro/run/material.h"
#include "hydro/shrink/coordinates.h"

namespace hydro::run {

/// kShort runs before a search: 2 seeds, wide bands, layers only. kFull: 6 seeds, DESIGN's
/// bands.
enum class CheckForm : std::uint8_t { kShort, kFull };

/// Errors: H0650 a stop was requested; those of shrinking and of the backend
[[nodiscard]] Result<shrink::CoordinateVerdict> check_coordinates(
    const job::Job& job,
    const Architecture& architecture,
    const data::Loader& data,
    const Backend& backend,
    CheckForm form,
    const std::stop_token& stop);

/// "geometric mean over hidden layers x1.5 (limits 0.75 to 1.35)": value and limits.
[[nodiscard]] std::string miss_text(const shrink::Miss& miss);
/// The misses that are no layers: "geometric mean over hidden layers", "step-1 loss".
[[nodiscard]] std::vector<shrink::Miss> failed_aggregates(
    const shrink::CoordinateVerdict& verdict);
/// "2 of 20 layers (first `conv1.weight`), step-1 loss": what failed.
[[nodiscard]] std::string failed_parts(const shrink::CoordinateVerdict& verdict);
/// H0310 with the first misses, their values and limits; nothing when all passed.
[[nodiscard]] std::optional<Error> refusal_of(const shrink::CoordinateVerdict& verdict);

}  // namespace hydro::run
