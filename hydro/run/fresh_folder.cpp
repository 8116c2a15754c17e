#include "hydro/run/fresh_folder.h"

#include <filesystem>
#include <set>
#include <string>
#include <system_error>
#include <utility>

#include "hydro/base/result.h"
#include "hydro/store/study_folder.h"

namespace hydro::run {
namespace {

namespace fs = std::filesystem;

constexpr const char* kRuns = "runs";

std::set<fs::path> entries_of(const fs::path& folder) {
  std::set<fs::path> out;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored)) {
    out.insert(entry.path().filename());
  }
  return out;
}

}  // namespace

FreshFolder::FreshFolder(store::StudyFolder folder, Before before)
    : folder_(std::move(folder)), before_(std::move(before)) {}

FreshFolder::FreshFolder(FreshFolder&& other) noexcept
    : folder_(std::move(other.folder_)),
      before_(std::move(other.before_)),
      kept_(std::exchange(other.kept_, true)) {}

Result<FreshFolder> FreshFolder::open(const std::string& name, const fs::path& wanted) {
  std::error_code ignored;
  Before before;
  if (wanted.empty()) {
    before.latest = fs::read_symlink(fs::path(kRuns) / "latest", ignored);
    HYDRO_TRY(store::StudyFolder folder, store::make_fresh_folder(kRuns, name));
    return FreshFolder(std::move(folder), std::move(before));
  }
  before.existed = fs::exists(wanted, ignored);
  before.entries = entries_of(wanted);
  HYDRO_TRY(store::StudyFolder folder, store::make_folder_at(wanted));
  return FreshFolder(std::move(folder), std::move(before));
}

FreshFolder::~FreshFolder() {
  if (kept_) {
    return;
  }
  std::error_code ignored;
  if (!before_.existed) {
    fs::remove_all(folder_.path, ignored);
    restore_latest();
    return;
  }
  for (const fs::path& entry : entries_of(folder_.path)) {
    if (!before_.entries.contains(entry)) {
      fs::remove_all(folder_.path / entry, ignored);
    }
  }
}

void FreshFolder::restore_latest() const {
  std::error_code ignored;
  const fs::path latest = folder_.path.parent_path() / "latest";
  // Another study may have started meanwhile: then the link is its own.
  if (fs::read_symlink(latest, ignored) != folder_.path.filename()) {
    return;
  }
  fs::remove(latest, ignored);
  if (!before_.latest.empty()) {
    fs::create_symlink(before_.latest, latest, ignored);
  }
}

}  // namespace hydro::run
