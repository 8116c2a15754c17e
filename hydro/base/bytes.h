// hydro/base/bytes.h — raw bytes, and sizes that say so.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace hydro {

using Bytes = std::vector<std::byte>;

}  // namespace hydro
