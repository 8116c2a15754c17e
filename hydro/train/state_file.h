// hydro/train/state_file.h — one trial's state dict as a safetensors file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "hydro/base/result.h"
#include "hydro/ops/torch.h"
#include "hydro/train/network.h"

namespace hydro::train {

/// A type by the format's word: "F32".
[[nodiscard]] std::string stored_name(at::ScalarType type);

/// All entries but the non-persistent, in state-dict order, ties and unused entries included;
/// row-major. What torch's load_state_dict(load_file(path), strict=True) takes.
///
/// Errors: H0603
[[nodiscard]] Result<void> write_state(const Network& network,
                                       std::int64_t trial,
                                       const std::filesystem::path& path);

}  // namespace hydro::train
