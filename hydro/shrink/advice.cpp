#include "hydro/shrink/advice.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/base/text.h"
#include "hydro/ir/graph.h"
#include "hydro/ir/model.h"
#include "hydro/shrink/scales.h"
#include "hydro/shrink/sizes.h"
#include "hydro/shrink/surrogate.h"

namespace hydro::shrink {

namespace {

constexpr std::int64_t kNarrow = 8;
constexpr double kLeastSaving = 2;
constexpr std::size_t kTableRows = 12;

std::string change(const WidthClass& width) {
  return "`" + width.name + "` " + std::to_string(width.size) + " -> " +
         std::to_string(width.surrogate);
}

std::optional<std::string> narrow_warning(const std::vector<WidthClass>& classes) {
  std::vector<std::string> narrow;
  for (const WidthClass& width : classes) {
    if (width.surrogate < width.size && width.whole < kNarrow) {
      narrow.push_back(change(width));
    }
  }
  if (narrow.empty()) {
    return std::nullopt;
  }
  const std::size_t count = narrow.size();
  narrow.resize(std::min<std::size_t>(count, 3));
  return std::to_string(count) + (count == 1 ? " width is" : " widths are") +
         " narrower than " + std::to_string(kNarrow) +
         ", where a surrogate says less about its target: " + join(narrow, ", ") +
         (count > 3 ? ", ..." : "");
}

/// "", or how `constant` relates to the width.
std::string_view relation(double constant, double width) {
  struct Form {
    double value;
    std::string_view text;
  };

  const std::array<Form, 4> forms = {
      {{.value = width, .text = "the width"},
       {.value = std::sqrt(width), .text = "the root of the width"},
       {.value = 1 / width, .text = "one over the width"},
       {.value = 1 / std::sqrt(width), .text = "one over the root of the width"}}};
  for (const Form& form : forms) {
    if (std::abs(std::abs(constant) - form.value) <= 1e-6 * form.value) {
      return form.text;
    }
  }
  return "";
}

/// The number that a node combines activations with.
std::optional<double> scalar_operand(const ir::Graph& graph, const ir::Node& node) {
  const ir::Argument* other = node.find_argument("other");
  const bool is_float = !node.outputs.empty() && graph.value(node.outputs[0]).is_tensor() &&
                        ir::is_floating(graph.value(node.outputs[0]).tensor().dtype);
  if (other == nullptr || node.constant || !is_float) {
    return std::nullopt;
  }
  if (const auto* number = std::get_if<double>(other)) {
    return *number;
  }
  const auto* integer = std::get_if<std::int64_t>(other);
  return integer == nullptr ? std::nullopt : std::optional(static_cast<double>(*integer));
}

void add_constant_warnings(const ir::Graph& graph,
                           const std::vector<WidthClass>& classes,
                           const std::set<ir::NodeId>& known,
                           std::vector<std::string>& warnings) {
  for (std::int32_t i = 0; i < graph.node_count(); ++i) {
    const ir::Node& node = graph.node(ir::NodeId{i});
    const std::optional<double> constant = scalar_operand(graph, node);
    if (!constant || known.contains(ir::NodeId{i})) {
      continue;
    }
    const auto found = std::ranges::find_if(classes, [&](const WidthClass& width) {
      return width.size >= kNarrow && width.surrogate < width.size &&
             !relation(*constant, static_cast<double>(width.size)).empty();
    });
    if (found != classes.end()) {
      warnings.push_back(node.describe() + ": the constant " + plain_number(*constant) +
                         " equals " +
                         std::string(relation(*constant, static_cast<double>(found->size))) +
                         " " + change(*found) + "; it keeps the target's value");
    }
  }
}

std::string cost_text(const WidthClass& width, const Surrogate& surrogate) {
  return width.cost <= 0 ? ""
                         : "; it costs " + std::to_string(width.cost) + " of the surrogate's " +
                               std::to_string(surrogate.surrogate_parameters) + " parameters";
}

bool has_dropout(const ir::Graph& graph) {
  return std::ranges::any_of(graph.nodes(), [](const ir::Node& node) {
    return node.op.find("dropout") != std::string::npos && node.find_argument("p") != nullptr &&
           node.number("p") > 0;
  });
}

std::int64_t elements(const std::vector<std::int64_t>& shape) {
  std::int64_t count = 1;
  for (const std::int64_t size : shape) {
    count *= size;
  }
  return count;
}

std::string shape_text(const std::vector<std::int64_t>& shape) {
  std::vector<std::string> sizes;
  sizes.reserve(shape.size());
  for (const std::int64_t size : shape) {
    sizes.push_back(std::to_string(size));
  }
  return "[" + join(sizes, ", ") + "]";
}

/// The reasons that keep widths from shrinking by S, largest first.
std::string saving_table(const Surrogate& surrogate, double scaling) {
  std::vector<const ParameterPlan*> plans;
  plans.reserve(surrogate.parameters.size());
  for (const ParameterPlan& plan : surrogate.parameters) {
    plans.push_back(&plan);
  }
  std::ranges::stable_sort(plans, std::greater(), [](const ParameterPlan* plan) {
    return elements(plan->surrogate_shape);
  });
  plans.resize(std::min(plans.size(), kTableRows));
  std::string table = "  largest parameters of the surrogate:\n";
  for (const ParameterPlan* plan : plans) {
    table += "    " + plan->name + "  " + shape_text(plan->shape) + " -> " +
             shape_text(plan->surrogate_shape) + "\n";
  }
  table += "  what keeps sizes:\n";
  std::size_t rows = 0;
  for (const WidthClass& width : surrogate.classes) {
    const std::string& reason =
        width.pinned_because.empty() ? width.held_because : width.pinned_because;
    if (!reason.empty() && width.ratio < scaling && rows++ < kTableRows) {
      table += "    " + width.name + "  " + std::to_string(width.size) + " -> " +
               std::to_string(width.surrogate) + "  " + reason + "\n";
    }
  }
  return table;
}

}  // namespace

std::vector<std::string> warnings_of(const ir::Model& target,
                                     const Surrogate& surrogate,
                                     const ScalePlan& scales) {
  const std::vector<WidthClass>& classes = surrogate.classes;
  std::vector<std::string> warnings;
  const bool shrinks =
      std::ranges::any_of(classes, [](const WidthClass& width) { return width.ratio > 1; });
  if (auto narrow = narrow_warning(classes)) {
    warnings.push_back(*std::move(narrow));
  }
  for (const WidthClass& width : classes) {
    if (is_avoidable(width.pinned_because) && width.size >= kNarrow) {
      warnings.push_back("`" + width.name + "` keeps its " + std::to_string(width.size) +
                         " entries: " + width.pinned_because + cost_text(width, surrogate));
    }
  }
  add_constant_warnings(target.train, classes, scales.known, warnings);
  warnings.insert(warnings.end(), scales.notices.begin(), scales.notices.end());
  if (shrinks && has_dropout(target.train)) {
    warnings.emplace_back(
        "dropout keeps its p at every width; the best p may differ between widths");
  }
  return warnings;
}

Result<void> check_saving(const Surrogate& surrogate, const Options& options) {
  const auto target = static_cast<double>(surrogate.target_parameters);
  const auto small = static_cast<double>(surrogate.surrogate_parameters);
  if (options.saving == Saving::kAny || options.scaling == 1 ||
      target >= kLeastSaving * small) {
    return {};
  }
  return make_error("H0302",
                    "shrinking by " + plain_number(options.scaling) + " leaves " +
                        std::to_string(surrogate.surrogate_parameters) + " of " +
                        std::to_string(surrogate.target_parameters) + " parameters")
      .because(
          "a surrogate with more than half of the target's parameters costs about as much to "
          "train")
      .showing(saving_table(surrogate, options.scaling));
}

}  // namespace hydro::shrink
