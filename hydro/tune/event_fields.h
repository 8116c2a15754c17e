// hydro/tune/event_fields.h — the fields of every event and of what events hold, one list each,
// for both directions (json_fields.h). Names are part of the stored format: renaming one needs
// a new version.
#pragma once

#include "hydro/base/result.h"
#include "hydro/tune/events.h"
#include "hydro/tune/json_fields.h"
#include "hydro/tune/settings_fields.h"
#include "hydro/worker/messages.h"

namespace hydro::tune {

inline constexpr EnumList<Mode, 2> kModes = {{{{Mode::kMax, "max"}, {Mode::kMin, "min"}}}};
inline constexpr EnumList<Outcome, 3> kOutcomes = {{{{Outcome::kFinished, "finished"},
                                                     {Outcome::kInterrupted, "interrupted"},
                                                     {Outcome::kFailed, "failed"}}}};
inline constexpr EnumList<Verb, 8> kVerbs = {{{{Verb::kLaunch, "launch"},
                                               {Verb::kRun, "run"},
                                               {Verb::kDrop, "drop"},
                                               {Verb::kDissolve, "dissolve"},
                                               {Verb::kExport, "export"},
                                               {Verb::kExtract, "extract"},
                                               {Verb::kInsert, "insert"},
                                               {Verb::kDiscard, "discard"}}}};
inline constexpr EnumList<ErrorCode, 8> kErrorCodes = {
    {{{ErrorCode::kInvalidInput, "invalid_input"},
      {ErrorCode::kNotFound, "not_found"},
      {ErrorCode::kUnsupported, "unsupported"},
      {ErrorCode::kCorrupt, "corrupt"},
      {ErrorCode::kIo, "io"},
      {ErrorCode::kUnavailable, "unavailable"},
      {ErrorCode::kOutOfMemory, "out_of_memory"},
      {ErrorCode::kBug, "bug"}}}};

inline constexpr EnumList<SuggestAhead, 2> kSuggestAhead = {
    {{{SuggestAhead::kAll, "all"}, {SuggestAhead::kNone, "none"}}}};

template <>
struct EnumText<Mode> : ListedEnum<Mode, kModes> {};

template <>
struct EnumText<Outcome> : ListedEnum<Outcome, kOutcomes> {};

template <>
struct EnumText<Verb> : ListedEnum<Verb, kVerbs> {};

template <>
struct EnumText<SuggestAhead> : ListedEnum<SuggestAhead, kSuggestAhead> {};

template <>
struct EnumText<ErrorCode> : ListedEnum<ErrorCode, kErrorCodes> {};

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
    field("scheduler", x.scheduler);
    field("stop", x.stop);
    field("suggest_ahead", x.suggest_ahead);
    field("seed", x.seed);
    field("data_seed", x.data_seed);
    field("weights", x.weights);
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
struct FieldsOf<SuggestionAsked> {
  static void visit(auto& field, auto& x) {
    field("first", x.first);
    field("count", x.count);
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
struct FieldsOf<TrialStopped> {
  static void visit(auto& field, auto& x) {
    field("trial", x.trial);
    field("cause", x.cause);
  }
};

template <>
struct FieldsOf<TrialPaused> {
  static void visit(auto& field, auto& x) {
    field("trial", x.trial);
    field("cause", x.cause);
  }
};

template <>
struct FieldsOf<TrialPromoted> {
  static void visit(auto& field, auto& x) {
    field("trial", x.trial);
    field("cause", x.cause);
  }
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
