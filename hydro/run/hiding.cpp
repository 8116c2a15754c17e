#include "hydro/run/hiding.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "hydro/base/result.h"
#include "hydro/data/dataset.h"
#include "hydro/data/tokenizer.h"
#include "hydro/job/job.h"
#include "hydro/worker/settings.h"

namespace hydro::run {
namespace {

constexpr std::int64_t kByteTokens = 256;

/// What the text is cut into.
struct Alphabet {
  std::int64_t size = kByteTokens;
  std::optional<std::int64_t> mask = kByteTokens;  // behind the bytes
};

Result<Alphabet> alphabet_of(const job::TextFile& text) {
  if (text.tokenizer.empty()) {
    return Alphabet();
  }
  HYDRO_TRY(const data::Tokenizer tokenizer, data::Tokenizer::read(text.tokenizer));
  return Alphabet{.size = tokenizer.size(), .mask = tokenizer.mask()};
}

}  // namespace

Result<std::optional<data::Masking>> masking_of(const job::Job& job, std::int64_t most) {
  if (job.train.task != worker::Task::kMaskedLanguageModel) {
    return std::optional<data::Masking>();
  }
  const auto& text = std::get<job::TextFile>(job.data.train.files);
  HYDRO_TRY(const Alphabet alphabet, alphabet_of(text));
  const std::optional<std::int64_t> mask =
      job.train.mask_token ? job.train.mask_token : alphabet.mask;
  if (!mask) {
    return make_error("H0428", "the tokenizer has no piece `[MASK]`")
        .at(text.tokenizer.string());
  }
  return std::optional(data::Masking{
      .share = job.train.mask, .token = *mask, .vocabulary = std::min(alphabet.size, most)});
}

}  // namespace hydro::run
