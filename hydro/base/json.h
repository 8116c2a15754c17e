// hydro/base/json.h — the one door to nlohmann/json: parsing that answers with Result.
#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "hydro/base/result.h"

namespace hydro {

using Json = nlohmann::json;
using OrderedJson = nlohmann::ordered_json;

/// Errors: row `id` of the catalogue with the byte position; nesting deeper than 200 is
/// refused.
[[nodiscard]] Result<Json> parse_json(std::string_view text,
                                      std::string_view id,
                                      const std::string& where);

}  // namespace hydro
