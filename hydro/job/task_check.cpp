// Which data a task can be trained on: what it compares must be in the format.
#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "hydro/base/result.h"
#include "hydro/base/text.h"
#include "hydro/job/job.h"
#include "hydro/job/node.h"
#include "hydro/job/reader.h"
#include "hydro/job/sections.h"
#include "hydro/worker/settings.h"

namespace hydro::job {
namespace {

/// What a task compares with, and which formats have it.
struct Comparison {
  worker::Task task;
  bool text;
  bool idx;
  bool target;  // arrays have one
  bool arrays = true;
  std::string_view why;
  std::string_view formats;
};

constexpr auto kComparisons = std::to_array<Comparison>({
    {.task = worker::Task::kClassification,
     .text = false,
     .idx = true,
     .target = true,
     .why = "a text has no classes: its labels are its own tokens, one further",
     .formats = "write task: language_model, or use format: idx or arrays"},
    {.task = worker::Task::kRegression,
     .text = false,
     .idx = true,
     .target = true,
     .why = "a text has no values: its labels are its own tokens, one further",
     .formats = "write task: language_model, or use format: arrays"},
    {.task = worker::Task::kLanguageModel,
     .text = true,
     .idx = false,
     .target = true,
     .why = "a language model needs tokens, each with the one that follows",
     .formats = "use format: text, or arrays with a target [N, T]"},
    {.task = worker::Task::kMaskedLanguageModel,
     .text = true,
     .idx = false,
     .target = false,
     .arrays = false,
     .why = "tokens of a text are hidden, and are their own labels",
     .formats = "use format: text"},
    {.task = worker::Task::kModelLoss,
     .text = false,
     .idx = false,
     .target = false,
     .why = "the model's output is the loss: whatever it compares is one of its inputs",
     .formats = "use format: arrays with one input for each of the model's"},
});

/// A target beside a model that has its own loss, or none where one is needed.
Result<void> check_target(const Reader& reader,
                          const Node& split_node,
                          const Comparison& comparison) {
  const Node* target = split_node.find("target");
  if (comparison.target == (target != nullptr)) {
    return {};
  }
  if (target == nullptr) {
    return reader.error(split_node, "H0106", "`target` is missing here");
  }
  return reader.error(*target, "H0109", "`target` stands beside `task: model_loss`")
      .because(std::string(comparison.why))
      .fix("name the array under `inputs` as the model's input is named");
}

Result<void> check_format(const Reader& reader,
                          const Node& split_node,
                          const Split& split,
                          const Comparison& comparison) {
  if (comparison.arrays && std::holds_alternative<ArrayFiles>(split.files)) {
    return check_target(reader, split_node, comparison);
  }
  if (split.is_text() ? comparison.text : comparison.idx) {
    return {};
  }
  const Node& format = *split_node.find("format");
  return reader
      .error(format,
             "H0109",
             "`format: " + format.text + "` stands beside `task: " +
                 std::string(worker::task_name(comparison.task)) + "`")
      .because(std::string(comparison.why))
      .fix(std::string(comparison.formats));
}

/// What splits are cut into: a token must mean the same in all.
Result<void> check_same_tokens(const Reader& reader,
                               const Node& split_node,
                               const Split& train,
                               const Split& other,
                               std::string_view key) {
  const auto* left = std::get_if<TextFile>(&train.files);
  const auto* right = std::get_if<TextFile>(&other.files);
  if (left == nullptr || right == nullptr || left->tokenizer == right->tokenizer) {
    return {};
  }
  const Node* tokenizer = split_node.find("tokenizer");
  return reader
      .error(tokenizer == nullptr ? split_node : *tokenizer,
             "H0109",
             "`data." + std::string(key) + "` has another tokenizer than `data.train`")
      .because("the same number would be another token")
      .fix(left->tokenizer.empty() ? "remove `tokenizer` here, or name it in `data.train` too"
                                   : "write tokenizer: " + printable(left->tokenizer.string()));
}

}  // namespace

Result<void> check_task(const Reader& reader,
                        const Node& data_node,
                        const DataSection& data,
                        worker::Task task) {
  const auto* comparison = std::ranges::find(kComparisons, task, &Comparison::task);
  HYDRO_CHECK(comparison != kComparisons.end());
  HYDRO_TRY_VOID(check_format(reader, *data_node.find("train"), data.train, *comparison));
  bool has_text = data.train.is_text();
  for (const auto& [key, split] : {std::pair{"val", &data.val}, {"test", &data.test}}) {
    if (split->has_value()) {
      const Node& node = *data_node.find(key);
      HYDRO_TRY_VOID(check_format(reader, node, **split, *comparison));
      HYDRO_TRY_VOID(check_same_tokens(reader, node, data.train, **split, key));
      has_text = has_text || (*split)->is_text();
    }
  }
  if (has_text && !data.transform.empty()) {
    return reader
        .error(
            *data_node.find("transform"), "H0109", "`transform` stands beside `format: text`")
        .because("transforms are for images")
        .fix("remove `transform`");
  }
  return {};
}

}  // namespace hydro::job
