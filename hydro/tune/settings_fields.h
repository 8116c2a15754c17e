// hydro/tune/settings_fields.h — the fields of what rooms below say in settings: a trial's
// training, a study's scheduler; one list each, for both directions (json_fields.h). Names are
// part of the stored format.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "hydro/base/result.h"
#include "hydro/search/scheduler.h"
#include "hydro/search/stop_rules.h"
#include "hydro/tune/json_fields.h"
#include "hydro/worker/settings.h"

namespace hydro::tune {

/// Enums whose names are listed here.
template <class T, std::size_t N>
struct EnumList {
  std::array<std::pair<T, std::string_view>, N> rows;

  [[nodiscard]] constexpr std::string_view text(T value) const {
    const auto* const row =
        std::ranges::find(rows, value, &std::pair<T, std::string_view>::first);
    HYDRO_CHECK(row != rows.end(), "an enum without a name");
    return row->second;
  }

  [[nodiscard]] constexpr std::optional<T> find(std::string_view name) const {
    const auto* const row =
        std::ranges::find(rows, name, &std::pair<T, std::string_view>::second);
    return row == rows.end() ? std::nullopt : std::optional(row->first);
  }
};

inline constexpr EnumList<worker::Span::Unit, 3> kUnits = {
    {{{worker::Span::Unit::kShare, "share"},
      {worker::Span::Unit::kEpochs, "epochs"},
      {worker::Span::Unit::kSteps, "steps"}}}};
inline constexpr EnumList<search::SchedulerKind, 4> kSchedulerKinds = {
    {{{search::SchedulerKind::kFifo, "fifo"},
      {search::SchedulerKind::kAsha, "asha"},
      {search::SchedulerKind::kHyperband, "hyperband"},
      {search::SchedulerKind::kMedian, "median"}}}};
inline constexpr EnumList<search::SchedulerType, 3> kSchedulerTypes = {
    {{{search::SchedulerType::kStopping, "stopping"},
      {search::SchedulerType::kPromotion, "promotion"},
      {search::SchedulerType::kSynchronous, "synchronous"}}}};
inline constexpr EnumList<search::StopKind, 5> kStopKinds = {
    {{{search::StopKind::kAny, "any"},
      {search::StopKind::kAll, "all"},
      {search::StopKind::kAbove, "above"},
      {search::StopKind::kBelow, "below"},
      {search::StopKind::kTime, "time"}}}};

template <class T, const auto& List>
struct ListedEnum {
  static std::string_view text(T value) { return List.text(value); }

  static std::optional<T> find(std::string_view name) { return List.find(name); }
};

template <>
struct EnumText<search::SchedulerKind> : ListedEnum<search::SchedulerKind, kSchedulerKinds> {};

template <>
struct EnumText<search::SchedulerType> : ListedEnum<search::SchedulerType, kSchedulerTypes> {};

template <>
struct EnumText<search::StopKind> : ListedEnum<search::StopKind, kStopKinds> {};

template <>
struct EnumText<worker::Span::Unit> : ListedEnum<worker::Span::Unit, kUnits> {};

template <>
struct EnumText<worker::OptimizerKind> {
  static std::string_view text(worker::OptimizerKind kind) {
    return worker::optimizer_name(kind);
  }

  static std::optional<worker::OptimizerKind> find(std::string_view name) {
    return worker::find_optimizer(name);
  }
};

template <>
struct EnumText<worker::ScheduleKind> {
  static std::string_view text(worker::ScheduleKind kind) {
    return worker::schedule_name(kind);
  }

  static std::optional<worker::ScheduleKind> find(std::string_view name) {
    return worker::find_schedule(name);
  }
};

template <>
struct FieldsOf<worker::Optimizer> {
  static void visit(auto& field, auto& x) {
    field("kind", x.kind);
    field("lr", x.lr);
    field("momentum", x.momentum);
    field("dampening", x.dampening);
    field("nesterov", x.nesterov);
    field("beta1", x.beta1);
    field("beta2", x.beta2);
    field("eps", x.eps);
    field("amsgrad", x.amsgrad);
    field("weight_decay", x.weight_decay);
  }
};

template <>
struct FieldsOf<worker::Span> {
  static void visit(auto& field, auto& x) {
    field("amount", x.amount);
    field("unit", x.unit);
  }
};

template <>
struct FieldsOf<worker::Schedule> {
  static void visit(auto& field, auto& x) {
    field("kind", x.kind);
    field("warmup", x.warmup);
    field("step_size", x.step_size);
    field("gamma", x.gamma);
  }
};

template <>
struct FieldsOf<worker::Budget> {
  static void visit(auto& field, auto& x) {
    field("steps", x.steps);
    field("steps_per_epoch", x.steps_per_epoch);
    field("evaluate_every", x.evaluate_every);
  }
};

template <>
struct FieldsOf<worker::TrialSettings> {
  static void visit(auto& field, auto& x) {
    field("optimizer", x.optimizer);
    field("schedule", x.schedule);
    field("clip_norm", x.clip_norm);
    field("label_smoothing", x.label_smoothing);
    field("bf16", x.bf16);
  }
};

template <>
struct FieldsOf<search::SchedulerSettings> {
  static void visit(auto& field, auto& x) {
    field("kind", x.kind);
    field("type", x.type);
    field("grace_period", x.grace_period);
    field("reduction_factor", x.reduction_factor);
    field("max_t", x.max_t);
    field("brackets", x.brackets);
    field("min_samples", x.min_samples);
  }
};

template <>
struct FieldsOf<search::StopRule> {
  static void visit(auto& field, auto& x) {
    field("kind", x.kind);
    field("metric", x.metric);
    field("bound", x.bound);
    field("rules", x.rules);
  }
};

}  // namespace hydro::tune
