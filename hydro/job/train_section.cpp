// The `train:` section.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/base/text.h"
#include "hydro/job/job.h"
#include "hydro/job/node.h"
#include "hydro/job/optimizer_section.h"
#include "hydro/job/reader.h"
#include "hydro/job/schema.h"
#include "hydro/job/sections.h"
#include "hydro/worker/settings.h"

namespace hydro::job {
namespace {

using worker::Span;

constexpr double kEvaluationsOfSteps = 10;
constexpr double kMaskedShare = 0.15;

Result<void> read_task(const Reader& reader,
                       const Node& node,
                       const Row<TrainValues>& row,
                       TrainValues& out) {
  const std::string word = node.is_scalar() ? node.text : std::string();
  const auto task = worker::find_task(word);
  if (!task) {
    return reader.wrong(node, row.key, row.type);
  }
  out.task = *task;
  return {};
}

/// Only a masked language model hides tokens.
template <const auto& Read>
Result<void> read_masking(const Reader& reader,
                          const Node& node,
                          const Row<TrainValues>& row,
                          TrainValues& out) {
  if (out.task != worker::Task::kMaskedLanguageModel) {
    return reader
        .error(node,
               "H0109",
               "`" + std::string(row.key) +
                   "` stands beside `task: " + std::string(worker::task_name(out.task)) + "`")
        .because("only a masked language model has tokens hidden")
        .fix("remove `" + std::string(row.key) + "`, or write task: masked_language_model");
  }
  return Read(reader, node, row, out);
}

Result<void> read_every(const Reader& reader,
                        const Node& node,
                        const Row<TrainValues>& row,
                        TrainValues& out) {
  const auto span = as_span(node);
  const bool fits =
      span && span->amount > 0 && (span->unit != Span::Unit::kShare || span->amount <= 1);
  if (!fits) {
    return reader.wrong(node, row.key, row.type);
  }
  out.evaluate_every = *span;
  return {};
}

constexpr auto kEvaluateRows = std::to_array<Row<TrainValues>>({
    {"every",
     "a share (10%), epochs (1 epoch) or steps (300)",
     "",
     "from one evaluation to the next",
     &read_every},
});

Result<void> read_evaluate(const Reader& reader,
                           const Node& node,
                           const Row<TrainValues>& row,
                           TrainValues& out) {
  return read_rows(
      reader, node, row.key, std::span<const Row<TrainValues>>(kEvaluateRows), out);
}

Result<void> read_optimizer_row(const Reader& reader,
                                const Node& node,
                                const Row<TrainValues>& /*row*/,
                                TrainValues& out) {
  HYDRO_TRY(out.settings.optimizer, read_optimizer(reader, node));
  return {};
}

/// A boundary at or behind the end of training never fires.
bool never_fires(const Span& step_size, const TrainSection& train) {
  switch (step_size.unit) {
    case Span::Unit::kShare:
      return step_size.amount >= 1;
    case Span::Unit::kEpochs:
      return train.epochs && step_size.amount >= static_cast<double>(*train.epochs);
    case Span::Unit::kSteps:
      return train.steps && step_size.amount >= static_cast<double>(*train.steps);
  }
  return false;
}

Result<void> read_schedule_row(const Reader& reader,
                               const Node& node,
                               const Row<TrainValues>& /*row*/,
                               TrainValues& out) {
  HYDRO_TRY(out.settings.schedule, read_schedule(reader, node));
  const worker::Schedule& schedule = out.settings.schedule;
  if (schedule.kind == worker::ScheduleKind::kStep && never_fires(schedule.step_size, out)) {
    out.warnings.push_back(reader.error(
        *node.find("step_size"),
        "H0141",
        "the first boundary, after " + span_text(schedule.step_size) + ", never fires"));
  }
  return {};
}

Result<void> read_label_smoothing(const Reader& reader,
                                  const Node& node,
                                  const Row<TrainValues>& row,
                                  TrainValues& out) {
  const auto value = as_number(node);
  const bool usable = value && *value >= 0 && *value < 1;  // not for NaN
  if (!usable) {
    return reader.wrong(node, row.key, row.type);
  }
  const bool has_labels = out.task == worker::Task::kClassification ||
                          out.task == worker::Task::kLanguageModel ||
                          out.task == worker::Task::kMaskedLanguageModel;
  if (*value > 0 && !has_labels) {
    return reader
        .error(node,
               "H0109",
               "`label_smoothing` stands beside `task: " +
                   std::string(worker::task_name(out.task)) + "`")
        .because("there are no labels to smooth");
  }
  out.settings.label_smoothing = *value;
  return {};
}

Result<void> read_clip_norm(const Reader& reader,
                            const Node& node,
                            const Row<TrainValues>& row,
                            TrainValues& out) {
  const auto value = as_number(node);
  if (!value || !std::isfinite(*value) || *value <= 0) {
    return reader.wrong(node, row.key, row.type);
  }
  out.settings.clip_norm = value;
  return {};
}

Result<void> read_amp(const Reader& reader,
                      const Node& node,
                      const Row<TrainValues>& row,
                      TrainValues& out) {
  if (!node.is_scalar() || (node.text != "bf16" && node.text != "off")) {
    return reader.wrong(node, row.key, row.type);
  }
  out.settings.bf16 = node.text == "bf16";
  return {};
}

constexpr auto kReadShare = &read_number<&TrainSection::mask,
                                         Limits{.low = 0, .high = 1, .low_open = true},
                                         TrainValues>;
constexpr auto kReadMaskToken = &read_integer<&TrainSection::mask_token, 0, TrainValues>;

constexpr auto kRows = std::to_array<Row<TrainValues>>({
    {"task",
     "classification, regression, language_model, masked_language_model or model_loss",
     "",
     "sets loss, metrics, default metric and mode",
     &read_task},
    {"mask",
     "a number above 0 and at most 1",
     "",
     "share of the tokens that a masked language model has to find",
     &read_masking<kReadShare>},
    {"mask_token",
     "an integer of at least 0",
     "",
     "what stands for a hidden token",
     &read_masking<kReadMaskToken>},
    {"epochs",
     "an integer from 1 to a billion",
     "",
     "length of training",
     &read_count<&TrainSection::epochs, TrainValues>},
    {"steps",
     "an integer from 1 to a billion",
     "",
     "length of training, instead of epochs",
     &read_count<&TrainSection::steps, TrainValues>},
    {"evaluate",
     "a mapping such as {every: 1 epoch}",
     "",
     "when trials report",
     &read_evaluate},
    {"drop_last",
     "true or false",
     "true",
     "leave out the last batch of an epoch when it is not full",
     &read_bool<&TrainSection::drop_last, TrainValues>},
    {"batch_size",
     "an integer from 1 to a billion",
     "",
     "samples a step",
     &read_count<&TrainValues::batch_size, TrainValues>},
    {"optimizer",
     "a mapping with a name: sgd, adam or adamw",
     "",
     "how weights move",
     &read_optimizer_row},
    {"schedule",
     "a mapping with a name: constant, step, cosine or linear",
     "constant",
     "the learning rate over time",
     &read_schedule_row},
    {"label_smoothing",
     "a number in [0, 1)",
     "0",
     "share of the label spread over all classes",
     &read_label_smoothing},
    {"clip_norm", "a number above 0", "", "limit on the norm of the gradient", &read_clip_norm},
    {"amp", "bf16 or off", "off", "mixed precision", &read_amp},
});

Result<void> check_budget(const Reader& reader, const Node& node, const TrainValues& train) {
  if (train.epochs && train.steps) {
    return reader.error(*node.find("steps"), "H0109", "`train` has both `epochs` and `steps`")
        .fix("keep one of them");
  }
  for (const std::string_view key : {"task", "batch_size", "optimizer"}) {
    if (node.find(key) == nullptr) {
      return reader.error(node, "H0106", "`train` needs `" + std::string(key) + "`");
    }
  }
  if (!train.epochs && !train.steps) {
    return reader.error(node, "H0106", "`train` needs `epochs` or `steps`");
  }
  return {};
}

}  // namespace

Result<TrainValues> read_train(const Reader& reader, const Node& node) {
  TrainValues train;
  HYDRO_TRY_VOID(
      read_rows(reader, node, "train", std::span<const Row<TrainValues>>(kRows), train));
  HYDRO_TRY_VOID(check_budget(reader, node, train));
  if (train.task == worker::Task::kMaskedLanguageModel && train.mask == 0) {
    train.mask = kMaskedShare;
  }
  if (train.evaluate_every.amount == 0) {
    train.evaluate_every =
        train.epochs ? Span{.amount = 1, .unit = Span::Unit::kEpochs}
                     : Span{.amount = 1 / kEvaluationsOfSteps, .unit = Span::Unit::kShare};
  }
  return train;
}

void complete_train(Node& node) {
  fill_defaults(node, std::span<const Row<TrainValues>>(kRows));
  if (node.find("evaluate") == nullptr) {
    node.set(
        "evaluate",
        parse_default(node.find("epochs") != nullptr ? "{every: 1 epoch}" : "{every: 10%}"));
  }
  if (node.find("task")->text == "masked_language_model") {
    node.add("mask", parse_default(plain_number(kMaskedShare)));
  }
  complete_optimizer(*node.find("optimizer"));
  complete_schedule(*node.find("schedule"));
}

worker::Budget budget(const TrainSection& train,
                      std::int64_t samples,
                      std::int64_t batch_size) {
  HYDRO_CHECK(samples >= 1 && batch_size >= 1);
  worker::Budget out;
  out.steps_per_epoch =
      train.drop_last ? samples / batch_size : (samples + batch_size - 1) / batch_size;
  if (train.epochs) {
    out.steps = *train.epochs * out.steps_per_epoch;
  } else {
    HYDRO_CHECK(train.steps.has_value(), "neither epochs nor steps");
    out.steps = *train.steps;
  }
  // Rounded up, so that `10%` gives ten evaluations and not eleven.
  constexpr double kSlack = 1e-9;
  const double every = std::ceil(worker::steps_of(train.evaluate_every, out) - kSlack);
  out.evaluate_every = std::max<std::int64_t>(1, static_cast<std::int64_t>(every));
  return out;
}

void list_train(std::vector<KnownKey>& keys) {
  list_rows("train", std::span<const Row<TrainValues>>(kRows), keys);
  list_rows("evaluate", std::span<const Row<TrainValues>>(kEvaluateRows), keys);
  list_optimizers(keys);
}

}  // namespace hydro::job
