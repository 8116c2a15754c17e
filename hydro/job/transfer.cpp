#include "hydro/job/transfer.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "hydro/base/result.h"
#include "hydro/job/job.h"
#include "hydro/job/space_check.h"
#include "hydro/search/space.h"
#include "hydro/worker/settings.h"

namespace hydro::job {
namespace {

struct TransferRow {
  std::string_view path;
  Transfer transfer;
};

/// What is not here transfers as it is: rates, schedules, momentum, betas, batch size.
constexpr auto kRows = std::to_array<TransferRow>({
    {.path = "train.label_smoothing",
     .transfer = {.kind = TransferKind::kTargetOnly,
                  .why = "the best label smoothing of a narrow model says nothing about a wide "
                         "one"}},
    {.path = "train.clip_norm",
     .transfer = {.kind = TransferKind::kByRule,
                  .why = "the norm is weighted so that a limit means the same at both widths"}},
    {.path = "train.optimizer",
     .transfer = {.kind = TransferKind::kByRule, .why = "each optimizer has its own factors"}},
    {.path = "train.optimizer.eps",
     .transfer = {.kind = TransferKind::kByRule,
                  .why = "it is scaled with each tensor's width"}},
});

constexpr Transfer kDecoupledDecay = {.kind = TransferKind::kByRule,
                                      .why = "lr x weight_decay is kept"};
constexpr Transfer kPenalty = {
    .kind = TransferKind::kTargetOnly,
    .why =
        "the best L2 penalty of a narrow model says nothing about a wide one; a fixed one "
        "is scaled, and the decoupled decay of adamw may be searched"};
constexpr Transfer kDropout = {.kind = TransferKind::kTargetOnly,
                               .why = "wide models need more regularisation than narrow ones"};
constexpr Transfer kArchitecture = {
    .kind = TransferKind::kByRule,
    .why = "every value is a model of its own, all made narrower by the same factor"};

bool names_dropout(std::string_view path) {
  return path.substr(path.rfind('.') + 1).find("drop") != std::string_view::npos;
}

}  // namespace

std::string_view transfer_name(TransferKind kind) {
  switch (kind) {
    case TransferKind::kTransfers:
      return "transferable";
    case TransferKind::kByRule:
      return "transferable with a rule";
    case TransferKind::kTargetOnly:
      return "target only";
  }
  return {};
}

Transfer transfer_of(std::string_view path, worker::OptimizerKind optimizer) {
  if (path.starts_with("model.")) {
    return names_dropout(path) ? kDropout : kArchitecture;
  }
  if (path == "train.optimizer.weight_decay") {
    return optimizer == worker::OptimizerKind::kAdamW ? kDecoupledDecay : kPenalty;
  }
  const auto* row = std::ranges::find(kRows, path, &TransferRow::path);
  return row == kRows.end() ? Transfer{} : row->transfer;
}

Transfer transfer_of(const Job& job, const search::Parameter& parameter) {
  search::Config config;
  if (parameter.condition) {
    config.insert_or_assign(parameter.condition->parameter,
                            search::Value(parameter.condition->branch));
  }
  const auto trial = resolve(job, complete_config(job.space, std::move(config)));
  HYDRO_CHECK(trial.has_value(), parameter.path);
  return transfer_of(parameter.path, trial->settings.optimizer.kind);
}

}  // namespace hydro::job
