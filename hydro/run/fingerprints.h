// hydro/run/fingerprints.h — what a study read, by content: two runs with equal fingerprints
// saw the same model and the same data.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/job/job.h"
#include "hydro/run/material.h"

namespace hydro::run {

/// 16 hexadecimal digits of a file's content, read piece by piece.
///
/// Errors: H0601
[[nodiscard]] Result<std::string> file_fingerprint(const std::filesystem::path& file);

/// 16 hexadecimal digits of the images that a split takes from a folder: their paths in it and
/// their contents.
///
/// Errors: H0601, and those of listing the folder
[[nodiscard]] Result<std::string> image_folder_fingerprint(const std::filesystem::path& folder,
                                                           std::optional<std::int64_t> limit);

/// The comment lines that end job.yaml: one for each model archive and each data file or image
/// folder.
///
/// Errors: H0601, and those of listing a folder
[[nodiscard]] Result<std::string> fingerprint_lines(
    const job::Job& job, const std::vector<Architecture>& architectures);

}  // namespace hydro::run
