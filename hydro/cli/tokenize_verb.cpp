#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

#include <fmt/core.h>

#include "hydro/base/catalogue.h"
#include "hydro/base/file.h"
#include "hydro/base/result.h"
#include "hydro/cli/verbs.h"
#include "hydro/data/tokenizer.h"

namespace hydro::cli {
namespace {

namespace fs = std::filesystem;

/// Said before the training, not after it.
Result<void> check_place(const fs::path& output) {
  std::error_code unknown;
  if (fs::exists(output, unknown)) {
    return make_error("H0427", "`" + output.string() + "` is there already")
        .at(output.string());
  }
  const fs::path folder = fs::absolute(output).parent_path();
  if (!fs::is_directory(folder, unknown)) {
    return make_error("H0603", "cannot write `" + output.string() + "`")
        .at(output.string())
        .because("there is no folder `" + folder.string() + "`")
        .fix("make the folder, or name another with -o");
  }
  return {};
}

Result<std::string> read(const std::string& path) {
  Result<std::string> text = data::read_utf8_text(path);
  return text.has_value() || text.error().id != "H0401"
             ? std::move(text)
             : std::move(text).error().fix("check the path");
}

}  // namespace

VerbResult tokenize_verb(const TokenizeOptions& options) {
  const fs::path output = options.output;
  HYDRO_TRY_VOID(check_place(output));
  HYDRO_TRY(const std::string text, read(options.text));
  HYDRO_TRY(const std::string model,
            data::train_tokenizer(text, options.vocabulary, options.text));
  HYDRO_TRY_VOID(write_text_durably(output, model));
  HYDRO_TRY(const data::Tokenizer tokenizer, data::Tokenizer::read(output));
  HYDRO_TRY(const data::Pieces pieces, tokenizer.encode(text));
  fmt::print("wrote {}: {} pieces; {} bytes are {} tokens, {:.2f} bytes a token\n",
             options.output,
             tokenizer.size(),
             text.size(),
             pieces.tokens.size(),
             static_cast<double>(text.size()) / static_cast<double>(pieces.tokens.size()));
  return ExitCode::kDone;
}

}  // namespace hydro::cli
