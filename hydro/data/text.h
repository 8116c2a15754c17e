// hydro/data/text.h — texts as rows of tokens, seen in blocks of T: sample i is tokens
// [i T, (i+1) T), its labels the same one further, or the same. Tokens are stored once, bytes
// as bytes, pieces of a tokenizer as int32; blocks are only cut when a batch is filled.
// Thread-safety: pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/data/dataset.h"

namespace hydro::data {

/// The file's tokens in blocks. What is left behind the last whole block is dropped.
///
/// Errors: H0401; H0405 an empty file, or fewer tokens than one block and the label of its
/// last;
///         with a tokenizer H0424, H0425
[[nodiscard]] Result<Dataset> read_text_blocks(const TextSource& source,
                                               std::optional<std::int64_t> limit);

/// Blocks [first, first + count) of a text.
[[nodiscard]] Dataset text_part(const Dataset& whole, std::int64_t first, std::int64_t count);

/// How many tokens a text stores.
[[nodiscard]] std::size_t token_count(const Field& text);
[[nodiscard]] std::int64_t token_at(const Field& text, std::size_t place);

/// Tokens of the blocks `indices`, `ahead` tokens further: 0 the inputs, 1 the labels.
void gather_tokens(const Field& text,
                   std::span<const std::int64_t> indices,
                   std::int64_t ahead,
                   std::vector<std::int64_t>& to);

/// Bytes of the file that all labels together stand for; nothing where the labels are not the
/// next tokens of a text.
[[nodiscard]] std::optional<std::int64_t> labelled_bytes(const Dataset& dataset);

}  // namespace hydro::data
