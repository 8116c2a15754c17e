// Training of a tokenizer: a text in, a sentencepiece model out.
#include <cstddef>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <string>
#include <string_view>
#include <unordered_map>

#include <sentencepiece_processor.h>
#include <sentencepiece_trainer.h>

#include "hydro/base/result.h"
#include "hydro/data/tokenizer.h"

namespace hydro::data {
namespace {

/// The text's lines that are not empty, without their line breaks.
class Lines : public sentencepiece::SentenceIterator {
 public:
  explicit Lines(std::string_view text) : rest_(text) { Next(); }

  [[nodiscard]] bool done() const override { return is_done_; }

  void Next() override {
    line_.clear();
    while (line_.empty() && !rest_.empty()) {
      const std::size_t end = rest_.find('\n');
      line_ = rest_.substr(0, end);
      rest_ = end == std::string_view::npos ? std::string_view() : rest_.substr(end + 1);
    }
    is_done_ = line_.empty();
  }

  [[nodiscard]] const std::string& value() const override { return line_; }

  [[nodiscard]] sentencepiece::util::Status status() const override { return {}; }

 private:
  std::string_view rest_;
  std::string line_;
  bool is_done_ = false;
};

/// One thread: sums of rounded numbers depend on how many there are.
std::unordered_map<std::string, std::string> settings_of(std::int64_t vocabulary) {
  return {{"model_type", "unigram"},
          {"vocab_size", std::to_string(vocabulary)},
          {"normalization_rule_name", "identity"},
          {"remove_extra_whitespaces", "false"},
          {"add_dummy_prefix", "false"},
          {"byte_fallback", "true"},
          {"bos_id", "-1"},
          {"eos_id", "-1"},
          {"control_symbols", std::string(kMaskPiece)},
          {"user_defined_symbols", "\n"},
          {"max_sentence_length", "1073741824"},
          {"num_threads", "1"},
          {"minloglevel", "3"}};
}

/// The digits behind `before` in sentencepiece's own words; empty where they are not.
std::string number_behind(std::string_view message, std::string_view before) {
  const std::size_t at = message.find(before);
  if (at == std::string_view::npos) {
    return {};
  }
  const std::string_view rest = message.substr(at + before.size());
  return std::string(rest.substr(0, rest.find_first_not_of("0123456789")));
}

Error does_not_fit(std::string_view message,
                   std::int64_t vocabulary,
                   const std::filesystem::path& place) {
  const std::string wanted = std::to_string(vocabulary);
  if (const std::string most = number_behind(message, "a value <= "); !most.empty()) {
    return make_error("H0426", "the text does not support " + wanted + " pieces")
        .at(place.string())
        .because("there are no more than " + most + " pieces that occur in it")
        .fix("write --vocabulary " + most + " or less, or give a longer text");
  }
  if (const std::string least = number_behind(message, " vs "); !least.empty()) {
    return make_error("H0426", wanted + " pieces are too few for the text")
        .at(place.string())
        .because(
            "each byte, the line break, [MASK], the unknown and each frequent character "
            "is a piece")
        .fix("write --vocabulary " + least + " or more");
  }
  return make_error("H0426", "no tokenizer of " + wanted + " pieces can be trained")
      .at(place.string())
      .because(std::string(message));
}

}  // namespace

Result<std::string> train_tokenizer(std::string_view text,
                                    std::int64_t vocabulary,
                                    const std::filesystem::path& place) {
  Lines lines(text);
  if (lines.done()) {
    return make_error("H0405", "the text holds line breaks only")
        .at(place.string())
        .fix("check the path");
  }
  std::string model;
  try {
    const sentencepiece::util::Status status =
        sentencepiece::SentencePieceTrainer::Train(settings_of(vocabulary), &lines, &model);
    if (!status.ok()) {
      return does_not_fit(status.message(), vocabulary, place);
    }
  } catch (const std::exception& problem) {  // its own checks throw
    return does_not_fit(problem.what(), vocabulary, place);
  }
  return model;
}

}  // namespace hydro::data
