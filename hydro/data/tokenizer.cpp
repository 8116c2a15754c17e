#include "hydro/data/tokenizer.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <sentencepiece_processor.h>

#include "hydro/base/bytes.h"
#include "hydro/base/result.h"
#include "hydro/base/utf8.h"
#include "hydro/data/raw_array.h"

namespace hydro::data {
namespace {

std::string as_text(const Bytes& bytes) {
  std::string text(bytes.size(), '\0');
  std::ranges::transform(
      bytes, text.begin(), [](std::byte byte) { return static_cast<char>(byte); });
  return text;
}

Error no_model(const std::filesystem::path& path) {
  return make_error("H0424", "`" + path.filename().string() + "` is no sentencepiece model")
      .at(path.string());
}

/// The pieces of one line that begins at `begin`, behind those that are there.
void append_line(const sentencepiece::SentencePieceProcessor& model,
                 std::string_view line,
                 std::size_t begin,
                 Pieces& out) {
  const sentencepiece::ImmutableSentencePieceText cut = model.EncodeAsImmutableProto(line);
  for (std::size_t i = 0; i < cut.pieces_size(); ++i) {
    const auto piece = cut.pieces(static_cast<int>(i));
    out.tokens.push_back(static_cast<std::int32_t>(piece.id()));
    out.ends.push_back(static_cast<std::int64_t>(begin + piece.end()));
  }
}

}  // namespace

Tokenizer::Tokenizer(std::unique_ptr<sentencepiece::SentencePieceProcessor> model,
                     std::filesystem::path path)
    : model_(std::move(model)), path_(std::move(path)) {}

Tokenizer::Tokenizer(Tokenizer&& other) noexcept = default;
Tokenizer::~Tokenizer() = default;

Result<Tokenizer> Tokenizer::read(const std::filesystem::path& path) {
  HYDRO_TRY(const Bytes bytes, read_data_file(path));
  auto model = std::make_unique<sentencepiece::SentencePieceProcessor>();
  try {
    if (!model->LoadFromSerializedProto(as_text(bytes)).ok()) {
      return no_model(path);
    }
  } catch (const std::exception&) {  // its own checks throw
    return no_model(path);
  }
  return Tokenizer(std::move(model), path);
}

std::int64_t Tokenizer::size() const {
  return model_->GetPieceSize();
}

std::optional<std::int64_t> Tokenizer::mask() const {
  const int id = model_->PieceToId(kMaskPiece);
  return id == model_->unk_id() ? std::nullopt : std::optional<std::int64_t>(id);
}

Result<Pieces> Tokenizer::encode(std::string_view text, std::int64_t most) const {
  Pieces out;
  for (std::size_t at = 0; at < text.size();) {
    if (static_cast<std::int64_t>(out.tokens.size()) >= most) {
      break;
    }
    const std::size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
    try {
      append_line(*model_, text.substr(at, end - at), at, out);
    } catch (const std::exception& problem) {
      return no_model(path_).because(problem.what());
    }
    if (!out.ends.empty()) {  // what the model drops at a line's end, or the whole line
      out.ends.back() = static_cast<std::int64_t>(end);
    }
    at = end;
  }
  return out;
}

Result<std::string> read_utf8_text(const std::filesystem::path& path) {
  HYDRO_TRY(const Bytes bytes, read_data_file(path));
  if (bytes.empty()) {
    return make_error("H0405", "the text is empty").at(path.string()).fix("check the path");
  }
  std::string text = as_text(bytes);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = utf8_length(text, at);
    if (length == 0) {
      const auto line = 1 + std::count(text.begin(), text.begin() + std::ptrdiff_t(at), '\n');
      return make_error("H0425", "byte " + std::to_string(at) + " of the text is not UTF-8")
          .at(path.string() + ":" + std::to_string(line));
    }
    at += length;
  }
  return text;
}

}  // namespace hydro::data
