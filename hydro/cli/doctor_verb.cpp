#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <link.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "hydro/base/catalogue.h"
#include "hydro/base/json.h"
#include "hydro/base/result.h"
#include "hydro/cli/spinning.h"
#include "hydro/cli/verbs.h"
#include "hydro/run/installation.h"
#include "hydro/store/study_db.h"
#include "hydro/train/train.h"

namespace hydro::cli {
namespace {

/// What there is, in the order of its lines: JSON's keys are the names with _ for blanks.
using Lines = std::vector<std::pair<std::string, std::string>>;

constexpr std::string_view kMissing = "MISSING: ";

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

/// Where the dynamic linker found the library; empty: it did not.
std::string loaded_library(std::string_view name) {
  struct Search {
    std::string_view name;
    std::string found;
  } search = {.name = name, .found = {}};

  ::dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t /*size*/, void* data) {
        auto* wanted = static_cast<Search*>(data);
        const std::string path = info->dlpi_name;
        const bool is_it =
            std::filesystem::path(path).filename().string().starts_with(wanted->name);
        if (is_it) {
          wanted->found = path;
        }
        return is_it ? 1 : 0;
      },
      &search);
  return search.found;
}

std::string sentencepiece() {
  const std::string path = loaded_library("libsentencepiece.so");
  return path.empty() ? std::string(kMissing) + "libsentencepiece.so (run tools/bootstrap)"
                      : path;
}

/// The parts that belong to the installation.
void add_installation(Lines& lines) {
  const Result<run::Installation> found = run::find_installation();
  if (!found.has_value()) {
    lines.emplace_back("exporter", std::string(kMissing) + found.error().what);
    return;
  }
  lines.emplace_back("exporter", (found->python_path / "hydro" / "export.py").string());
  const std::string interpreter = found->interpreter.string();
  lines.emplace_back("python",
                     std::filesystem::exists(found->interpreter)
                         ? interpreter
                         : std::string(kMissing) + interpreter + " (run tools/bootstrap)");
}

Lines look() {
  const train::TorchInfo torch = train::torch_info();
  Lines lines = {
      {"hydro", HYDRO_VERSION},
      {"torch", torch.version},
      {"torch library", torch.path},
      {"cpu",
       fmt::format("{} cores, {}", std::thread::hardware_concurrency(), torch.capability)},
      {"threads of torch", std::to_string(torch.threads)},
      {"waiting threads", spinning_text()},
      {"devices", "cpu (this build uses no GPU)"},
      {"memory", memory()},
      {"free disk here", free_disk()},
      {"sqlite", store::sqlite_version()},
      {"sentencepiece", sentencepiece()}};
  add_installation(lines);
  return lines;
}

std::string json_of(const Lines& lines) {
  OrderedJson out = OrderedJson::object();
  for (const auto& [name, value] : lines) {
    std::string key = name;
    std::ranges::replace(key, ' ', '_');
    out[key] = value;
  }
  return out.dump(1) + "\n";
}

}  // namespace

VerbResult doctor_verb(const DoctorOptions& options) {
  Lines lines = look();
  const bool whole = std::ranges::none_of(
      lines, [](const auto& line) { return line.second.starts_with(kMissing); });
  lines.emplace_back("verdict", whole ? "ready" : "not ready: see MISSING above");
  if (options.format == "json") {
    fmt::print("{}", json_of(lines));
  } else {
    for (const auto& [name, value] : lines) {
      fmt::print("{:<22} {}\n", name, value);
    }
  }
  return whole ? ExitCode::kDone : ExitCode::kEnvironment;
}

}  // namespace hydro::cli
