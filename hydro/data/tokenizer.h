// hydro/data/tokenizer.h — texts as pieces of a sentencepiece model, read or trained. Models
// that are trained here lose nothing: no normalisation, bytes for rare characters, a piece for
// the line break. The only door to sentencepiece. Thread-safety: a const Tokenizer may be
// shared.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hydro/base/result.h"

namespace sentencepiece {
class SentencePieceProcessor;
}  // namespace sentencepiece

namespace hydro::data {

/// The control piece that stands for a hidden token; no text is ever cut into it.
constexpr std::string_view kMaskPiece = "[MASK]";

struct Pieces {
  std::vector<std::int32_t> tokens;
  std::vector<std::int64_t> ends;  // bytes of the text up to the end of each token
};

class Tokenizer {
 public:
  /// Errors: H0401; H0424 no sentencepiece model
  [[nodiscard]] static Result<Tokenizer> read(const std::filesystem::path& path);

  Tokenizer(Tokenizer&& other) noexcept;
  Tokenizer(const Tokenizer&) = delete;
  Tokenizer& operator=(const Tokenizer&) = delete;
  Tokenizer& operator=(Tokenizer&&) = delete;
  ~Tokenizer();

  /// Ids are 0 .. size() - 1.
  [[nodiscard]] std::int64_t size() const;
  /// The id of kMaskPiece; nothing where the model has no such piece.
  [[nodiscard]] std::optional<std::int64_t> mask() const;

  /// Line by line, each with its line break, until `most` tokens are there. Bytes that a model
  /// drops (its normalisation may) belong to the token before.
  ///
  /// Errors: H0424 the model breaks down on the text
  [[nodiscard]] Result<Pieces> encode(std::string_view text,
                                      std::int64_t most = INT64_MAX) const;

 private:
  explicit Tokenizer(std::unique_ptr<sentencepiece::SentencePieceProcessor> model,
                     std::filesystem::path path);

  std::unique_ptr<sentencepiece::SentencePieceProcessor> model_;
  std::filesystem::path path_;
};

/// The file's content, which must be UTF-8: sentencepiece would silently replace other bytes.
///
/// Errors: H0401; H0405 empty; H0425 not UTF-8, with line and byte
[[nodiscard]] Result<std::string> read_utf8_text(const std::filesystem::path& path);

/// A unigram model of exactly `vocabulary` pieces, among them one for each byte, the line break
/// and kMaskPiece. The same text gives the same model. `place` is for messages.
///
/// Errors: H0405 no line with text; H0426 more pieces than the text supports, or too few
[[nodiscard]] Result<std::string> train_tokenizer(std::string_view text,
                                                  std::int64_t vocabulary,
                                                  const std::filesystem::path& place);

}  // namespace hydro::data
