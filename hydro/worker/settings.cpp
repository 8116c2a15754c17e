#include "hydro/worker/settings.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <optional>
#include <string_view>
#include <utility>

#include "hydro/base/result.h"

namespace hydro::worker {
namespace {

constexpr auto kTasks = std::to_array<std::pair<Task, std::string_view>>(
    {{Task::kClassification, "classification"},
     {Task::kRegression, "regression"},
     {Task::kLanguageModel, "language_model"},
     {Task::kMaskedLanguageModel, "masked_language_model"},
     {Task::kModelLoss, "model_loss"}});

constexpr auto kOptimizers = std::to_array<std::pair<OptimizerKind, std::string_view>>(
    {{OptimizerKind::kSgd, "sgd"},
     {OptimizerKind::kAdam, "adam"},
     {OptimizerKind::kAdamW, "adamw"}});

constexpr auto kSchedules = std::to_array<std::pair<ScheduleKind, std::string_view>>(
    {{ScheduleKind::kConstant, "constant"},
     {ScheduleKind::kStep, "step"},
     {ScheduleKind::kCosine, "cosine"},
     {ScheduleKind::kLinear, "linear"}});

template <class Table, class Kind>
std::string_view name_in(const Table& table, Kind kind) {
  const auto row = std::ranges::find(table, kind, &Table::value_type::first);
  HYDRO_CHECK(row != table.end());
  return row->second;
}

template <class Kind, class Table>
std::optional<Kind> find_in(const Table& table, std::string_view name) {
  const auto row = std::ranges::find(table, name, &Table::value_type::second);
  return row == table.end() ? std::nullopt : std::optional<Kind>(row->first);
}

/// gamma^floor(t / step_size). A share of the budget such as 40 % of 155 steps is not exact in
/// binary; the slack keeps a boundary that falls on a step at that step.
double step_factor(const Schedule& schedule, const Budget& budget, std::int64_t step) {
  constexpr double kSlack = 1e-9;
  const double size = steps_of(schedule.step_size, budget);
  HYDRO_CHECK(size > 0);
  return std::pow(schedule.gamma, std::floor(static_cast<double>(step) / size + kSlack));
}

/// p: share of the steps after the warm-up that are done.
double decay_factor(ScheduleKind kind, double p) {
  switch (kind) {
    case ScheduleKind::kCosine:
      return (1 + std::cos(std::numbers::pi * p)) / 2;
    case ScheduleKind::kLinear:
      return 1 - p;
    case ScheduleKind::kConstant:
    case ScheduleKind::kStep:
      return 1;
  }
  return 1;
}

}  // namespace

double steps_of(const Span& span, const Budget& budget) {
  switch (span.unit) {
    case Span::Unit::kShare:
      return span.amount * static_cast<double>(budget.steps);
    case Span::Unit::kEpochs:
      return span.amount * static_cast<double>(budget.steps_per_epoch);
    case Span::Unit::kSteps:
      return span.amount;
  }
  return span.amount;
}

std::int64_t evaluation_at(const Budget& budget, std::int64_t step) {
  HYDRO_CHECK(budget.evaluate_every >= 1, "nothing is evaluated");
  return (step + budget.evaluate_every - 1) / budget.evaluate_every;
}

double epoch_at(const Budget& budget, std::int64_t step) {
  HYDRO_CHECK(budget.steps_per_epoch >= 1, "an epoch has a step");
  return static_cast<double>(step) / static_cast<double>(budget.steps_per_epoch);
}

double lr_factor(const Schedule& schedule, const Budget& budget, std::int64_t step) {
  const auto t = static_cast<double>(step);
  const double warmup = steps_of(schedule.warmup, budget);
  if (t < warmup) {
    return std::min(1.0, (t + 1) / warmup);
  }
  if (schedule.kind == ScheduleKind::kStep) {
    return step_factor(schedule, budget, step);
  }
  const double rest = static_cast<double>(budget.steps) - warmup;
  return decay_factor(schedule.kind,
                      rest > 0 ? std::clamp((t - warmup) / rest, 0.0, 1.0) : 0.0);
}

std::string_view task_name(Task task) {
  return name_in(kTasks, task);
}

std::optional<Task> find_task(std::string_view name) {
  return find_in<Task>(kTasks, name);
}

std::string_view optimizer_name(OptimizerKind kind) {
  return name_in(kOptimizers, kind);
}

std::optional<OptimizerKind> find_optimizer(std::string_view name) {
  return find_in<OptimizerKind>(kOptimizers, name);
}

std::string_view schedule_name(ScheduleKind kind) {
  return name_in(kSchedules, kind);
}

std::optional<ScheduleKind> find_schedule(std::string_view name) {
  return find_in<ScheduleKind>(kSchedules, name);
}

}  // namespace hydro::worker
