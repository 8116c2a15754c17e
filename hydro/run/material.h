// hydro/run/material.h — what a study is made of once everything was read and checked: the
// model at both widths, one architecture for each choice of its arguments, and the data behind
// loaders. Immutable; shared by all workers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/data/dataset.h"
#include "hydro/job/job.h"
#include "hydro/pt2/archive.h"
#include "hydro/search/scheduler.h"
#include "hydro/shrink/surrogate.h"

namespace hydro::run {

struct Architecture {
  std::string kwargs;  // of the callable, JSON: ResolvedTrial::kwargs
  std::string label;   // for people; empty when there is only one
  pt2::Manifest manifest;
  std::shared_ptr<const ir::Model> model;              // as exported
  std::shared_ptr<const shrink::Surrogate> surrogate;  // at S
  std::shared_ptr<const shrink::Surrogate> target;     // at full width, readout zeroed alike
  std::string surrogate_key;
  std::string target_key;
  double cost_per_sample = 1;  // multiply-adds of the surrogate
};

struct Loaders {
  std::shared_ptr<const data::Loader> training;
  std::shared_ptr<const data::Loader> validation;
  std::shared_ptr<const data::Loader> test;  // may be null
};

struct Material {
  std::vector<Architecture> architectures;
  Loaders loaders;
  std::string exporter_said;  // what the user's Python printed

  /// Requires: `kwargs` is one of the job's variants (BugError)
  [[nodiscard]] const Architecture& architecture(const std::string& kwargs) const;
  /// What exporting and shrinking want people to read; each once, though several architectures
  /// say it.
  [[nodiscard]] std::vector<std::string> warnings() const;
};

struct Folders {
  std::filesystem::path job;  // the job file's: the user's Python imports from here
  std::filesystem::path run;  // takes model.pt2
};

/// "model.pt2", "model-1.pt2", ...: the archive of the index-th architecture in the run's
/// folder.
[[nodiscard]] std::string archive_name(std::size_t index);

/// Exports (or copies) every architecture to model.pt2, model-1.pt2, ..., reads and shrinks it.
///
/// Errors: H02xx of exporter and reader, H03xx of shrinking, H06xx writing
[[nodiscard]] Result<Material> prepare_models(const job::Job& job,
                                              const Folders& folders,
                                              const std::stop_token& stop);

/// The same of a study that was prepared before: every architecture from the archives in its
/// folder.
///
/// Errors: H02xx of the reader, H03xx of shrinking
[[nodiscard]] Result<Material> read_models(const job::Job& job,
                                           const std::filesystem::path& folder);

/// Loads all splits and checks them against the models.
///
/// Errors: H04xx
[[nodiscard]] Result<Loaders> prepare_data(const job::Job& job,
                                           const std::vector<Architecture>& architectures);

/// How many evaluations a trial has; where batch sizes differ, the most.
[[nodiscard]] std::int64_t evaluations_of(const job::Job& job, const Material& material);

/// The job's scheduler on this data.
///
/// Errors: H0125 its times do not fit
[[nodiscard]] Result<search::SchedulerSettings> scheduler_of(const job::Job& job,
                                                             const Material& material);

/// The shrink options that a job asks for, at factor `scaling`.
[[nodiscard]] Result<shrink::Options> shrink_options(const job::Job& job, double scaling);

}  // namespace hydro::run
