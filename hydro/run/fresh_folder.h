// hydro/run/fresh_folder.h — the run folder of a study that is being prepared: a start that
// fails leaves the disk as it was.
#pragma once

#include <filesystem>
#include <set>
#include <string>

#include "hydro/base/result.h"
#include "hydro/store/study_folder.h"

namespace hydro::run {

/// Holds the folder's lock. Unless keep() was called, the destructor removes the folder, or
/// what was put into one that existed, and points `latest` back.
class FreshFolder {
 public:
  /// `wanted`, or the first free one of runs/NAME, runs/NAME-2, ... when that is empty.
  ///
  /// Errors: H0614 locked, H0615 it holds another study, H0616
  [[nodiscard]] static Result<FreshFolder> open(const std::string& name,
                                                const std::filesystem::path& wanted);

  FreshFolder(FreshFolder&& other) noexcept;
  FreshFolder(const FreshFolder&) = delete;
  FreshFolder& operator=(const FreshFolder&) = delete;
  FreshFolder& operator=(FreshFolder&&) = delete;
  ~FreshFolder();

  void keep() { kept_ = true; }

  [[nodiscard]] const std::filesystem::path& path() const { return folder_.path; }

 private:
  /// What was there before.
  struct Before {
    bool existed = false;
    std::set<std::filesystem::path> entries;
    std::filesystem::path latest;  // where runs/latest pointed; empty: nowhere, or not touched
  };

  FreshFolder(store::StudyFolder folder, Before before);
  void restore_latest() const;

  store::StudyFolder folder_;
  Before before_;
  bool kept_ = false;
};

}  // namespace hydro::run
