#include "hydro/search/stop_rules.h"

#include <optional>
#include <string>

#include <fmt/core.h>

namespace hydro::search {
namespace {

std::optional<std::string> broken_any(const StopRule& rule, const Progress& progress) {
  for (const StopRule& part : rule.rules) {
    if (std::optional<std::string> why = broken(part, progress)) {
      return why;
    }
  }
  return std::nullopt;
}

std::optional<std::string> broken_all(const StopRule& rule, const Progress& progress) {
  std::string text;
  for (const StopRule& part : rule.rules) {
    const std::optional<std::string> why = broken(part, progress);
    if (!why) {
      return std::nullopt;
    }
    text += (text.empty() ? "" : " and ") + *why;
  }
  return text.empty() ? std::nullopt : std::optional(text);
}

std::optional<std::string> broken_metric(const StopRule& rule, const Progress& progress) {
  const auto found = progress.metrics.find(rule.metric);
  if (found == progress.metrics.end()) {
    return std::nullopt;
  }
  const bool above = rule.kind == StopKind::kAbove;
  const bool holds = above ? found->second > rule.bound : found->second < rule.bound;
  return holds ? std::optional(fmt::format("{} {:.4g} {} {:.4g}",
                                           rule.metric,
                                           found->second,
                                           above ? "above" : "below",
                                           rule.bound))
               : std::nullopt;
}

}  // namespace

std::optional<std::string> broken(const StopRule& rule, const Progress& progress) {
  switch (rule.kind) {
    case StopKind::kAny:
      return broken_any(rule, progress);
    case StopKind::kAll:
      return broken_all(rule, progress);
    case StopKind::kAbove:
    case StopKind::kBelow:
      return broken_metric(rule, progress);
    case StopKind::kTime:
      break;
  }
  // Only the limit is said: equal causes have equal words.
  return progress.seconds > rule.bound
             ? std::optional(fmt::format("trained for more than {:.4g} s", rule.bound))
             : std::nullopt;
}

}  // namespace hydro::search
