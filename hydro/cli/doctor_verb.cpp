#include <cstdint>
#include <filesystem>
#include <string>
#include <thread>

#include <fmt/core.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "hydro/base/catalogue.h"
#include "hydro/base/result.h"
#include "hydro/cli/spinning.h"
#include "hydro/cli/verbs.h"
#include "hydro/run/installation.h"
#include "hydro/store/study_db.h"
#include "hydro/train/train.h"

namespace hydro::cli {
namespace {

void line(const std::string& what, const std::string& value) {
  fmt::print("{:<22} {}\n", what, value);
}

double gibibytes(std::uint64_t bytes) {
  return static_cast<double>(bytes) / (1024.0 * 1024.0 * 1024.0);
}

std::string memory() {
  const auto pages = static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES));
  const auto size = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  return fmt::format("{:.1f} GiB", gibibytes(pages * size));
}

std::string free_disk() {
  struct statvfs info{};
  if (::statvfs(".", &info) != 0) {
    return "unknown";
  }
  return fmt::format("{:.1f} GiB", gibibytes(std::uint64_t{info.f_bavail} * info.f_frsize));
}

/// Prints the parts that belong to the installation; says whether all are there.
bool installation() {
  const Result<run::Installation> found = run::find_installation();
  if (!found.has_value()) {
    line("exporter", "MISSING: " + found.error().what);
    return false;
  }
  line("exporter", (found->python_path / "hydro" / "export.py").string());
  const bool python = std::filesystem::exists(found->interpreter);
  line("python",
       python ? found->interpreter.string()
              : "MISSING: " + found->interpreter.string() + " (run tools/bootstrap)");
  return python;
}

}  // namespace

VerbResult doctor_verb() {
  line("hydro", HYDRO_VERSION);
  const train::TorchInfo torch = train::torch_info();
  line("torch", torch.version);
  line("torch library", torch.path);
  line("cpu",
       fmt::format("{} cores, {}", std::thread::hardware_concurrency(), torch.capability));
  line("threads of torch", std::to_string(torch.threads));
  line("waiting threads", spinning_text());
  line("devices", "cpu (this build uses no GPU)");
  line("memory", memory());
  line("free disk here", free_disk());
  line("sqlite", store::sqlite_version());
  const bool whole = installation();
  line("verdict", whole ? "ready" : "not ready: see MISSING above");
  return whole ? ExitCode::kDone : ExitCode::kEnvironment;
}

}  // namespace hydro::cli
