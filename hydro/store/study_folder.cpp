#include "hydro/store/study_folder.h"

#include <array>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include "hydro/base/file.h"
#include "hydro/base/result.h"
#include "hydro/base/text.h"
#include "hydro/store/study_db.h"

namespace hydro::store {
namespace {

constexpr std::string_view kOwnerFile = ".owner";
constexpr std::string_view kDatabase = "study.db";
// What a study writes: none of it may be overwritten.
constexpr std::array<std::string_view, 10> kStudyFiles = {"study.db",
                                                          "result.json",
                                                          "best",
                                                          "trials.csv",
                                                          "metrics.csv",
                                                          "job.yaml",
                                                          "model.pt2",
                                                          "report.html",
                                                          "log.txt",
                                                          "paused"};
constexpr std::uint64_t kMaxOwnerText = 4096;
constexpr int kMaxNumber = 100'000;

std::string reason(int error) {
  return std::generic_category().message(error);
}

Error refused(const std::string& what, const std::filesystem::path& folder, int error) {
  return make_error("H0616", what + " `" + folder.string() + "`")
      .at(folder.string())
      .because(reason(error));
}

std::string host_name() {
  std::array<char, HOST_NAME_MAX + 1> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "unknown host";
}

/// Tells apart a process id of before a restart.
std::string boot_id() {
  const auto text = read_text("/proc/sys/kernel/random/boot_id", kMaxOwnerText);
  return text ? text->substr(0, text->find('\n')) : "unknown";
}

std::string owner_text() {
  return "process " + std::to_string(::getpid()) + " on " + host_name() + ", boot " +
         boot_id() + "\n";
}

std::string read_owner(const std::filesystem::path& folder) {
  const auto text = read_text(folder / kOwnerFile, kMaxOwnerText);
  return text ? printable(std::string_view(*text).substr(0, text->find('\n')))
              : "an unknown process";
}

std::vector<std::string> study_files_in(const std::filesystem::path& folder) {
  std::vector<std::string> found;
  for (const std::string_view name : kStudyFiles) {
    std::error_code ignored;
    if (std::filesystem::exists(folder / name, ignored)) {
      found.emplace_back(name);
    }
  }
  return found;
}

/// Refuses a folder that holds a study, telling what is there.
Result<void> require_no_study(const std::filesystem::path& folder) {
  const std::vector<std::string> found = study_files_in(folder);
  if (found.empty()) {
    return {};
  }
  std::string holds = join(found, ", ");
  const bool is_study = found.front() == kDatabase;
  if (is_study) {
    const auto events = read_events(folder / kDatabase);
    holds += events ? "; its database has " + std::to_string(events->size()) + " events"
                    : "; its database is unreadable";
  }
  return make_error("H0615",
                    "`" + folder.string() + "` holds " +
                        (is_study ? "a study" : "files that a study would overwrite"))
      .at(folder.string())
      .because("it holds " + holds);
}

std::string folder_name(const std::string& name) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.+=";
  std::string out = name.empty() ? "study" : name;
  for (char& c : out) {
    const bool is_foreign = static_cast<unsigned char>(c) >= 0x80;  // letters of other scripts
    c = is_foreign || kPlain.find(c) != std::string_view::npos ? c : '-';
  }
  if (out.front() == '.') {
    out.front() = '-';
  }
  return out;
}

/// A symbolic link is replaced by rename, so that a reader always finds one.
Result<void> point_latest(const std::filesystem::path& runs, const std::string& name) {
  const std::filesystem::path link = runs / "latest";
  const std::filesystem::path temporary = runs / (".latest." + std::to_string(::getpid()));
  ::unlink(temporary.c_str());
  if (::symlink(name.c_str(), temporary.c_str()) != 0) {
    return refused("cannot link", link, errno);
  }
  if (::rename(temporary.c_str(), link.c_str()) != 0) {
    const int error = errno;
    ::unlink(temporary.c_str());
    return refused("cannot link", link, error);
  }
  return {};
}

Result<void> make_parents(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  return error ? Result<void>(refused("cannot make folder", folder, error.value()))
               : Result<void>();
}

}  // namespace

FolderLock::FolderLock(std::filesystem::path folder, int descriptor)
    : folder_(std::move(folder)), descriptor_(descriptor) {}

FolderLock::FolderLock(FolderLock&& other) noexcept
    : folder_(std::move(other.folder_)), descriptor_(std::exchange(other.descriptor_, -1)) {}

FolderLock& FolderLock::operator=(FolderLock&& other) noexcept {
  if (this != &other) {
    release();
    folder_ = std::move(other.folder_);
    descriptor_ = std::exchange(other.descriptor_, -1);
  }
  return *this;
}

FolderLock::~FolderLock() {
  release();
}

void FolderLock::release() {
  if (descriptor_ >= 0) {
    ::unlink((folder_ / kOwnerFile).c_str());
    ::close(std::exchange(descriptor_, -1));
  }
}

Result<FolderLock> FolderLock::acquire(const std::filesystem::path& folder) {
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) {
    return refused("cannot open folder", folder, errno);
  }
  if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
    const int error = errno;
    ::close(descriptor);
    if (error == EWOULDBLOCK) {
      return make_error("H0614", "`" + folder.string() + "` is in use")
          .at(folder.string())
          .because("held by " + read_owner(folder));
    }
    return refused("cannot lock folder", folder, error);
  }
  FolderLock lock(folder, descriptor);
  if (const auto written = write_text_durably(folder / kOwnerFile, owner_text()); !written) {
    return make_error("H0616", "cannot write into folder `" + folder.string() + "`")
        .at(folder.string())
        .because(written.error().why);
  }
  return lock;
}

bool is_in_use(const std::filesystem::path& folder) {
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) {
    return true;
  }
  // Shared, so that two who look do not see each other; closing gives it back.
  const bool is_free = ::flock(descriptor, LOCK_SH | LOCK_NB) == 0;
  ::close(descriptor);
  return !is_free;
}

Result<StudyFolder> make_fresh_folder(const std::filesystem::path& runs,
                                      const std::string& name) {
  constexpr mode_t kMode = 0777;  // less the umask
  HYDRO_TRY_VOID(make_parents(runs));
  const std::string base = folder_name(name);
  for (int number = 1; number <= kMaxNumber; ++number) {
    const std::string candidate = number == 1 ? base : base + "-" + std::to_string(number);
    const std::filesystem::path folder = runs / candidate;
    // mkdir decides between processes that want the same name.
    if (::mkdir(folder.c_str(), kMode) == 0) {
      HYDRO_TRY(FolderLock lock, FolderLock::acquire(folder));
      HYDRO_TRY_VOID(point_latest(runs, candidate));
      return StudyFolder{.path = folder, .lock = std::move(lock)};
    }
    if (errno != EEXIST) {
      return refused("cannot make folder", folder, errno);
    }
  }
  return refused("too many folders like", runs / base, EEXIST);
}

Result<StudyFolder> make_folder_at(const std::filesystem::path& folder) {
  HYDRO_TRY_VOID(make_parents(folder));
  HYDRO_TRY_VOID(require_no_study(folder));
  HYDRO_TRY(FolderLock lock, FolderLock::acquire(folder));
  // Again, since another process may have worked here between the look and the lock.
  HYDRO_TRY_VOID(require_no_study(folder));
  return StudyFolder{.path = folder, .lock = std::move(lock)};
}

Result<StudyFolder> open_folder(const std::filesystem::path& folder) {
  std::error_code ignored;
  if (!std::filesystem::exists(folder / kDatabase, ignored)) {
    return make_error("H0617", "`" + folder.string() + "` holds no study").at(folder.string());
  }
  HYDRO_TRY(FolderLock lock, FolderLock::acquire(folder));
  return StudyFolder{.path = folder, .lock = std::move(lock)};
}

}  // namespace hydro::store
