#include "hydro/data/text.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "hydro/base/bytes.h"
#include "hydro/base/result.h"
#include "hydro/data/dataset.h"
#include "hydro/data/raw_array.h"
#include "hydro/data/tokenizer.h"

namespace hydro::data {
namespace {

std::size_t token_bytes(const Field& text) {
  return text.type == ElementType::kUInt8 ? 1 : sizeof(std::int32_t);
}

/// Tokens behind the last block that its labels take.
std::int64_t tokens_ahead(TextLabels labels) {
  return labels == TextLabels::kNext ? 1 : 0;
}

Dataset in_blocks(Field text, std::int64_t count) {
  Dataset dataset{.size = count, .inputs = {}, .target = {}};
  dataset.target.shape = text.shape;
  dataset.target.file = text.file;
  dataset.inputs.push_back(std::move(text));
  return dataset;
}

Field field_of(const TextSource& source, ElementType type, Bytes tokens) {
  return {.name = "",
          .type = type,
          .shape = {source.block},
          .bytes = std::move(tokens),
          .is_text = true,
          .file = source.path,
          .labels = source.labels};
}

Result<Field> read_bytes(const TextSource& source) {
  HYDRO_TRY(Bytes tokens, read_data_file(source.path));
  if (tokens.empty()) {
    return make_error("H0405", "the text is empty")
        .at(source.path.string())
        .fix("check the path");
  }
  return field_of(source, ElementType::kUInt8, std::move(tokens));
}

/// Bytes of each whole block's labels: tokens [i T + 1, (i + 1) T + 1).
std::vector<std::int64_t> bytes_of_blocks(const std::vector<std::int64_t>& ends,
                                          std::int64_t block) {
  std::vector<std::int64_t> bytes;
  const auto step = static_cast<std::size_t>(block);
  for (std::size_t last = step; last < ends.size(); last += step) {
    bytes.push_back(ends[last] - ends[last - step]);
  }
  return bytes;
}

Result<Field> read_pieces(const TextSource& source, std::optional<std::int64_t> limit) {
  HYDRO_TRY(const std::string text, read_utf8_text(source.path));
  HYDRO_TRY(const Tokenizer tokenizer, Tokenizer::read(source.tokenizer));
  // A limit beyond the text's length is none; the product stays within bounds.
  const auto size = static_cast<std::int64_t>(text.size());
  const std::int64_t most =
      std::min(limit.value_or(size), size) > size / source.block
          ? INT64_MAX
          : (limit.value_or(size) * source.block) + tokens_ahead(source.labels);
  HYDRO_TRY(const Pieces pieces, tokenizer.encode(text, most));
  const auto raw = std::as_bytes(std::span(pieces.tokens));
  Field field = field_of(source, ElementType::kInt32, Bytes(raw.begin(), raw.end()));
  if (source.labels == TextLabels::kNext) {
    field.block_bytes = bytes_of_blocks(pieces.ends, source.block);
  }
  return field;
}

void keep_blocks(Field& text, std::int64_t count) {
  const auto kept =
      static_cast<std::size_t>((count * text.shape.front()) + tokens_ahead(text.labels));
  text.bytes.resize(kept * token_bytes(text));
  text.bytes.shrink_to_fit();
  if (!text.block_bytes.empty()) {
    text.block_bytes.resize(static_cast<std::size_t>(count));
  }
}

}  // namespace

std::size_t token_count(const Field& text) {
  return text.bytes.size() / token_bytes(text);
}

std::int64_t token_at(const Field& text, std::size_t place) {
  if (text.type == ElementType::kUInt8) {
    return std::to_integer<std::int64_t>(text.bytes[place]);
  }
  std::int32_t token = 0;
  std::memcpy(&token, text.bytes.data() + (place * sizeof(token)), sizeof(token));
  return token;
}

Result<Dataset> read_text_blocks(const TextSource& source, std::optional<std::int64_t> limit) {
  const std::int64_t block = source.block;
  HYDRO_CHECK(block >= 1);
  HYDRO_TRY(Field text,
            source.tokenizer.empty() ? read_bytes(source) : read_pieces(source, limit));
  const auto size = static_cast<std::int64_t>(token_count(text));
  const std::int64_t ahead = tokens_ahead(source.labels);
  if (size < block + ahead) {
    Error error =
        make_error("H0405",
                   "the text has " + std::to_string(size) + " tokens, one block of " +
                       std::to_string(block) + " takes " + std::to_string(block + ahead))
            .at(source.path.string())
            .fix("give a longer text, or a smaller `block`");
    return ahead == 0 ? error
                      : std::move(error).because(
                            "the last token of a block has the token behind it as its label");
  }
  const std::int64_t whole = (size - ahead) / block;
  const std::int64_t count = limit ? std::min(whole, *limit) : whole;
  keep_blocks(text, count);
  return in_blocks(std::move(text), count);
}

Dataset text_part(const Dataset& whole, std::int64_t first, std::int64_t count) {
  const Field& text = whole.inputs.front();
  const std::int64_t block = text.shape.front();
  HYDRO_CHECK(text.is_text && first >= 0 && count >= 0 && first + count <= whole.size);
  const auto width = static_cast<std::int64_t>(token_bytes(text));
  const auto begin = text.bytes.begin() + (first * block * width);
  Field part{
      .name = "",
      .type = text.type,
      .shape = {block},
      .bytes = Bytes(begin, begin + (((count * block) + tokens_ahead(text.labels)) * width)),
      .is_text = true,
      .file = text.file,
      .labels = text.labels};
  if (!text.block_bytes.empty()) {
    const auto from = text.block_bytes.begin() + first;
    part.block_bytes.assign(from, from + count);
  }
  return in_blocks(std::move(part), count);
}

void gather_tokens(const Field& text,
                   std::span<const std::int64_t> indices,
                   std::int64_t ahead,
                   std::vector<std::int64_t>& to) {
  const auto block = static_cast<std::size_t>(text.shape.front());
  to.clear();
  to.reserve(indices.size() * block);
  for (const std::int64_t index : indices) {
    const std::size_t begin =
        (static_cast<std::size_t>(index) * block) + static_cast<std::size_t>(ahead);
    for (std::size_t place = begin; place < begin + block; ++place) {
      to.push_back(token_at(text, place));
    }
  }
}

std::optional<std::int64_t> labelled_bytes(const Dataset& dataset) {
  if (!dataset.is_text() || dataset.inputs.front().labels == TextLabels::kSame) {
    return std::nullopt;
  }
  const Field& text = dataset.inputs.front();
  return text.type == ElementType::kUInt8
             ? dataset.size * text.shape.front()
             : std::accumulate(
                   text.block_bytes.begin(), text.block_bytes.end(), std::int64_t{0});
}

}  // namespace hydro::data
