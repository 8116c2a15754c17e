#include "hydro/train/objective.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <numbers>
#include <span>
#include <string>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/data/masking.h"
#include "hydro/train/feeder.h"
#include "hydro/worker/settings.h"

namespace hydro::train {
namespace {

std::string shape_text(const at::Tensor& tensor) {
  std::string text = "[";
  for (const std::int64_t size : tensor.sizes()) {
    text += (text.size() > 1 ? ", " : "") + std::to_string(size);
  }
  return text + "]";
}

bool reads_tokens(worker::Task task) {
  return task == worker::Task::kLanguageModel || task == worker::Task::kMaskedLanguageModel;
}

/// [B, T] labels need [B, T, V] scores.
bool scores_every_token(const at::Tensor& output, const at::Tensor& classes) {
  return classes.dim() == 2 && output.dim() == 3 &&
         output.sizes().slice(0, 2).equals(classes.sizes());
}

/// `output` is one trial's.
Result<void> check_output(worker::Task task, const at::Tensor& output, const Batch& batch) {
  if (task == worker::Task::kModelLoss) {
    return output.dim() == 0 ? Result<void>()
                             : make_error("H0505",
                                          "the model's output has shape " + shape_text(output) +
                                              ", a loss is one number");
  }
  if (task == worker::Task::kClassification) {
    if (output.dim() != 2) {
      return make_error("H0505",
                        "the model's output has shape " + shape_text(output) +
                            ", classification needs one score a class: [batch, classes]");
    }
    return {};
  }
  if (reads_tokens(task)) {
    if (!scores_every_token(output, batch.classes)) {
      return make_error("H0505",
                        "the model's output has shape " + shape_text(output) +
                            ", the labels have " + shape_text(batch.classes) +
                            "; a language model scores every token: [batch, tokens, "
                            "vocabulary]");
    }
    return {};
  }
  if (!output.sizes().equals(batch.values.sizes())) {
    return make_error("H0505",
                      "the model's output has shape " + shape_text(output) +
                          ", the targets have " + shape_text(batch.values));
  }
  return {};
}

/// One trial through libtorch's own fused loss.
at::Tensor cross_entropy(const at::Tensor& logits,
                         const at::Tensor& classes,
                         double smoothing) {
  return at::cross_entropy_loss(
      logits, classes, {}, at::Reduction::Mean, /*ignore_index=*/-100, smoothing);
}

/// logits [K, B, C], classes [B] -> [K]
at::Tensor stacked_cross_entropy(const at::Tensor& logits,
                                 const at::Tensor& classes,
                                 std::span<const double> smoothing) {
  const at::Tensor log_shares = at::log_softmax(logits, -1);
  const at::Tensor index = classes.view({1, -1, 1}).expand({logits.size(0), -1, 1});
  at::Tensor hit = -log_shares.gather(-1, index).squeeze(-1).mean(-1);
  if (std::ranges::all_of(smoothing, [](double one) { return one == 0; })) {
    return hit;
  }
  const std::vector<double> shares(smoothing.begin(), smoothing.end());
  const at::Tensor share = at::tensor(shares, logits.options());
  return (hit * (1 - share)) - (share * log_shares.mean(-1).mean(-1));
}

/// Tokens are samples of a classification; those without a label are none.
struct Scored {
  at::Tensor scores;   // [K, N, V], without K for one trial
  at::Tensor classes;  // [N]
};

/// `output` is [K, B, T, V], without K for one trial.
Scored scored_tokens(worker::Task task, const at::Tensor& output, const at::Tensor& classes) {
  Scored all{.scores = output.flatten(-3, -2), .classes = classes.flatten()};
  if (task != worker::Task::kMaskedLanguageModel) {
    return all;
  }
  const at::Tensor chosen = all.classes.ne(data::kNoLabel).nonzero().squeeze(1);
  return {.scores = all.scores.index_select(-2, chosen),
          .classes = all.classes.index_select(0, chosen)};
}

/// The sum of every token's loss: each in the scores' own precision, added in double.
double token_losses(const at::Tensor& scores, const at::Tensor& classes) {
  return at::cross_entropy_loss(scores, classes, {}, at::Reduction::None)
      .sum(at::kDouble)
      .item<double>();
}

double evaluation_loss(worker::Task task,
                       const at::Tensor& output,
                       const Batch& batch,
                       std::int64_t valid) {
  if (task == worker::Task::kClassification) {
    return at::cross_entropy_loss(output.to(at::kDouble),
                                  batch.classes.narrow(0, 0, valid),
                                  {},
                                  at::Reduction::Sum)
        .item<double>();
  }
  const at::Tensor difference = (output - batch.values.narrow(0, 0, valid)).to(at::kDouble);
  return difference.square().flatten(1).mean(1).sum().item<double>();
}

}  // namespace

Result<at::Tensor> training_losses(worker::Task task,
                                   const at::Tensor& output,
                                   const Batch& batch,
                                   std::span<const double> label_smoothing) {
  const bool is_stacked = label_smoothing.size() > 1;
  HYDRO_TRY_VOID(check_output(task, is_stacked ? output[0] : output, batch));
  if (task == worker::Task::kModelLoss) {
    return is_stacked ? output : output.view({1});
  }
  if (task == worker::Task::kRegression) {
    const at::Tensor square = (output - batch.values).square();
    return is_stacked ? square.flatten(1).mean(1) : square.mean().view({1});
  }
  const Scored samples = reads_tokens(task)
                             ? scored_tokens(task, output, batch.classes)
                             : Scored{.scores = output, .classes = batch.classes};
  return is_stacked ? stacked_cross_entropy(samples.scores, samples.classes, label_smoothing)
                    : cross_entropy(samples.scores, samples.classes, label_smoothing.front())
                          .view({1});
}

Result<void> Tally::add(const at::Tensor& output, const Batch& batch, std::int64_t valid) {
  HYDRO_TRY_VOID(check_output(task_, output, batch));
  if (task_ == worker::Task::kModelLoss) {
    loss_ += output.item<double>() * static_cast<double>(valid);
    count_ += valid;
    return {};
  }
  const at::Tensor real = output.narrow(0, 0, valid);
  if (reads_tokens(task_)) {
    const Scored tokens = scored_tokens(task_, real, batch.classes.narrow(0, 0, valid));
    add_tokens(tokens.scores, tokens.classes);
    return {};
  }
  loss_ += evaluation_loss(task_, real, batch, valid);
  count_ += valid;
  if (task_ == worker::Task::kClassification) {
    add_hits(real, batch.classes.narrow(0, 0, valid));
  }
  return {};
}

void Tally::add_tokens(const at::Tensor& scores, const at::Tensor& classes) {
  loss_ += token_losses(scores, classes);
  count_ += classes.numel();
  if (task_ == worker::Task::kMaskedLanguageModel) {
    hits_ += scores.argmax(-1).eq(classes).sum().item<std::int64_t>();
  }
}

void Tally::add_hits(const at::Tensor& output, const at::Tensor& classes) {
  hits_ += output.argmax(1).eq(classes).sum().item<std::int64_t>();
  has_top5_ = output.size(1) > worker::kTopGuesses;
  if (has_top5_) {
    const at::Tensor best = std::get<1>(output.topk(worker::kTopGuesses, 1));
    hits_of_five_ += best.eq(classes.unsqueeze(1)).sum().item<std::int64_t>();
  }
}

std::map<std::string, double> Tally::metrics(const std::string& split) const {
  const auto mean = [&](auto sum) {
    return static_cast<double>(sum) / static_cast<double>(count_);
  };
  std::map<std::string, double> found = {{split + "_loss", mean(loss_)}};
  if (task_ == worker::Task::kClassification) {
    found[split + "_accuracy"] = mean(hits_);
    if (has_top5_) {
      found[split + "_top5"] = mean(hits_of_five_);
    }
  }
  if (task_ == worker::Task::kMaskedLanguageModel) {
    found[split + "_accuracy"] = mean(hits_);
  }
  if (reads_tokens(task_)) {
    found[split + "_perplexity"] = std::exp(mean(loss_));
    if (text_bytes_) {
      found[split + "_bits_per_byte"] =
          loss_ / std::numbers::ln2 / static_cast<double>(*text_bytes_);
    }
  }
  return found;
}

}  // namespace hydro::train
