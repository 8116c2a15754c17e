#include "hydro/data/check_text.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "hydro/base/result.h"
#include "hydro/base/text.h"
#include "hydro/data/dataset.h"
#include "hydro/data/text.h"

namespace hydro::data {
namespace {

/// The place of the first token at or over `limit`.
std::optional<std::size_t> find_beyond(const Field& text, std::int64_t limit) {
  const std::size_t count = token_count(text);
  for (std::size_t place = 0; place < count; ++place) {
    if (token_at(text, place) >= limit) {
      return place;
    }
  }
  return std::nullopt;
}

/// `what` has `limit` tokens.
Error beyond(const Field& text,
             std::size_t position,
             std::int64_t limit,
             const std::string& what,
             const std::string& place) {
  const std::string most = std::to_string(limit);
  const std::string token = std::to_string(token_at(text, position));
  Error error = make_error("H0406",
                           "token " + token + " at position " + std::to_string(position) +
                               " is outside [0, " + most + ")")
                    .at(place);
  if (text.type == ElementType::kUInt8) {
    return std::move(error)
        .because(what + " has " + most + " tokens; bytes go to 255")
        .fix("give the model a vocabulary of 256, or remove such bytes from the text");
  }
  return std::move(error)
      .because(what + " has " + most + " tokens, the tokenizer has more")
      .fix(
          "give the model as many tokens as the tokenizer has pieces, or train one by `hydro "
          "tokenize --vocabulary " +
          most + "`");
}

}  // namespace

Result<void> check_scored(const Field& text,
                          std::int64_t vocabulary,
                          const std::string& place) {
  const std::optional<std::size_t> wrong = find_beyond(text, vocabulary);
  return wrong ? beyond(text, *wrong, vocabulary, "the model's output, the last axis,", place)
               : Result<void>();
}

Result<void> check_embedded(const Field& text,
                            const Expectation::Input& input,
                            const std::string& place) {
  if (!input.rows) {
    return {};
  }
  const std::optional<std::size_t> wrong = find_beyond(text, *input.rows);
  const std::string table = "the embedding table of input `" + printable(input.name) + "`";
  return wrong ? beyond(text, *wrong, *input.rows, table, place) : Result<void>();
}

Result<void> check_mask(const Masking& masking,
                        const Expectation::Input& input,
                        const std::string& place) {
  HYDRO_CHECK(!input.rows || masking.vocabulary <= *input.rows);
  if (!input.rows || masking.token < *input.rows) {
    return {};
  }
  return make_error("H0406",
                    "the mask's token " + std::to_string(masking.token) + " is outside [0, " +
                        std::to_string(*input.rows) + ")")
      .at(place)
      .because("the embedding table of input `" + printable(input.name) + "` has " +
               std::to_string(*input.rows) +
               " tokens; the mask is train.mask_token, or 256 behind the bytes, or the "
               "tokenizer's [MASK]")
      .fix("give the table " + std::to_string(masking.token + 1) +
           " rows, or name a token that the text does not have by `train.mask_token`");
}

}  // namespace hydro::data
