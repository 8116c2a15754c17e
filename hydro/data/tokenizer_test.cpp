#include "hydro/data/tokenizer.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <sentencepiece_trainer.h>

#include "hydro/base/file.h"
#include "hydro/base/result.h"
#include "hydro/base/testing.h"
#include "hydro/data/dataset.h"
#include "hydro/data/testing.h"
#include "hydro/data/text.h"

namespace hydro::data {
namespace {

using hydro::testing::TemporaryFolder;
using hydro::testing::to_bytes;
using hydro::testing::words;
using testing::write_bytes;

constexpr std::int64_t kVocabulary = 400;

/// English enough for 400 pieces.
std::string story() {
  return read_text(std::filesystem::path(HYDRO_SOURCE_DIR) / "LICENSE").value();
}

/// A folder with a tokenizer of the story.
class TokenizerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    write_text_durably(model(), train_tokenizer(story(), kVocabulary, "story.txt").value())
        .value();
  }

  [[nodiscard]] std::filesystem::path model() const { return folder_ / "tokens.model"; }

  [[nodiscard]] Pieces cut(const std::string& text, std::int64_t most = INT64_MAX) const {
    return Tokenizer::read(model()).value().encode(text, most).value();
  }

  TemporaryFolder folder_;
};

void expect_refused(const Result<void>& result,
                    const std::string& id,
                    const std::string& part) {
  const std::string text = words(result);
  EXPECT_EQ(text.substr(0, 5), id) << text;
  EXPECT_NE(text.find(part), std::string::npos) << text;
}

template <class T>
Result<void> outcome_of(Result<T> result) {
  return result.has_value() ? Result<void>() : Result<void>(std::move(result).error());
}

Result<void> trained(const std::string& text, std::int64_t vocabulary) {
  return outcome_of(train_tokenizer(text, vocabulary, "story.txt"));
}

TEST_F(TokenizerTest, HasExactlyTheVocabularyAndAPieceForTheMask) {
  const Tokenizer tokenizer = Tokenizer::read(model()).value();
  EXPECT_EQ(tokenizer.size(), kVocabulary);
  EXPECT_EQ(tokenizer.mask(), 1);
}

TEST_F(TokenizerTest, TheSameTextGivesTheSameModel) {
  EXPECT_EQ(train_tokenizer(story(), kVocabulary, "").value(),
            train_tokenizer(story(), kVocabulary, "").value());
}

TEST_F(TokenizerTest, EveryByteOfTheTextBelongsToAToken) {
  // Tabs, doubled blanks, a character that was never seen, blank lines: nothing is dropped.
  const std::string text = "  she\tsells  \xE6\xBC\xA2\n\n\nshells [MASK]";
  const Pieces pieces = cut(text);
  ASSERT_EQ(pieces.tokens.size(), pieces.ends.size());
  EXPECT_EQ(pieces.ends.back(), std::ssize(text));
  std::int64_t before = 0;
  for (const std::int64_t end : pieces.ends) {
    EXPECT_GE(end, before);
    before = end;
  }
}

TEST_F(TokenizerTest, ALineBreakIsAPieceOfItsOwn) {
  const Pieces pieces = cut("\n\n");
  EXPECT_EQ(pieces.tokens, (std::vector<std::int32_t>{2, 2}));
  EXPECT_EQ(pieces.ends, (std::vector<std::int64_t>{1, 2}));
}

TEST_F(TokenizerTest, AnUnseenCharacterIsItsBytes) {
  // Bytes start behind the unknown, [MASK] and the line break.
  EXPECT_EQ(cut("\xE6\xBC\xA2").tokens,
            (std::vector<std::int32_t>{3 + 0xE6, 3 + 0xBC, 3 + 0xA2}));
}

TEST_F(TokenizerTest, NoTextIsCutIntoTheMask) {
  for (const std::int32_t token : cut("[MASK] she [MASK]").tokens) {
    EXPECT_NE(token, 1);
  }
}

TEST_F(TokenizerTest, StopsBehindTheLineThatHasEnough) {
  const Pieces all = cut(story());
  const Pieces some = cut(story(), 50);
  EXPECT_GE(some.tokens.size(), 50U);
  EXPECT_LT(some.tokens.size(), all.tokens.size() / 10);
  EXPECT_EQ(some.tokens,
            std::vector(all.tokens.begin(), all.tokens.begin() + std::ssize(some.tokens)));
}

TEST_F(TokenizerTest, WhatAModelOfOthersDropsBelongsToTheTokenBefore) {
  // As sentencepiece trains by default: blanks at ends and line breaks are dropped, no [MASK].
  std::string content;
  const std::unordered_map<std::string, std::string> settings = {
      {"input", std::string(HYDRO_SOURCE_DIR) + "/LICENSE"},
      {"vocab_size", "200"},
      {"minloglevel", "3"}};
  const auto status = sentencepiece::SentencePieceTrainer::Train(settings, nullptr, &content);
  ASSERT_TRUE(status.ok()) << status.ToString();
  write_text_durably(model(), content).value();
  const Tokenizer tokenizer = Tokenizer::read(model()).value();
  EXPECT_EQ(tokenizer.mask(), std::nullopt);
  const Pieces two = tokenizer.encode("\n\na   \n\n  b\n").value();
  ASSERT_GE(two.ends.size(), 2U);
  EXPECT_EQ(two.ends.back(), 12);
  EXPECT_TRUE(std::ranges::is_sorted(two.ends));
  // "a" and the blanks and the two line breaks behind it.
  EXPECT_EQ(std::ranges::count(two.ends, 8), 1);
}

TEST_F(TokenizerTest, AFileThatIsNoModelIsRefused) {
  const std::filesystem::path other = folder_ / "other.model";
  for (const std::string content : {"", "{\"version\": 1}", "\x0A\xFF\xFF"}) {
    write_bytes(other, to_bytes(content));
    expect_refused(outcome_of(Tokenizer::read(other)), "H0424", "`other.model` is no sentence");
  }
  std::filesystem::remove(other);
  expect_refused(outcome_of(Tokenizer::read(other)), "H0401", "cannot open");
}

TEST(TokenizerTraining, SaysHowManyPiecesATextSupports) {
  expect_refused(trained("aaa", 300), "H0426", "does not support 300 pieces");
  expect_refused(trained("aaa", 300), "H0426", "no more than 261");
  EXPECT_EQ(words(trained("aaa", 261)), "ok");
}

TEST(TokenizerTraining, SaysHowManyPiecesATextNeeds) {
  expect_refused(trained(story(), 100), "H0426", "100 pieces are too few");
  expect_refused(trained(story(), 100), "H0426", "the line break, [MASK]");
}

TEST(TokenizerTraining, LineBreaksAloneAreNoText) {
  expect_refused(trained("\n\n\n", 300), "H0405", "line breaks only");
}

TEST(TokenizerTraining, LongLinesAreNotLeftOut) {
  // Longer than sentencepiece's own limit of 4192 bytes.
  std::string line;
  while (line.size() < 10'000) {
    line += "unusual ";
  }
  EXPECT_EQ(words(trained(line, 265)), "ok");
}

TEST(Utf8Text, OtherBytesAreNamedWithLineAndPlace) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder / "latin.txt";
  write_bytes(path, to_bytes("eins\nzw\xF6lf\n"));
  const Result<std::string> text = read_utf8_text(path);
  expect_refused(outcome_of(text), "H0425", "byte 7 of the text is not UTF-8");
  EXPECT_EQ(text.error().where, path.string() + ":2");
  write_bytes(path, {});
  expect_refused(outcome_of(read_utf8_text(path)), "H0405", "empty");
}

/// The story in blocks of eight pieces.
class PiecesOfText : public TokenizerTest {
 protected:
  void SetUp() override {
    TokenizerTest::SetUp();
    write_bytes(folder_ / "story.txt", to_bytes(story()));
  }

  [[nodiscard]] Result<Dataset> load(std::optional<std::int64_t> limit = {}) const {
    return load_split(
        {.source = TextSource{.path = folder_ / "story.txt", .block = 8, .tokenizer = model()},
         .limit = limit});
  }
};

BatchBuffer pieces_batch(const Dataset& dataset, const std::vector<std::int64_t>& indices) {
  const Loader loader(std::make_shared<const Dataset>(dataset), {}, Use::kTraining, 1);
  BatchBuffer batch;
  loader.fill(indices, 0, batch);
  return batch;
}

TEST_F(PiecesOfText, AreCutIntoBlocksWhoseLabelsAreOneFurther) {
  const Dataset dataset = load().value();
  const Pieces pieces = cut(story());
  EXPECT_EQ(dataset.size, (std::ssize(pieces.tokens) - 1) / 8);
  const BatchBuffer batch = pieces_batch(dataset, {1});
  const std::vector<std::int64_t> tokens(pieces.tokens.begin() + 8, pieces.tokens.begin() + 17);
  EXPECT_EQ(batch.inputs.at(0).integers,
            std::vector<std::int64_t>(tokens.begin(), tokens.end() - 1));
  EXPECT_EQ(batch.classes, std::vector<std::int64_t>(tokens.begin() + 1, tokens.end()));
}

TEST_F(PiecesOfText, LabelledBytesAreThoseOfTheText) {
  const Dataset whole = load().value();
  const Pieces pieces = cut(story());
  const auto last = static_cast<std::size_t>(whole.size * 8);
  EXPECT_EQ(labelled_bytes(whole), pieces.ends[last] - pieces.ends[0]);
  const auto [rest, tail] = split_off(whole, 0.3, 1);
  EXPECT_EQ(*labelled_bytes(rest) + *labelled_bytes(tail), *labelled_bytes(whole));
  EXPECT_EQ(pieces_batch(tail, {0}).classes, pieces_batch(whole, {rest.size}).classes);
}

TEST_F(PiecesOfText, ALimitReadsOnlyWhatItNeeds) {
  const Dataset some = load(3).value();
  EXPECT_EQ(some.size, 3);
  EXPECT_EQ(token_count(some.inputs.front()), 25U);
  EXPECT_EQ(labelled_bytes(some), labelled_bytes(text_part(load().value(), 0, 3)));
  EXPECT_EQ(load(INT64_MAX)->size, load()->size);
}

TEST_F(PiecesOfText, ATokenBeyondTheModelIsRefused) {
  const Dataset dataset = load().value();
  Expectation expectation{.inputs = {{.name = "ids",
                                      .type = ElementType::kInt64,
                                      .shape = {8},
                                      .rows = kVocabulary}},
                          .classes = kVocabulary,
                          .label_shape = {8}};
  const auto check = [&] {
    return check_dataset(dataset, {}, expectation, Use::kEvaluation, "val");
  };
  EXPECT_EQ(words(check()), "ok");
  expectation.classes = 270;
  expect_refused(check(), "H0406", "is outside [0, 270)");
  expectation.classes = kVocabulary;
  expectation.inputs[0].rows = 262;
  expect_refused(check(), "H0406", "the embedding table of input `ids` has 262 tokens");
}

}  // namespace
}  // namespace hydro::data
