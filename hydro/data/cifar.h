// hydro/data/cifar.h — the binary version of CIFAR-10 and CIFAR-100.
#pragma once

#include <cstdint>
#include <optional>

#include "hydro/base/result.h"
#include "hydro/data/dataset.h"

namespace hydro::data {

/// Errors: H0401, H0402 another format, H0403 wrong length, H0405
[[nodiscard]] Result<Dataset> load_cifar(const CifarSource& source,
                                         std::optional<std::int64_t> limit);

}  // namespace hydro::data
