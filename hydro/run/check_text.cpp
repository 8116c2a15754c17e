#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <fmt/core.h>
#include <fmt/format.h>

#include "hydro/base/catalogue.h"
#include "hydro/base/result.h"
#include "hydro/base/text.h"
#include "hydro/ir/model.h"
#include "hydro/run/check_report.h"
#include "hydro/run/coordinate_check.h"
#include "hydro/search/space.h"
#include "hydro/shrink/coordinates.h"
#include "hydro/shrink/surrogate.h"

namespace hydro::run {
namespace {

std::string short_number(double value) {
  return fmt::format("{:.4g}", value);
}

std::string shape_text(const std::vector<std::int64_t>& shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

std::string law_text(const ir::Law& law) {
  switch (law.kind) {
    case ir::LawKind::kUniform:
      return fmt::format("uniform({:.4g}, {:.4g})", law.low, law.high);
    case ir::LawKind::kNormal:
      return fmt::format("normal(std {:.4g})", law.std);
    case ir::LawKind::kTruncatedNormal:
      return fmt::format("truncated normal(std {:.4g})", law.std);
    case ir::LawKind::kConstant:
      return fmt::format("constant {:.4g}", law.value);
  }
  return "";
}

std::string widths_text(const shrink::Surrogate& surrogate) {
  std::string text = "widths (target -> surrogate)\n";
  for (const shrink::WidthClass& width : surrogate.classes) {
    if (!width.pinned_because.empty()) {
      continue;
    }
    text += fmt::format("  {:>6} -> {:<6} x{:<7} {}{}\n",
                        width.size,
                        width.surrogate,
                        short_number(width.ratio),
                        width.name,
                        width.held_because.empty() ? "" : "  (" + width.held_because + ")");
  }
  text += "pinned\n";
  for (const shrink::WidthClass& width : surrogate.classes) {
    if (!width.pinned_because.empty() && width.size > 1) {
      text += fmt::format("  {:>6} {}: {}\n", width.size, width.name, width.pinned_because);
    }
  }
  return text;
}

std::string parameters_text(const shrink::Surrogate& surrogate) {
  std::string text = fmt::format(
      "parameters: {} -> {} ({:.1f} times fewer)\n",
      surrogate.target_parameters,
      surrogate.surrogate_parameters,
      static_cast<double>(surrogate.target_parameters) /
          static_cast<double>(std::max<std::int64_t>(surrogate.surrogate_parameters, 1)));
  text += fmt::format("  {:<36} {:<12} {:<22} {:>8} {:>8} {:>8} {:>8} {:>8}  {}\n",
                      "name",
                      "role",
                      "surrogate shape",
                      "r_in",
                      "r_out",
                      "lr sgd",
                      "lr adam",
                      "times",
                      "initialised");
  for (const shrink::ParameterPlan& plan : surrogate.parameters) {
    const std::string role =
        std::string(shrink::role_name(plan.role)) + (plan.readout ? " (0)" : "");
    text += fmt::format("  {:<36} {:<12} {:<22} {:>8} {:>8} {:>8} {:>8} {:>8}  {}{}\n",
                        plan.name,
                        role,
                        shape_text(plan.surrogate_shape),
                        short_number(plan.r_in),
                        short_number(plan.r_out),
                        short_number(plan.sgd.lr),
                        short_number(plan.adam.lr),
                        short_number(plan.multiplier),
                        plan.laws.empty() ? "" : law_text(plan.laws.front()),
                        plan.laws.size() > 1 ? ", ..." : "");
  }
  return text;
}

std::string space_text(const search::Space& space) {
  std::string text = "search space\n";
  for (const search::Parameter& parameter : space.parameters) {
    text += fmt::format("  {:<14} {:<12} {} (median {})\n",
                        parameter.name,
                        search::distribution_name(parameter.distribution),
                        parameter.path,
                        search::to_text(search::median(parameter.distribution)));
  }
  return text;
}

std::string coordinates_text(const shrink::CoordinateVerdict& verdict) {
  std::string text = fmt::format(
      "coordinate check: {} (geometric mean over hidden layers {:.3f}; step-1 losses {})\n",
      verdict.passed ? "passed" : "FAILED",
      verdict.hidden_mean,
      verdict.losses_equal ? "equal" : "DIFFER");
  for (const shrink::JudgedLayer& layer : verdict.layers) {
    text += fmt::format("  {:<36} {:<8} update {:>6.3f}  activation {:>6.3f}  {}\n",
                        layer.layer,
                        shrink::role_name(layer.role),
                        layer.update_ratio,
                        layer.activation_ratio,
                        !layer.judged  ? "not judged: too narrow"
                        : layer.passed ? "ok"
                                       : "FAILED");
  }
  for (const std::string& name : failed_aggregates(verdict)) {
    text += fmt::format("  {}: FAILED\n", name);
  }
  return text;
}

}  // namespace

std::string check_text(const CheckReport& report) {
  std::string text =
      fmt::format("study {} at scaling {}\n", report.study, plain_number(report.scaling));
  for (const CheckedModel& model : report.models) {
    if (!model.label.empty()) {
      text += fmt::format("\nmodel {}\n", model.label);
    }
    text += "\n" + widths_text(model.surrogate) + "\n" + parameters_text(model.surrogate);
  }
  text += "\n" + space_text(report.space) + "\ngroups (trials that may share a container)\n";
  for (const CheckedGroup& group : report.groups) {
    text += fmt::format("  batch {:<6} {:>4} trials in {:>4} containers{}\n",
                        group.batch_size,
                        group.trials,
                        group.containers,
                        group.model.empty() ? "" : "  " + group.model);
  }
  if (report.coordinates.has_value()) {
    text += "\n" + coordinates_text(*report.coordinates);
  }
  for (const std::string& warning : report.warnings) {
    text += "warning: " + warning + "\n";
  }
  for (const Error& error : report.refusals) {
    text += render(error);
  }
  return text;
}

}  // namespace hydro::run
