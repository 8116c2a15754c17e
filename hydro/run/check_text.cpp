#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <fmt/core.h>
#include <fmt/format.h>

#include "hydro/base/catalogue.h"
#include "hydro/base/result.h"
#include "hydro/base/text.h"
#include "hydro/ir/model.h"
#include "hydro/job/job.h"
#include "hydro/job/transfer.h"
#include "hydro/run/check_report.h"
#include "hydro/run/coordinate_check.h"
#include "hydro/search/preview.h"
#include "hydro/search/scheduler.h"
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

/// A part of the report; nothing when it has no lines.
std::string part(const std::string& title, const std::string& lines) {
  return lines.empty() ? "" : "\n" + title + "\n" + lines;
}

std::string widths_text(const shrink::Surrogate& surrogate) {
  std::string text;
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
  return text;
}

std::string pinned_text(const shrink::Surrogate& surrogate) {
  std::string text;
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

/// Few digits: nobody copies a median.
std::string value_text(const search::Value& value) {
  const auto* number = std::get_if<double>(&value);
  return number != nullptr ? short_number(*number) : search::to_text(value);
}

std::string space_text(const CheckReport& report) {
  std::string text;
  for (std::size_t i = 0; i < report.space.parameters.size(); ++i) {
    const search::Parameter& parameter = report.space.parameters[i];
    const job::Transfer& transfer = report.transfers.at(i);
    text += fmt::format("  {:<14} {:<12} {} (median {}), {}{}{}\n",
                        parameter.name,
                        search::distribution_name(parameter.distribution),
                        parameter.path,
                        value_text(search::median(parameter.distribution)),
                        job::transfer_name(transfer.kind),
                        transfer.why.empty() ? "" : ": ",
                        transfer.why);
  }
  return text;
}

std::string verdict_word(const shrink::CoordinateVerdict& verdict) {
  if (std::ranges::none_of(verdict.layers, &shrink::JudgedLayer::judged)) {
    return verdict.passed ? "NOTHING TO JUDGE" : "FAILED";
  }
  return verdict.passed ? "passed" : "FAILED";
}

std::string coordinates_text(const shrink::CoordinateVerdict& verdict) {
  std::string text = fmt::format(
      "coordinate check: {} (geometric mean over hidden layers {:.3f}; step-1 losses {})\n",
      verdict_word(verdict),
      verdict.hidden_mean,
      !verdict.losses_compared ? "not compared: the head starts as the embedding does"
      : verdict.losses_equal   ? "equal"
                               : "DIFFER");
  text += fmt::format(
      "  S = {:g} over S = {:g}; limits: update {:g} to {:g}, its geometric mean {:g} to {:g}, "
      "mean activation of a kind {:.3g} to {:.3g}\n",
      verdict.plan.narrow,
      verdict.plan.wide,
      verdict.band.layer_low,
      verdict.band.layer_high,
      verdict.band.mean_low,
      verdict.band.mean_high,
      1 / verdict.band.activation,
      verdict.band.activation);
  for (const shrink::JudgedLayer& layer : verdict.layers) {
    text += fmt::format("  {:<36} {:<8} update {:>6.3f}  activation {:>6.3f}  {}\n",
                        layer.layer,
                        shrink::role_name(layer.role),
                        layer.update_ratio,
                        layer.activation_ratio,
                        !layer.judged() ? "not judged: " + layer.not_judged_because
                                        : std::string(layer.passed ? "ok" : "FAILED"));
  }
  for (const shrink::Miss& miss : failed_aggregates(verdict)) {
    text += fmt::format("  {}: FAILED\n", miss_text(miss));
  }
  const std::optional<Error> refusal = refusal_of(verdict);
  return refusal ? text + render(*refusal) : text;
}

std::string groups_text(const std::vector<CheckedGroup>& groups) {
  std::string text;
  for (const CheckedGroup& group : groups) {
    text += fmt::format("  batch {:<6} {:>4} trials in {:>4} containers{}\n",
                        group.batch_size,
                        group.trials,
                        group.containers,
                        group.model.empty() ? "" : "  " + group.model);
  }
  return text;
}

std::string share_text(double part, double whole) {
  return fmt::format("{:.0f} %", 100 * part / whole);
}

std::string scheduler_text(const std::optional<CheckedScheduler>& checked) {
  if (!checked.has_value()) {
    return "";
  }
  const search::Preview& preview = checked->preview;
  std::string text = fmt::format(
      "  {} trials of at most {} evaluations\n", checked->trials, checked->settings.max_t);
  for (const search::ExpectedRung& rung : preview.rungs) {
    const std::string trials = short_number(rung.trials);
    text += fmt::format("  {} {:>5}: about {} trial{}\n",
                        rung.at == checked->settings.max_t ? "end " : "rung",
                        rung.at,
                        trials,
                        trials == "1" ? "" : "s");
  }
  if (checked->settings.kind == search::SchedulerKind::kMedian) {
    text += "  median: what is saved depends on the values\n";
  } else if (!preview.rungs.empty()) {
    text += fmt::format(
        "  about {} of {} evaluations: {} saved\n",
        short_number(preview.evaluations),
        short_number(preview.all_to_the_end),
        share_text(preview.all_to_the_end - preview.evaluations, preview.all_to_the_end));
  }
  return text;
}

/// "  train     drop_last true, optimizer.lr 0.001": a line a section, wrapped.
std::string defaults_text(const std::vector<job::DefaultValue>& defaults) {
  constexpr std::size_t kIndent = 12;
  constexpr std::size_t kWidth = 96;
  std::string text;
  std::string section;
  std::size_t column = 0;
  for (const job::DefaultValue& it : defaults) {
    const std::size_t dot = std::min(it.path.find('.'), it.path.size());
    const std::string key = it.path.substr(std::min(dot + 1, it.path.size()));
    const std::string item = key.empty() ? it.value : key + " " + it.value;
    if (it.path.substr(0, dot) != section || text.empty()) {
      section = it.path.substr(0, dot);
      text += fmt::format("{}  {:<10}", text.empty() ? "" : "\n", section);
      column = kIndent;
    } else if (column + item.size() + 2 > kWidth) {
      text += ",\n" + std::string(kIndent, ' ');
      column = kIndent;
    } else {
      text += ", ";
      column += 2;
    }
    text += printable(item);
    column += item.size();
  }
  return text.empty() ? text : text + "\n";
}

std::string model_text(const CheckedModel& model) {
  return (model.label.empty() ? "" : fmt::format("\nmodel {}\n", model.label)) +
         part("widths (target -> surrogate)", widths_text(model.surrogate)) +
         part("pinned", pinned_text(model.surrogate)) + "\n" + parameters_text(model.surrogate);
}

}  // namespace

std::string check_text(const CheckReport& report) {
  std::string text;
  for (const Error& error : report.refusals) {
    text += render(error);
  }
  // Tables of a job that cannot run would hide why.
  if (report.refusals.empty()) {
    text = fmt::format("study {} at scaling {}\n", report.study, plain_number(report.scaling));
    for (const CheckedModel& model : report.models) {
      text += model_text(model);
    }
    text += report.space.parameters.empty()
                ? "\nsearch space: empty, all trials have the same hyperparameters\n"
                : part("search space", space_text(report));
    text += part("defaults used", defaults_text(report.defaults));
    text += part("early stopping", scheduler_text(report.scheduler));
    text += part("groups (trials that may share a container)", groups_text(report.groups));
    if (report.coordinates.has_value()) {
      text += "\n" + coordinates_text(*report.coordinates);
    }
  }
  for (const std::string& warning : report.warnings) {
    text += "warning: " + warning + "\n";
  }
  return text;
}

}  // namespace hydro::run
