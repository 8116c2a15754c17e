#include "hydro/run/installation.h"

#include <cstdlib>
#include <string>
#include <system_error>

namespace hydro::run {

Result<Installation> find_installation() {
  std::error_code ignored;
  const char* home = std::getenv("HYDRO_HOME");  // NOLINT(concurrency-mt-unsafe): read before threads start
  const std::filesystem::path start =
      home != nullptr ? std::filesystem::path(home) / "bin" : std::filesystem::read_symlink("/proc/self/exe", ignored);
  for (auto folder = start.parent_path(); !folder.empty(); folder = folder.parent_path()) {
    if (std::filesystem::exists(folder / "python" / "hydro" / "export.py", ignored)) {
      return Installation{.root = folder,
                          .python_path = folder / "python",
                          .interpreter = folder / ".venv" / "bin" / "python"};
    }
    if (folder == folder.root_path()) {
      break;
    }
  }
  return make_error("H0802", "the exporter (python/hydro/export.py) is not above `" + start.string() + "`");
}

}  // namespace hydro::run
