// hydro/data/text.h — texts as rows of tokens, seen in blocks of T: sample i is tokens
// [i T, (i+1) T), its labels the same one further. Tokens are stored once, one a byte; blocks
// are only cut when a batch is filled. Thread-safety: pure functions.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/data/dataset.h"

namespace hydro::data {

/// The file's bytes as tokens 0..255 in blocks of `block`. What is left behind the last whole
/// block is dropped.
///
/// Errors: H0401; H0405 an empty file, or fewer bytes than one block and the label of its last
[[nodiscard]] Result<Dataset> read_text_blocks(const std::filesystem::path& path,
                                               std::int64_t block,
                                               std::optional<std::int64_t> limit);

/// Blocks [first, first + count) of a text.
[[nodiscard]] Dataset text_part(const Dataset& whole, std::int64_t first, std::int64_t count);

/// Tokens of the blocks `indices`, `ahead` tokens further: 0 the inputs, 1 the labels.
void gather_tokens(const Field& text,
                   std::span<const std::int64_t> indices,
                   std::int64_t ahead,
                   std::vector<std::int64_t>& to);

}  // namespace hydro::data
