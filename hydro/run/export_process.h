// hydro/run/export_process.h — has the Python exporter write an archive, and turns its refusals
// into Errors.
#pragma once

#include <filesystem>
#include <stop_token>
#include <string>
#include <vector>

#include "hydro/base/result.h"

namespace hydro::run {

/// What `hydro export` takes; see docs/model-archive.md.
struct ExportRequest {
  std::string target;               // "package.module:callable" or "./file.py:callable"
  std::string args = "[]";          // JSON
  std::string kwargs = "{}";        // JSON
  std::vector<std::string> inputs;  // "float32[*,3,28,28]", "ids=int64[*,128]"
  std::string forward = "{}";       // JSON
  std::string initialization = "recorded";
  std::filesystem::path folder;  // first on the import path; relative ./file.py resolve here
  std::filesystem::path interpreter;  // empty: the installation's .venv
  std::filesystem::path output;       // model.pt2
};

/// Runs the user's Python in a process of its own. What it prints comes back, for the log.
///
/// Errors: the exporter's own (H0201..H0229, H0801), H0802, H0803, H0260 it died without a
/// word,
///         H0650 a stop was requested
[[nodiscard]] Result<std::string> export_model(const ExportRequest& request,
                                               const std::stop_token& stop);

}  // namespace hydro::run
