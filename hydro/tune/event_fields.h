// hydro/tune/event_fields.h — the fields of every event and of what events hold, one list each,
// for both directions (json_fields.h). Names are part of the stored format: renaming one needs
// a new version.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "hydro/base/result.h"
#include "hydro/tune/events.h"
#include "hydro/tune/json_fields.h"
#include "hydro/worker/messages.h"
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

inline constexpr EnumList<Mode, 2> kModes = {{{{Mode::kMax, "max"}, {Mode::kMin, "min"}}}};
inline constexpr EnumList<Outcome, 3> kOutcomes = {{{{Outcome::kFinished, "finished"},
                                                     {Outcome::kInterrupted, "interrupted"},
                                                     {Outcome::kFailed, "failed"}}}};
inline constexpr EnumList<Verb, 5> kVerbs = {{{{Verb::kLaunch, "launch"},
                                               {Verb::kRun, "run"},
                                               {Verb::kDrop, "drop"},
                                               {Verb::kDissolve, "dissolve"},
                                               {Verb::kExport, "export"}}}};
inline constexpr EnumList<worker::Span::Unit, 3> kUnits = {
    {{{worker::Span::Unit::kShare, "share"},
      {worker::Span::Unit::kEpochs, "epochs"},
      {worker::Span::Unit::kSteps, "steps"}}}};
inline constexpr EnumList<ErrorCode, 8> kErrorCodes = {
    {{{ErrorCode::kInvalidInput, "invalid_input"},
      {ErrorCode::kNotFound, "not_found"},
      {ErrorCode::kUnsupported, "unsupported"},
      {ErrorCode::kCorrupt, "corrupt"},
      {ErrorCode::kIo, "io"},
      {ErrorCode::kUnavailable, "unavailable"},
      {ErrorCode::kOutOfMemory, "out_of_memory"},
      {ErrorCode::kBug, "bug"}}}};

template <class T, const auto& List>
struct ListedEnum {
  static std::string_view text(T value) { return List.text(value); }

  static std::optional<T> find(std::string_view name) { return List.find(name); }
};

template <>
struct EnumText<Mode> : ListedEnum<Mode, kModes> {};

template <>
struct EnumText<Outcome> : ListedEnum<Outcome, kOutcomes> {};

template <>
struct EnumText<Verb> : ListedEnum<Verb, kVerbs> {};

template <>
struct EnumText<worker::Span::Unit> : ListedEnum<worker::Span::Unit, kUnits> {};

template <>
struct EnumText<ErrorCode> : ListedEnum<ErrorCode, kErrorCodes> {};

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
struct FieldsOf<worker::Report> {
  static void visit(auto& field, auto& x) {
    field("trial", x.trial);
    field("step", x.step);
    field("epoch", x.epoch);
    field("metrics", x.metrics);
  }
};

template <>
struct FieldsOf<Error> {
  static void visit(auto& field, auto& x) {
    field("id", x.id);
    field("code", x.code);
    field("what", x.what);
    field("where", x.where);
    field("why", x.why);
    field("remedy", x.remedy);
    field("kept", x.kept);
    field("excerpt", x.excerpt);
  }
};

template <>
struct FieldsOf<StudySettings> {
  static void visit(auto& field, auto& x) {
    field("name", x.name);
    field("metric", x.metric);
    field("mode", x.mode);
    field("trials", x.trials);
    field("slots", x.slots);
    field("surrogate_threads", x.surrogate_threads);
    field("target_threads", x.target_threads);
    field("fusion", x.fusion);
    field("max_concurrent_trials", x.max_concurrent_trials);
    field("scaling", x.scaling);
    field("drop_last", x.drop_last);
    field("evaluate_test", x.evaluate_test);
    field("retry_worse_target", x.retry_worse_target);
    field("seed", x.seed);
    field("data_seed", x.data_seed);
    field("weights", x.weights);
    field("suggest_ahead", x.suggest_ahead);
  }
};

template <>
struct FieldsOf<StudyOpened> {
  static void visit(auto& field, auto& x) {
    field("settings", x.settings);
    field("process_start_ns", x.process_start_ns);
  }
};

template <>
struct FieldsOf<Prepared> {
  static void visit(auto& /*field*/, auto& /*x*/) {}
};

template <>
struct FieldsOf<TrialSuggested> {
  static void visit(auto& field, auto& x) {
    field("id", x.id);
    field("config", x.config);
    field("model", x.model);
    field("target_model", x.target_model);
    field("batch_size", x.batch_size);
    field("budget", x.budget);
    field("settings", x.settings);
    field("cost_per_sample", x.cost_per_sample);
  }
};

template <>
struct FieldsOf<SuggestionsExhausted> {
  static void visit(auto& /*field*/, auto& /*x*/) {}
};

template <>
struct FieldsOf<PlannedContainer> {
  static void visit(auto& field, auto& x) {
    field("id", x.id);
    field("trials", x.trials);
  }
};

template <>
struct FieldsOf<ContainersPlanned> {
  static void visit(auto& field, auto& x) { field("containers", x.containers); }
};

template <>
struct FieldsOf<OrderNote> {
  static void visit(auto& field, auto& x) {
    field("verb", x.verb);
    field("container", x.container);
    field("trial", x.trial);
    field("to", x.to);
    field("path", x.path);
  }
};

template <>
struct FieldsOf<CommandIssued> {
  static void visit(auto& field, auto& x) {
    field("id", x.id);
    field("slot", x.slot);
    field("order", x.order);
  }
};

template <>
struct FieldsOf<Reported> {
  static void visit(auto& field, auto& x) {
    field("command", x.command);
    field("report", x.report);
  }
};

template <>
struct FieldsOf<TrialDiverged> {
  static void visit(auto& field, auto& x) {
    field("command", x.command);
    field("trial", x.trial);
    field("step", x.step);
    field("cause", x.cause);
  }
};

template <>
struct FieldsOf<CommandDone> {
  static void visit(auto& field, auto& x) {
    field("command", x.command);
    field("step", x.step);
  }
};

template <>
struct FieldsOf<CommandStopped> {
  static void visit(auto& field, auto& x) {
    field("command", x.command);
    field("step", x.step);
  }
};

template <>
struct FieldsOf<CommandFailed> {
  static void visit(auto& field, auto& x) {
    field("command", x.command);
    field("error", x.error);
  }
};

template <>
struct FieldsOf<CommandLost> {
  static void visit(auto& field, auto& x) { field("command", x.command); }
};

template <>
struct FieldsOf<TrialFinished> {
  static void visit(auto& field, auto& x) { field("trial", x.trial); }
};

template <>
struct FieldsOf<TrialFailed> {
  static void visit(auto& field, auto& x) {
    field("trial", x.trial);
    field("cause", x.cause);
  }
};

template <>
struct FieldsOf<TargetStarted> {
  static void visit(auto& field, auto& x) {
    field("trial", x.trial);
    field("container", x.container);
  }
};

template <>
struct FieldsOf<TargetFinished> {
  static void visit(auto& field, auto& x) { field("trial", x.trial); }
};

template <>
struct FieldsOf<TargetFailed> {
  static void visit(auto& field, auto& x) {
    field("trial", x.trial);
    field("cause", x.cause);
  }
};

template <>
struct FieldsOf<SearcherFailed> {
  static void visit(auto& field, auto& x) {
    field("attempt", x.attempt);
    field("cause", x.cause);
  }
};

template <>
struct FieldsOf<StopRequested> {
  static void visit(auto& /*field*/, auto& /*x*/) {}
};

template <>
struct FieldsOf<StudyClosed> {
  static void visit(auto& field, auto& x) {
    field("outcome", x.outcome);
    field("error", x.error);
    field("cause", x.cause);
  }
};

}  // namespace hydro::tune
