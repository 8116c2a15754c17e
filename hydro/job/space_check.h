// hydro/job/space_check.h — the searched part of a job: every option and every end of a range
// is tried once on the `train:` reader, so that a bad one is met before the search and not in
// its tenth trial; and what does not transfer across widths is refused.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/job/distributions.h"
#include "hydro/job/job.h"
#include "hydro/job/node.h"
#include "hydro/job/reader.h"
#include "hydro/job/sections.h"
#include "hydro/search/searcher.h"
#include "hydro/search/space.h"

namespace hydro::job {

/// `config` and the medians of every other active parameter.
[[nodiscard]] search::Config complete_config(const search::Space& space, search::Config config);

/// All distributions under `model.kwargs` and `train`, in the file's order.
[[nodiscard]] Result<std::vector<FoundParameter>> find_space(const Reader& reader,
                                                             const Node& root);

/// The `train:` mapping without its distributions. Requires: `config` is complete (BugError)
[[nodiscard]] Node resolved_train(const Node& train, const search::Config& config);

/// The searcher of `search:` alone, without points and with repeats; for a process, random.
///
/// Errors: H0706 to H0708, H0726
[[nodiscard]] Result<std::unique_ptr<search::Searcher>> make_plain_searcher(
    const TuneSection& tune, search::Space space);
/// What `dedup` says, or whether the space is finite.
[[nodiscard]] bool tries_each_once(const TuneSection& tune, const search::Space& space);

/// Reads `train` once for every value in question. `warnings` gets each kind once.
///
/// Errors: what read_train says; H0120, H0121 at S over 1; H0111 too many models; H0706 to
/// H0708, H0720, H0721, H0726
[[nodiscard]] Result<void> check_space(const Reader& reader,
                                       const Node& root,
                                       const std::vector<FoundParameter>& found,
                                       const Job& job,
                                       std::vector<Error>& warnings);

}  // namespace hydro::job
