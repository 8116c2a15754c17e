// hydro/run/installation.h — where this program's own parts lie: the exporter's Python package
// and the default interpreter. Found from the binary's place, so that a checkout can be moved.
#pragma once

#include <filesystem>
#include <string>

#include "hydro/base/result.h"

namespace hydro::run {

struct Installation {
  std::filesystem::path root;         // holds python/hydro
  std::filesystem::path python_path;  // root/python, for PYTHONPATH
  std::filesystem::path interpreter;  // root/.venv/bin/python
};

/// Walks up from the binary (or from $HYDRO_HOME) to the folder that holds
/// python/hydro/export.py.
///
/// Errors: H0802 not found
[[nodiscard]] Result<Installation> find_installation();

/// PYTHONPATH for a program of ours: our package first, then what the user's own variable
/// names.
[[nodiscard]] std::string python_path(const Installation& installation);

}  // namespace hydro::run
