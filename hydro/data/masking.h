// hydro/data/masking.h — what a masked language model does not see of a sample. A choice
// depends on the data's seed, the sample, the place, and in training the epoch; on nothing
// else. In evaluation the same tokens are hidden every time. docs/data.md has the numbers
// exactly, so that others can repeat them. Thread-safety: pure functions.
#pragma once

#include <cstdint>
#include <span>

#include "hydro/data/dataset.h"

namespace hydro::data {

/// The label of a place that counts for nothing, as in PyTorch.
constexpr std::int64_t kNoLabel = -100;

/// `epoch` counts in training only.
[[nodiscard]] std::uint64_t masking_key(std::uint64_t seed, Use use, std::int64_t epoch);

/// How many of `tokens` places are chosen: the share, rounded, and at least one.
[[nodiscard]] std::int64_t chosen_count(double share, std::int64_t tokens);

/// Of the chosen places 80 % get the mask's token, 10 % any token and 10 % stay; `labels` are
/// the tokens as they were there, and kNoLabel at the others.
///
/// Requires: tokens and labels of one length, not empty (BugError)
/// Source:   Devlin et al., "BERT", 2019, section 3.1
void hide_tokens(const Masking& masking,
                 std::uint64_t key,
                 std::int64_t sample,
                 std::span<std::int64_t> tokens,
                 std::span<std::int64_t> labels);

}  // namespace hydro::data
