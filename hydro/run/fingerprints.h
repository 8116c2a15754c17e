// hydro/run/fingerprints.h — what a study read, by content: two runs with equal fingerprints
// saw the same model and the same data.
#pragma once

#include <filesystem>
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

/// The comment lines that end job.yaml: one for each model archive and each data file.
///
/// Errors: H0601
[[nodiscard]] Result<std::string> fingerprint_lines(
    const job::Job& job, const std::vector<Architecture>& architectures);

}  // namespace hydro::run
