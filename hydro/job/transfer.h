// hydro/job/transfer.h — which hyperparameters keep their best value when the width changes.
// Source: DESIGN "Transferable hyperparameters"; docs/search-space.md says it to users.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "hydro/job/job.h"
#include "hydro/search/space.h"
#include "hydro/worker/settings.h"

namespace hydro::job {

/// As it is; by a rule that scales it with the width; or not at all.
enum class TransferKind : std::uint8_t { kTransfers, kByRule, kTargetOnly };

struct Transfer {
  TransferKind kind = TransferKind::kTransfers;
  std::string_view why;  // the rule, or the reason
};

/// "transferable", "transferable with a rule", "target only"
[[nodiscard]] std::string_view transfer_name(TransferKind kind);

/// Of the hyperparameter at `path` when `optimizer` trains.
[[nodiscard]] Transfer transfer_of(std::string_view path, worker::OptimizerKind optimizer);
/// Of a parameter of the job's space; inside an option of a choice with the optimizer of that
/// option.
[[nodiscard]] Transfer transfer_of(const Job& job, const search::Parameter& parameter);

}  // namespace hydro::job
