#include "hydro/data/text.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "hydro/base/bytes.h"
#include "hydro/base/result.h"
#include "hydro/data/dataset.h"
#include "hydro/data/raw_array.h"

namespace hydro::data {
namespace {

Dataset in_blocks(Bytes tokens,
                  std::int64_t block,
                  std::int64_t count,
                  const std::filesystem::path& file) {
  Dataset dataset{.size = count, .inputs = {}, .target = {}};
  dataset.inputs.push_back({.name = "",
                            .type = ElementType::kUInt8,
                            .shape = {block},
                            .bytes = std::move(tokens),
                            .is_text = true,
                            .file = file});
  dataset.target.shape = {block};
  dataset.target.file = file;
  return dataset;
}

}  // namespace

Result<Dataset> read_text_blocks(const std::filesystem::path& path,
                                 std::int64_t block,
                                 std::optional<std::int64_t> limit) {
  HYDRO_CHECK(block >= 1);
  HYDRO_TRY(Bytes tokens, read_data_file(path));
  if (tokens.empty()) {
    return make_error("H0405", "the text is empty").at(path.string()).fix("check the path");
  }
  const auto size = static_cast<std::int64_t>(tokens.size());
  if (size <= block) {
    return make_error("H0405",
                      "the text has " + std::to_string(size) + " tokens, one block of " +
                          std::to_string(block) + " takes " + std::to_string(block + 1))
        .at(path.string())
        .because("the last token of a block has the token behind it as its label")
        .fix("give a longer text, or a smaller `block`");
  }
  const std::int64_t whole = (size - 1) / block;
  const std::int64_t count = limit ? std::min(whole, *limit) : whole;
  tokens.resize(static_cast<std::size_t>(count * block + 1));
  tokens.shrink_to_fit();
  return in_blocks(std::move(tokens), block, count, path);
}

Dataset text_part(const Dataset& whole, std::int64_t first, std::int64_t count) {
  const Field& text = whole.inputs.front();
  const std::int64_t block = text.shape.front();
  HYDRO_CHECK(text.is_text && first >= 0 && count >= 0 && first + count <= whole.size);
  const auto begin = text.bytes.begin() + first * block;
  return in_blocks(Bytes(begin, begin + count * block + 1), block, count, text.file);
}

void gather_tokens(const Field& text,
                   std::span<const std::int64_t> indices,
                   std::int64_t ahead,
                   std::vector<std::int64_t>& to) {
  const std::int64_t block = text.shape.front();
  to.resize(indices.size() * static_cast<std::size_t>(block));
  auto place = to.begin();
  for (const std::int64_t index : indices) {
    const auto from = text.bytes.begin() + index * block + ahead;
    place = std::transform(from, from + block, place, [](std::byte token) {
      return std::to_integer<std::int64_t>(token);
    });
  }
}

}  // namespace hydro::data
