// hydro/worker/settings.h — a trial's training settings as plain values, and learning-rate
// schedules as pure functions of the step.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace hydro::worker {

enum class OptimizerKind : std::uint8_t { kSgd, kAdam, kAdamW };

struct Optimizer {
  OptimizerKind kind = OptimizerKind::kSgd;
  double lr = 0;
  double momentum = 0;    // SGD
  double dampening = 0;   // SGD
  bool nesterov = false;  // SGD
  double beta1 = 0.9;     // Adam, AdamW
  double beta2 = 0.999;
  double eps = 1e-8;
  bool amsgrad = false;
  double weight_decay =
      0;  // SGD, Adam: L2; AdamW: decoupled, torch style (decay = lr x weight_decay)
  bool operator==(const Optimizer&) const = default;
};

/// A stretch of training: a share of the whole budget, epochs, or steps.
struct Span {
  enum class Unit : std::uint8_t { kShare, kEpochs, kSteps };
  double amount = 0;
  Unit unit = Unit::kSteps;
  bool operator==(const Span&) const = default;
};

enum class ScheduleKind : std::uint8_t { kConstant, kStep, kCosine, kLinear };

struct Schedule {
  ScheduleKind kind = ScheduleKind::kConstant;
  Span warmup;
  Span step_size;    // kStep
  double gamma = 1;  // kStep
  bool operator==(const Schedule&) const = default;
};

/// What the loss compares. kLanguageModel: the scores of every token with the token that comes
/// next. kMaskedLanguageModel: the scores of hidden tokens with what they were. kModelLoss:
/// nothing; the model's output is the loss.
enum class Task : std::uint8_t {
  kClassification,
  kRegression,
  kLanguageModel,
  kMaskedLanguageModel,
  kModelLoss
};

/// The guesses of val_top5; fewer classes, or as many, report none.
constexpr std::int64_t kTopGuesses = 5;

/// How much training a trial gets. With drop_last an epoch is floor(samples / batch) steps,
/// else ceil.
struct Budget {
  std::int64_t steps = 0;  // whole training
  std::int64_t steps_per_epoch = 0;
  std::int64_t evaluate_every = 0;  // steps between evaluations; the last step always evaluates
  bool operator==(const Budget&) const = default;
};

/// The evaluation at `step`, or the next one, counted from 1.
///
/// Requires: evaluate_every at least 1 (BugError)
[[nodiscard]] std::int64_t evaluation_at(const Budget& budget, std::int64_t step);

/// Passes over the training data after `step` steps.
///
/// Requires: an epoch has a step (BugError)
[[nodiscard]] double epoch_at(const Budget& budget, std::int64_t step);

/// Numbers that may differ between the trials of one container.
struct TrialSettings {
  Optimizer optimizer;              // kind, nesterov, amsgrad must agree inside a container
  Schedule schedule;                // kind must agree inside a container
  std::optional<double> clip_norm;  // presence must agree inside a container
  double label_smoothing = 0;
  bool bf16 = false;  // mixed precision; must agree inside a container
  bool operator==(const TrialSettings&) const = default;
};

/// Steps that `span` covers, not rounded: share x budget.steps, epochs x steps_per_epoch, or
/// steps.
[[nodiscard]] double steps_of(const Span& span, const Budget& budget);

/// Factor on the base learning rate at step t (0-based) of budget.steps = T with w warm-up
/// steps: (t+1)/w while t < w; then with p = (t-w)/(T-w): step gamma^floor(t/step_size), cosine
/// (1+cos(pi p))/2, linear 1-p, constant 1. Source: DESIGN "Transferable hyperparameters".
[[nodiscard]] double lr_factor(const Schedule& schedule,
                               const Budget& budget,
                               std::int64_t step);

/// "classification", "masked_language_model" and so on, and back.
[[nodiscard]] std::string_view task_name(Task task);
[[nodiscard]] std::optional<Task> find_task(std::string_view name);
/// "sgd", "adam", "adamw" and back.
[[nodiscard]] std::string_view optimizer_name(OptimizerKind kind);
[[nodiscard]] std::optional<OptimizerKind> find_optimizer(std::string_view name);
[[nodiscard]] std::string_view schedule_name(ScheduleKind kind);
[[nodiscard]] std::optional<ScheduleKind> find_schedule(std::string_view name);

}  // namespace hydro::worker
