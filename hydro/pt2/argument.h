// hydro/pt2/argument.h — the tagged unions {"as_tensor": {...}} of the exported graph as
// ir::Argument.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "hydro/base/result.h"
#include "hydro/ir/graph.h"
#include "hydro/pt2/field.h"

namespace hydro::pt2 {

/// The graph's values by their exported names.
using ValueNames = std::map<std::string, ir::ValueId, std::less<>>;

/// Empty for what has no meaning in a graph that runs anywhere: device, layout, memory format.
///
/// Errors: H0237 script object; H0243; H0244 unknown kind; H0245 subgraph; H0246 dtype
[[nodiscard]] Result<std::optional<ir::Argument>> read_argument(const Field& field,
                                                                const ValueNames& values);

}  // namespace hydro::pt2
