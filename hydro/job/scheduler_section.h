// hydro/job/scheduler_section.h — `tune.scheduler` and `tune.stop`: what ends a trial early.
#pragma once

#include <string>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/job/job.h"
#include "hydro/job/node.h"
#include "hydro/job/reader.h"
#include "hydro/job/schema.h"
#include "hydro/search/stop_rules.h"

namespace hydro::job {

[[nodiscard]] Result<Scheduler> read_scheduler(const Reader& reader, const Node& node);
/// `metrics`: the names that trials report. Errors: H0122 a rule on another one
[[nodiscard]] Result<search::StopRule> read_stop(const Reader& reader,
                                                 const Node& node,
                                                 const std::vector<std::string>& metrics);
/// A rule on measured seconds decides differently each time. Errors: H0109
[[nodiscard]] Result<void> refuse_time(const Reader& reader,
                                       const Node& node,
                                       const search::StopRule& rule);

[[nodiscard]] Error unknown_metric(const Reader& reader,
                                   const Node& node,
                                   const std::vector<std::string>& metrics);

/// Checks what the job file alone decides: the number of evaluations where it is known.
[[nodiscard]] Result<void> check_scheduler(Job& job);

/// Adds the defaults of the scheduler that is named.
void complete_scheduler(Node& node);
/// Appends the tables of every scheduler.
void list_schedulers(std::vector<KnownKey>& keys);
/// Appends the table of stop rules.
void list_stop(std::vector<KnownKey>& keys);

}  // namespace hydro::job
