// hydro/store/study_folder.h — the folder of one study: made once, never over another study,
// locked while a process works on it. The lock is flock() on the folder, which the kernel
// releases when its holder dies; the file `.owner` in it only tells others who that is.
#pragma once

#include <filesystem>
#include <string>

#include "hydro/base/result.h"

namespace hydro::store {

/// Holds the lock until it is destroyed. Move only.
class FolderLock {
 public:
  /// Errors: H0614 held by another process, naming it; H0616 refused by the system
  [[nodiscard]] static Result<FolderLock> acquire(const std::filesystem::path& folder);

  FolderLock(FolderLock&& other) noexcept;
  FolderLock& operator=(FolderLock&& other) noexcept;
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;
  ~FolderLock();

 private:
  FolderLock(std::filesystem::path folder, int descriptor);
  void release();
  std::filesystem::path folder_;
  int descriptor_ = -1;
};

/// Whether a process works on the folder. Looks only: nothing is written. A system that cannot
/// tell answers yes.
[[nodiscard]] bool is_in_use(const std::filesystem::path& folder);

struct StudyFolder {
  std::filesystem::path path;
  FolderLock lock;
};

/// The first of `runs`/NAME, NAME-2, NAME-3, ... that does not exist; `runs`/latest then points
/// to it. Characters of the name that could lead elsewhere become '-'.
///
/// Errors: H0616
[[nodiscard]] Result<StudyFolder> make_fresh_folder(const std::filesystem::path& runs,
                                                    const std::string& name);

/// Exactly `folder`, made when missing. Other files may lie in it.
///
/// Errors: H0614 locked; H0615 it holds a study, with what was found; H0616
[[nodiscard]] Result<StudyFolder> make_folder_at(const std::filesystem::path& folder);

/// A folder that holds a study, to go on with it.
///
/// Errors: H0614 locked; H0616; H0617 no study
[[nodiscard]] Result<StudyFolder> open_folder(const std::filesystem::path& folder);

}  // namespace hydro::store
