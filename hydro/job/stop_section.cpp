// `tune.stop`: rules that end a trial.
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/base/text.h"
#include "hydro/job/node.h"
#include "hydro/job/reader.h"
#include "hydro/job/scheduler_section.h"
#include "hydro/job/schema.h"
#include "hydro/search/stop_rules.h"

namespace hydro::job {
namespace {

using search::StopKind;
using search::StopRule;

constexpr const char* kForms =
    "rules such as {metric: val_loss, above: 10}, {time: 10 min} or {all: [...]}";

/// One rule's keys as written.
struct RuleValues {
  const std::vector<std::string>& metrics;
  std::string metric;
  std::optional<double> above = {};
  std::optional<double> below = {};
  std::optional<double> seconds = {};
  std::optional<StopRule> joined = {};
};

Result<StopRule> read_list(const Reader& reader,
                           const Node& node,
                           StopKind kind,
                           const std::vector<std::string>& metrics);

Result<void> read_metric(const Reader& reader,
                         const Node& node,
                         const Row<RuleValues>& row,
                         RuleValues& out) {
  if (!node.is_scalar()) {
    return reader.wrong(node, row.key, row.type);
  }
  if (std::ranges::find(out.metrics, node.text) == out.metrics.end()) {
    return unknown_metric(reader, node, out.metrics);
  }
  out.metric = node.text;
  return {};
}

Result<void> read_seconds(const Reader& reader,
                          const Node& node,
                          const Row<RuleValues>& row,
                          RuleValues& out) {
  const auto time = as_duration(node);
  if (!time) {
    return reader.wrong(node, row.key, row.type);
  }
  out.seconds = std::chrono::duration<double>(*time).count();
  return {};
}

template <StopKind Kind>
Result<void> read_joined(const Reader& reader,
                         const Node& node,
                         const Row<RuleValues>& /*row*/,
                         RuleValues& out) {
  HYDRO_TRY(out.joined, read_list(reader, node, Kind, out.metrics));
  return {};
}

constexpr auto kRuleRows = std::to_array<Row<RuleValues>>({
    {"metric", "a metric's name", "", "what `above` or `below` looks at", &read_metric},
    {"above",
     "a number",
     "",
     "holds where the metric is over it",
     &read_number<&RuleValues::above, Limits{.low = -HUGE_VAL}, RuleValues>},
    {"below",
     "a number",
     "",
     "holds where the metric is under it",
     &read_number<&RuleValues::below, Limits{.low = -HUGE_VAL}, RuleValues>},
    {"time",
     "a time such as 90 s, 15 min or 2 h",
     "",
     "holds where the trial has trained for longer",
     &read_seconds},
    {"any",
     "a list of rules",
     "",
     "holds where one of them does",
     &read_joined<StopKind::kAny>},
    {"all",
     "a list of rules",
     "",
     "holds where each of them does",
     &read_joined<StopKind::kAll>},
});

/// Exactly one thing is asked.
std::optional<StopRule> rule_of(RuleValues values) {
  const int asked = (values.above ? 1 : 0) + (values.below ? 1 : 0) + (values.seconds ? 1 : 0) +
                    (values.joined ? 1 : 0);
  const bool compares = values.above || values.below;
  if (asked != 1 || compares == values.metric.empty()) {
    return std::nullopt;
  }
  if (values.joined) {
    return std::move(values.joined);
  }
  if (values.seconds) {
    return StopRule{
        .kind = StopKind::kTime, .metric = {}, .bound = *values.seconds, .rules = {}};
  }
  return StopRule{.kind = values.above ? StopKind::kAbove : StopKind::kBelow,
                  .metric = std::move(values.metric),
                  .bound = values.above.value_or(values.below.value_or(0)),
                  .rules = {}};
}

// NOLINTNEXTLINE(misc-no-recursion): trees are at most 32 levels deep
Result<StopRule> read_rule(const Reader& reader,
                           const Node& node,
                           const std::vector<std::string>& metrics) {
  if (!node.is_map()) {
    return reader.wrong(node, "stop", kForms);
  }
  RuleValues values{.metrics = metrics, .metric = {}};
  HYDRO_TRY_VOID(
      read_rows(reader, node, "stop", std::span<const Row<RuleValues>>(kRuleRows), values));
  std::optional<StopRule> rule = rule_of(std::move(values));
  if (!rule) {
    return reader.error(node, "H0109", "a rule asks for one thing")
        .because("it is a metric with above or below, a time, or any or all of other rules")
        .fix("write " + std::string(kForms));
  }
  return *std::move(rule);
}

// NOLINTNEXTLINE(misc-no-recursion): trees are at most 32 levels deep
Result<StopRule> read_list(const Reader& reader,
                           const Node& node,
                           StopKind kind,
                           const std::vector<std::string>& metrics) {
  if (!node.is_sequence() || node.items.empty()) {
    return reader.wrong(node, "stop", "a list of at least one of the " + std::string(kForms));
  }
  StopRule out{.kind = kind, .metric = {}, .rules = {}};
  for (const Node& item : node.items) {
    HYDRO_TRY(StopRule rule, read_rule(reader, item, metrics));
    out.rules.push_back(std::move(rule));
  }
  return out;
}

// NOLINTNEXTLINE(misc-no-recursion): trees are at most 32 levels deep
bool has_time(const StopRule& rule) {
  return rule.kind == StopKind::kTime || std::ranges::any_of(rule.rules, &has_time);
}

}  // namespace

Error unknown_metric(const Reader& reader,
                     const Node& node,
                     const std::vector<std::string>& metrics) {
  const std::string meant = nearest(node.text, metrics);
  return reader.error(node, "H0122", "metric `" + printable(node.text) + "` is never reported")
      .because("this task reports " + join(metrics, ", "))
      .fix(meant.empty() ? "use one of these" : "did you mean `" + meant + "`?");
}

Result<StopRule> read_stop(const Reader& reader,
                           const Node& node,
                           const std::vector<std::string>& metrics) {
  return node.is_map() ? read_rule(reader, node, metrics)
                       : read_list(reader, node, StopKind::kAny, metrics);
}

Result<void> refuse_time(const Reader& reader, const Node& node, const StopRule& rule) {
  return has_time(rule)
             ? Result<void>(reader.error(
                   node, "H0109", "a rule on `time` stands beside `deterministic: true`"))
             : Result<void>();
}

void list_stop(std::vector<KnownKey>& keys) {
  list_rows("stop", std::span<const Row<RuleValues>>(kRuleRows), keys);
}

}  // namespace hydro::job
