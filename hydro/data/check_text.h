// hydro/data/check_text.h — a text's tokens against what a model takes and scores.
#pragma once

#include <cstdint>
#include <string>

#include "hydro/base/result.h"
#include "hydro/data/dataset.h"

namespace hydro::data {

/// Every token has a score: they lie in [0, vocabulary), the last axis of the model's output.
///
/// Errors: H0406
[[nodiscard]] Result<void> check_scored(const Field& text,
                                        std::int64_t vocabulary,
                                        const std::string& place);

/// Every token has a row of the embedding table, where there is one.
///
/// Errors: H0406
[[nodiscard]] Result<void> check_embedded(const Field& text,
                                          const Expectation::Input& input,
                                          const std::string& place);

/// The mask and whatever else may stand for a token have rows of the table, where there is one.
///
/// Errors: H0406
[[nodiscard]] Result<void> check_mask(const Masking& masking,
                                      const Expectation::Input& input,
                                      const std::string& place);

}  // namespace hydro::data
