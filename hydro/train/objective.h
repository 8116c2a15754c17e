// hydro/train/objective.h — losses and metrics, one number a trial. The loss of a container is
// the sum over its trials of each trial's mean, so that no trial's gradient knows how many
// others there are.
//
// Shapes: outputs [K, B, ...], without K for one trial; classes [B], of a language model [B, T]
// with scores [B, T, V]; values [B, ...]; losses [K]
// Thread-safety: pure functions.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/ops/torch.h"
#include "hydro/train/feeder.h"
#include "hydro/worker/settings.h"

namespace hydro::train {

/// Each trial's mean training loss: cross-entropy with its own label smoothing (of a language
/// model over all tokens, of a masked one over the hidden ones), mean squared error, or the
/// model's own.
///
/// Errors: H0505, an output that does not fit the task
[[nodiscard]] Result<at::Tensor> training_losses(worker::Task task,
                                                 const at::Tensor& output,
                                                 const Batch& batch,
                                                 std::span<const double> label_smoothing);

/// Sums over samples of one trial's evaluation, for means weighted by samples; of a language
/// model over tokens, of a masked one over those that were hidden.
class Tally {
 public:
  /// `text_bytes`: what all labels of a text together stand for; nothing: they are no text.
  explicit Tally(worker::Task task, std::optional<std::int64_t> text_bytes = {})
      : task_(task), text_bytes_(text_bytes) {}

  /// Adds the first `valid` samples of a batch; the rest is padding. `output` is one trial's.
  /// The loss is without label smoothing. With a model's own loss the batch has no padding.
  ///
  /// Errors: H0505
  [[nodiscard]] Result<void> add(const at::Tensor& output,
                                 const Batch& batch,
                                 std::int64_t valid);
  /// "<split>_loss"; for classification "<split>_accuracy" and, with more than five classes,
  /// "<split>_top5"; for a language model "<split>_perplexity" and, of a text,
  /// "<split>_bits_per_byte"; for a masked one "<split>_accuracy" and "<split>_perplexity".
  [[nodiscard]] std::map<std::string, double> metrics(const std::string& split) const;

 private:
  void add_tokens(const at::Tensor& scores, const at::Tensor& classes);
  void add_hits(const at::Tensor& output, const at::Tensor& classes);

  worker::Task task_;
  std::optional<std::int64_t> text_bytes_;
  double loss_ = 0;
  std::int64_t count_ = 0;  // samples, or tokens
  std::int64_t hits_ = 0;
  std::int64_t hits_of_five_ = 0;
  bool has_top5_ = false;
};

}  // namespace hydro::train
