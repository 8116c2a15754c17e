// What the process runs on, and what is set once for it.
#include <cstddef>
#include <filesystem>
#include <string>

#include <dlfcn.h>

#include "hydro/base/file.h"
#include "hydro/base/result.h"
#include "hydro/ops/torch.h"
#include "hydro/train/train.h"

namespace hydro::train {
namespace {

/// The file that libtorch's functions came from.
std::filesystem::path library_path() {
  Dl_info info{};
  const auto* symbol = reinterpret_cast<const void*>(&at::get_num_threads);
  return ::dladdr(symbol, &info) != 0 && info.dli_fname != nullptr ? info.dli_fname : "";
}

/// The package's own word, as the headers only know what was compiled against: `__version__ =
/// '2.11.0+cu130'`.
std::string version_beside(const std::filesystem::path& library) {
  const Result<std::string> text =
      read_text(library.parent_path().parent_path() / "version.py");
  if (!text) {
    return "unknown";
  }
  const std::string opening = "__version__ = '";
  const std::size_t found = text->find(opening);
  if (found == std::string::npos) {
    return "unknown";
  }
  const std::size_t begin = found + opening.size();
  return text->substr(begin, text->find('\'', begin) - begin);
}

}  // namespace

// New threads inherit the flag from the thread that makes them.
void prepare_process() {
  static_cast<void>(at::globalContext().setFlushDenormal(true));
}

TorchInfo torch_info() {
  const std::filesystem::path library = library_path();
  return {.version = version_beside(library),
          .path = library.string(),
          .threads = at::get_num_threads(),
          .capability = at::get_cpu_capability()};
}

}  // namespace hydro::train
