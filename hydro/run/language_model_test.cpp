// Language models on texts, from job file to delivered target, with a backend that trains by
// script.
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hydro/base/file.h"
#include "hydro/base/result.h"
#include "hydro/base/testing.h"
#include "hydro/data/testing.h"
#include "hydro/data/tokenizer.h"
#include "hydro/job/job.h"
#include "hydro/run/check.h"
#include "hydro/run/check_report.h"
#include "hydro/run/fingerprints.h"
#include "hydro/run/testing.h"
#include "hydro/tune/events.h"

namespace hydro::run {
namespace {

using hydro::testing::words;
using testing::FakeBackend;
using ::testing::HasSubstr;
using testing::start_study;
namespace fs = std::filesystem;

/// A job of tests/data/bytewise.pt2 (blocks of 16) on a text of 20 blocks.
class LanguageModel : public ::testing::Test {
 protected:
  void SetUp() override { write_words("words.txt", (20 * 16) + 5); }

  void write_words(const std::string& name, std::size_t length) const {
    std::string text;
    while (text.size() < length) {
      text += "one fish two fish\n";
    }
    write_text_durably(folder_ / name, text.substr(0, length)).value();
  }

  [[nodiscard]] fs::path write() const {
    const fs::path file = folder_ / "job.yaml";
    write_text_durably(file,
                       "name: words\n"
                       "model: {file: " HYDRO_SOURCE_DIR "/tests/data/" +
                           archive_ + "}\ndata:\n" + data_ +
                           "train:\n"
                           "  task: " +
                           task_ +
                           "\n"
                           "  epochs: 2\n"
                           "  batch_size: 4\n"
                           "  optimizer: {name: adamw, lr: {loguniform: [0.001, 0.1]}}\n"
                           "tune: {num_samples: 3, scaling: 4}\n"
                           "resources: {cores: 2}\n")
        .value();
    return file;
  }

  /// The only refusal, in words.
  [[nodiscard]] std::string refusal() const {
    const CheckReport report =
        check_job({.job = write(), .settings = {}}, FakeBackend(), {}).value();
    return report.refusals.empty() ? "none" : words(Result<void>(report.refusals.front()));
  }

  hydro::testing::TemporaryFolder folder_;
  std::string archive_ = "bytewise.pt2";
  std::string task_ = "language_model";
  std::string data_ =
      "  train: {format: text, path: words.txt, block: 16}\n"
      "  val_share: 0.2\n";
};

TEST_F(LanguageModel, EndsWithTheTargetOfTheLowestLoss) {
  const auto start = start_study(write(), folder_ / "out", FakeBackend());
  ASSERT_EQ(words(start.outcome), "ok");
  EXPECT_EQ(start.outcome->state.study().metric, "val_loss");
  EXPECT_EQ(start.outcome->state.study().mode, tune::Mode::kMin);
  EXPECT_EQ(start.outcome->state.trials.size(), 3U);
  EXPECT_TRUE(fs::exists(folder_ / "out/best/model.safetensors"));
}

TEST_F(LanguageModel, TheKeptJobNamesTokenizerBlockAndTheTextsFingerprint) {
  ASSERT_EQ(words(start_study(write(), folder_ / "out", FakeBackend()).outcome), "ok");
  const std::string text = read_text(folder_ / "out/job.yaml").value();
  const std::string path = (folder_ / "words.txt").string();
  EXPECT_THAT(text, HasSubstr("path: " + path));
  EXPECT_THAT(text, HasSubstr("tokenizer: bytes"));
  EXPECT_THAT(text, ::testing::ContainsRegex("\n# [0-9a-f]{16} " + path + "\n"));
  EXPECT_EQ(words(job::load_job(folder_ / "out/job.yaml")), "ok");
}

TEST_F(LanguageModel, TheKeptJobHasTheTokenizersPathAndFingerprint) {
  std::string text;
  while (text.size() < 4000) {
    text += "one fish two fish red fish blue fish\n";
  }
  const std::string model = (folder_ / "tokens.model").string();
  write_text_durably(folder_ / "words.txt", text).value();
  write_text_durably(model, data::train_tokenizer(text, 275, "words.txt").value()).value();
  data_ =
      "  train: {format: text, path: words.txt, tokenizer: tokens.model, block: 16}\n"
      "  val_share: 0.2\n";
  archive_ = "bytewise.pt2";
  // The model scores 256 tokens.
  EXPECT_THAT(refusal(), HasSubstr("is outside [0, 256)"));
  const job::Job job = job::load_job(write()).value();
  EXPECT_THAT(job::resolved_yaml(job), HasSubstr("tokenizer: " + model));
  EXPECT_THAT(fingerprint_lines(job, {}).value(),
              ::testing::ContainsRegex("\n# [0-9a-f]{16} " + model + "\n"));
}

TEST_F(LanguageModel, AMissingTokenizerIsShownAtItsLineOfTheJob) {
  data_ =
      "  train: {format: text, path: words.txt, tokenizer: none.model, block: 16}\n"
      "  val_share: 0.2\n";
  EXPECT_THAT(refusal(), HasSubstr("H0401"));
  EXPECT_THAT(refusal(), HasSubstr("job.yaml:4"));
}

TEST_F(LanguageModel, StepsCountTheBlocksThatTheTailLeaves) {
  const auto start = start_study(write(), folder_ / "out", FakeBackend());
  ASSERT_EQ(words(start.outcome), "ok");
  // 20 blocks, the last 4 validate: 16 blocks are 4 steps of 4.
  EXPECT_EQ(start.outcome->state.trials.front().common->budget.steps_per_epoch, 4);
}

TEST_F(LanguageModel, ABlockThatTheModelDoesNotTakeNamesBoth) {
  write_words("words.txt", std::size_t{10} * 128);
  data_ = "  train: {format: text, path: words.txt}\n  val_share: 0.2\n";
  EXPECT_THAT(refusal(),
              HasSubstr("H0407: blocks of the text are [128], the model takes [16]"));
}

TEST_F(LanguageModel, EverySplitIsChecked) {
  write_words("short.txt", 16);
  data_ =
      "  train: {format: text, path: words.txt, block: 16}\n"
      "  val: {format: text, path: words.txt, block: 16, limit: 3}\n"
      "  test: {format: text, path: short.txt, block: 16}\n";
  EXPECT_THAT(refusal(), HasSubstr("H0405: the text has 16 tokens, one block of 16 takes 17"));
  write_words("short.txt", 17);
  EXPECT_EQ(refusal(), "none");
  data_ += "  transform: []\n";
  fs::remove(folder_ / "short.txt");
  EXPECT_THAT(refusal(), HasSubstr("H0401"));
}

TEST_F(LanguageModel, ATextOfOneBlockCannotBeShared) {
  write_words("words.txt", 17);
  EXPECT_THAT(refusal(), HasSubstr("H0405: one sample cannot be shared"));
}

TEST_F(LanguageModel, ScoresAreNoLossOfTheModelsOwn) {
  task_ = "model_loss";
  data_ =
      "  train: {format: arrays, inputs: {ids: x.npy}}\n"
      "  val_share: 0.5\n";
  const std::vector<std::int64_t> tokens(std::size_t{8} * 16, 65);
  data::testing::write_bytes(
      folder_ / "x.npy",
      data::testing::npy_bytes("'<i8'", "(8, 16)", hydro::testing::bytes_of(tokens)));
  EXPECT_THAT(refusal(), HasSubstr("H0505: the model's output is no single number"));
}

TEST_F(LanguageModel, OneThatFindsHiddenTokensIsComparedByItsLossToo) {
  task_ = "masked_language_model";
  const auto start = start_study(write(), folder_ / "out", FakeBackend());
  ASSERT_EQ(words(start.outcome), "ok");
  EXPECT_EQ(start.outcome->state.study().metric, "val_loss");
  // 20 blocks of 16 tokens and no token behind the last: 16 of them train.
  EXPECT_EQ(start.outcome->state.trials.front().common->budget.steps_per_epoch, 4);
  EXPECT_THAT(read_text(folder_ / "out/job.yaml").value(), HasSubstr("mask: 0.15"));
}

TEST_F(LanguageModel, HiddenTokensNeedABlockOnly) {
  task_ = "masked_language_model";
  data_ = "  train: {format: text, path: words.txt, block: 16}\n  val_share: 0.5\n";
  write_words("words.txt", 32);
  EXPECT_THAT(refusal(), HasSubstr("H0408"));  // one block each: fewer than a batch
  write_words("words.txt", 31);
  EXPECT_THAT(refusal(), HasSubstr("H0405: one sample cannot be shared"));
}

TEST_F(LanguageModel, AModelThatScoresNoTokensIsRefused) {
  archive_ = "mlp.pt2";
  EXPECT_THAT(refusal(), HasSubstr("H0505: the model's output is not [batch, tokens"));
}

}  // namespace
}  // namespace hydro::run
