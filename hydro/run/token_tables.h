// hydro/run/token_tables.h — how large the numbers of an input may be that choose rows of an
// embedding table.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "hydro/ir/graph.h"

namespace hydro::run {

/// Rows of the smallest table that the user input `name` chooses from; nothing when it feeds no
/// embedding as it is.
[[nodiscard]] std::optional<std::int64_t> table_rows(const ir::Graph& graph,
                                                     std::string_view name);

}  // namespace hydro::run
