#include "hydro/run/installation.h"

#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

#include "hydro/base/result.h"

namespace hydro::run {
namespace {

/// $HYDRO_HOME, or the folder of this program.
std::filesystem::path first_folder() {
  std::error_code ignored;
  const char* home =
      std::getenv("HYDRO_HOME");  // NOLINT(concurrency-mt-unsafe): read before threads start
  return home != nullptr && *home != '\0'
             ? std::filesystem::absolute(home, ignored)
             : std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path();
}

}  // namespace

Result<Installation> find_installation() {
  const std::filesystem::path start = first_folder();
  std::error_code ignored;
  for (auto folder = start; !folder.empty(); folder = folder.parent_path()) {
    if (std::filesystem::exists(folder / "python" / "hydro" / "export.py", ignored)) {
      return Installation{.root = folder,
                          .python_path = folder / "python",
                          .interpreter = folder / ".venv" / "bin" / "python"};
    }
    if (folder == folder.root_path()) {
      break;
    }
  }
  return make_error(
      "H0802",
      "python/hydro/export.py is neither in `" + start.string() + "` nor in a folder above it");
}

std::string python_path(const Installation& installation) {
  const char* own =
      std::getenv("PYTHONPATH");  // NOLINT(concurrency-mt-unsafe): read before threads start
  const std::string path = installation.python_path.string();
  return own == nullptr || *own == '\0' ? path : path + ":" + own;
}

}  // namespace hydro::run
