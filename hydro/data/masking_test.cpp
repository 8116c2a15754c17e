#include "hydro/data/masking.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "hydro/base/result.h"
#include "hydro/base/testing.h"
#include "hydro/data/dataset.h"
#include "hydro/data/testing.h"

namespace hydro::data {
namespace {

using hydro::testing::TemporaryFolder;
using hydro::testing::to_bytes;
using hydro::testing::words;

using Integers = std::vector<std::int64_t>;

constexpr Masking kMasking = {.share = 0.4, .token = 256, .vocabulary = 256};
constexpr std::uint64_t kSeed = 7;

struct Hidden {
  Integers tokens;
  Integers labels;
  bool operator==(const Hidden&) const = default;
};

/// What becomes of `tokens` as sample `sample`.
Hidden hidden(Integers tokens,
              std::int64_t sample,
              Use use = Use::kEvaluation,
              std::int64_t epoch = 0,
              const Masking& masking = kMasking) {
  Integers labels(tokens.size());
  hide_tokens(masking, masking_key(kSeed, use, epoch), sample, tokens, labels);
  return {.tokens = std::move(tokens), .labels = std::move(labels)};
}

Integers twenty() {
  Integers tokens(20);
  std::iota(tokens.begin(), tokens.end(), 100);
  return tokens;
}

TEST(Masking, HidesWhatTheDocumentedNumbersSay) {
  // From tests/command_line/hiding.py, which was written from docs/data.md.
  const Hidden third = hidden(twenty(), 2);
  EXPECT_EQ(third.tokens, (Integers{256, 101, 102, 1,   256, 105, 106, 107, 108, 109,
                                    110, 111, 256, 256, 114, 115, 116, 117, 256, 119}));
  EXPECT_EQ(third.labels,
            (Integers{100,  -100, -100, 103, 104,  -100, -100, -100, -100, -100,
                      -100, -100, 112,  113, -100, 115,  116,  -100, 118,  -100}));
  EXPECT_EQ(hidden(twenty(), 2, Use::kTraining, 2).tokens,
            (Integers{100, 101, 256, 256, 256, 105, 256, 256, 108, 256,
                      110, 111, 112, 113, 114, 115, 256, 117, 118, 119}));
}

TEST(Masking, ChoosesTheShareRoundedAndAtLeastOne) {
  EXPECT_EQ(chosen_count(0.15, 20), 3);
  EXPECT_EQ(chosen_count(0.15, 128), 19);  // 19.2
  EXPECT_EQ(chosen_count(0.15, 64), 10);   // 9.6
  EXPECT_EQ(chosen_count(0.15, 2), 1);
  EXPECT_EQ(chosen_count(1, 9), 9);
}

TEST(Masking, TheThreeFatesAndTheOthersHaveTheirExactNumbers) {
  constexpr Masking kUsual = {.share = 0.15, .token = 256, .vocabulary = 256};
  std::int64_t chosen = 0;
  std::int64_t masked = 0;
  std::int64_t replaced = 0;
  for (std::int64_t sample = 0; sample < 2000; ++sample) {
    const Hidden one = hidden(Integers(20, 50), sample, Use::kEvaluation, 0, kUsual);
    const auto labels = std::ranges::count(one.labels, 50);
    EXPECT_EQ(labels, 3);
    chosen += labels;
    masked += std::ranges::count(one.tokens, 256);
    replaced += 20 - std::ranges::count(one.tokens, 256) - std::ranges::count(one.tokens, 50);
  }
  EXPECT_EQ(chosen, 6000);
  EXPECT_EQ(masked, 4806);   // 80 %: 4800 +- 31
  EXPECT_EQ(replaced, 606);  // 10 % less those that drew a 50: 598 +- 23
}

TEST(Masking, EveryPlaceIsChosenEquallyOften) {
  std::vector<int> often(10);
  for (std::int64_t sample = 0; sample < 4000; ++sample) {
    const Hidden one = hidden(Integers(10, 5), sample);
    for (std::size_t place = 0; place < 10; ++place) {
      often[place] += one.labels[place] == 5 ? 1 : 0;
    }
  }
  for (const int count : often) {
    EXPECT_NEAR(count, 1600, 4 * 31);  // 4 standard deviations
  }
}

TEST(Masking, OtherTokensComeFromTheWholeVocabularyAndNoOther) {
  constexpr Masking kSmall = {.share = 1, .token = 9, .vocabulary = 4};
  std::vector<int> often(4);
  for (std::int64_t sample = 0; sample < 1000; ++sample) {
    for (const std::int64_t token :
         hidden(Integers(8, 7), sample, Use::kEvaluation, 0, kSmall).tokens) {
      if (token != 9 && token != 7) {
        ++often.at(static_cast<std::size_t>(token));
      }
    }
  }
  for (const int count : often) {
    EXPECT_NEAR(count, 200, 4 * 14);
  }
}

TEST(Masking, DependsInTrainingOnTheEpochAndInEvaluationNot) {
  EXPECT_NE(hidden(twenty(), 2, Use::kTraining, 0), hidden(twenty(), 2, Use::kTraining, 1));
  EXPECT_EQ(hidden(twenty(), 2, Use::kEvaluation, 0), hidden(twenty(), 2, Use::kEvaluation, 1));
  EXPECT_NE(hidden(twenty(), 2), hidden(twenty(), 3));
  EXPECT_NE(masking_key(1, Use::kTraining, 0), masking_key(2, Use::kTraining, 0));
}

/// "abcdefghijk" in blocks of four: the tail is left.
class MaskedText : public ::testing::Test {
 protected:
  void SetUp() override { testing::write_bytes(path(), to_bytes("abcdefghijk")); }

  [[nodiscard]] std::filesystem::path path() const { return folder_ / "text.txt"; }

  [[nodiscard]] Result<Dataset> load(std::int64_t block = 4) const {
    return load_split(
        {.source = TextSource{.path = path(), .block = block, .labels = TextLabels::kSame},
         .limit = {}});
  }

  TemporaryFolder folder_;
};

BatchBuffer masked_batch(const Dataset& dataset,
                         const Integers& indices,
                         Use use,
                         std::int64_t epoch) {
  const Loader loader(std::make_shared<const Dataset>(dataset), {}, use, kSeed, kMasking);
  BatchBuffer batch;
  loader.fill(indices, epoch, batch);
  return batch;
}

TEST_F(MaskedText, NeedsNoTokenBehindABlock) {
  EXPECT_EQ(load(11)->size, 1);
  EXPECT_NE(words(load(12)).find("H0405: the text has 11 tokens, one block of 12 takes 12"),
            std::string::npos)
      << words(load(12));
}

TEST_F(MaskedText, BatchesHideTokensOfEachBlockByItsNumber) {
  const BatchBuffer batch = masked_batch(load().value(), {1, 0}, Use::kTraining, 3);
  const Hidden second = hidden({'e', 'f', 'g', 'h'}, 1, Use::kTraining, 3);
  const Hidden first = hidden({'a', 'b', 'c', 'd'}, 0, Use::kTraining, 3);
  Integers tokens = second.tokens;
  tokens.insert(tokens.end(), first.tokens.begin(), first.tokens.end());
  Integers labels = second.labels;
  labels.insert(labels.end(), first.labels.begin(), first.labels.end());
  EXPECT_EQ(batch.inputs.at(0).integers, tokens);
  EXPECT_EQ(batch.classes, labels);
}

TEST_F(MaskedText, EvaluationHidesTheSameInEveryEpoch) {
  const Dataset text = load().value();
  EXPECT_EQ(masked_batch(text, {0, 1}, Use::kEvaluation, 0).inputs.at(0).integers,
            masked_batch(text, {0, 1}, Use::kEvaluation, 5).inputs.at(0).integers);
}

TEST_F(MaskedText, AMaskBeyondTheEmbeddingTableIsRefused) {
  Expectation expectation{
      .inputs = {{.name = "ids", .type = ElementType::kInt64, .shape = {4}, .rows = 256}},
      .classes = 256,
      .label_shape = {4},
      .masking = kMasking};
  const auto check = [&] {
    return words(check_dataset(load().value(), {}, expectation, Use::kTraining, "train"));
  };
  EXPECT_NE(check().find("H0406: the mask's token 256 is outside [0, 256)"), std::string::npos)
      << check();
  EXPECT_NE(check().find("give the table 257 rows"), std::string::npos) << check();
  expectation.inputs[0].rows = 257;
  EXPECT_EQ(check(), "ok");
}

}  // namespace
}  // namespace hydro::data
