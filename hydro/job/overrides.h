// hydro/job/overrides.h — `--set tune.num_samples=50`: changes to the tree before anything is
// read from it, so that an override obeys the same rules as the file.
#pragma once

#include <string>

#include "hydro/base/result.h"
#include "hydro/job/node.h"

namespace hydro::job {

/// Sets the value at a dotted path; mappings on the way are made. The value is YAML.
///
/// Errors: H0112 no KEY=VALUE, or a path through something that is no mapping; parse_yaml's
[[nodiscard]] Result<void> apply_override(Document& document, const std::string& assignment);

}  // namespace hydro::job
