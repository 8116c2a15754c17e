#include "hydro/ir/known_arguments.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/ir/graph.h"
#include "hydro/ir/view.h"

namespace hydro::ir {

namespace {

enum class Wanted : std::uint8_t { kTensor, kTensorOrNone, kInteger, kIntegers, kAnything };

struct WantedRow {
  std::string_view op;
  std::string_view argument;
  Wanted wanted;
};

constexpr std::array kWanted = {
    WantedRow{.op = "aten.batch_norm.default",
              .argument = "running_mean",
              .wanted = Wanted::kTensorOrNone},
    WantedRow{.op = "aten.batch_norm.default",
              .argument = "running_var",
              .wanted = Wanted::kTensorOrNone},
    WantedRow{
        .op = "aten.batch_norm.default", .argument = "training", .wanted = Wanted::kAnything},
    WantedRow{.op = "aten.instance_norm.default",
              .argument = "running_mean",
              .wanted = Wanted::kTensorOrNone},
    WantedRow{.op = "aten.instance_norm.default",
              .argument = "running_var",
              .wanted = Wanted::kTensorOrNone},
    WantedRow{.op = "aten.instance_norm.default",
              .argument = "use_input_stats",
              .wanted = Wanted::kAnything},
    WantedRow{
        .op = "aten.lift_fresh_copy.default", .argument = "self", .wanted = Wanted::kTensor},
    WantedRow{.op = "aten.lift_fresh.default", .argument = "self", .wanted = Wanted::kTensor},
    WantedRow{.op = "aten.copy_.default", .argument = "src", .wanted = Wanted::kTensor},
    WantedRow{.op = "aten.slice.Tensor", .argument = "dim", .wanted = Wanted::kAnything},
    WantedRow{.op = "aten.slice.Tensor", .argument = "start", .wanted = Wanted::kAnything},
    WantedRow{.op = "aten.slice.Tensor", .argument = "end", .wanted = Wanted::kAnything},
    WantedRow{.op = "aten.slice.Tensor", .argument = "step", .wanted = Wanted::kAnything},
    WantedRow{.op = "aten.slice_scatter.default", .argument = "src", .wanted = Wanted::kTensor},
    WantedRow{
        .op = "aten.slice_scatter.default", .argument = "start", .wanted = Wanted::kAnything},
    WantedRow{
        .op = "aten.slice_scatter.default", .argument = "end", .wanted = Wanted::kAnything},
    WantedRow{
        .op = "aten.slice_scatter.default", .argument = "step", .wanted = Wanted::kAnything},
    WantedRow{.op = "aten.narrow.default", .argument = "dim", .wanted = Wanted::kAnything},
    WantedRow{.op = "aten.narrow.default", .argument = "start", .wanted = Wanted::kAnything},
    WantedRow{.op = "aten.narrow.default", .argument = "length", .wanted = Wanted::kAnything},
    WantedRow{.op = "aten.select.int", .argument = "dim", .wanted = Wanted::kAnything},
    WantedRow{.op = "aten.select.int", .argument = "index", .wanted = Wanted::kAnything},
    WantedRow{.op = "aten.diagonal.default", .argument = "offset", .wanted = Wanted::kAnything},
    WantedRow{.op = "aten.diagonal.default", .argument = "dim1", .wanted = Wanted::kAnything},
    WantedRow{.op = "aten.diagonal.default", .argument = "dim2", .wanted = Wanted::kAnything},
    WantedRow{.op = "aten.split.Tensor", .argument = "dim", .wanted = Wanted::kInteger},
    WantedRow{
        .op = "aten.split_with_sizes.default", .argument = "dim", .wanted = Wanted::kInteger},
    WantedRow{.op = "aten.chunk.default", .argument = "dim", .wanted = Wanted::kInteger},
    WantedRow{.op = "aten.unbind.int", .argument = "dim", .wanted = Wanted::kAnything},
    WantedRow{.op = "aten.permute.default", .argument = "dims", .wanted = Wanted::kIntegers},
};

bool is_tensor(const Graph& graph, const Argument& argument) {
  const auto* value = std::get_if<ValueId>(&argument);
  return value != nullptr && graph.value(*value).is_tensor();
}

bool are_constants(const Argument& argument) {
  const auto* items = std::get_if<std::vector<IntItem>>(&argument);
  return items != nullptr && std::ranges::all_of(*items, [](const IntItem& item) {
           return std::holds_alternative<std::int64_t>(item);
         });
}

bool fits(const Graph& graph, const Argument* argument, Wanted wanted) {
  if (argument == nullptr) {
    return false;
  }
  switch (wanted) {
    case Wanted::kTensor:
      return is_tensor(graph, *argument);
    case Wanted::kTensorOrNone:
      return std::holds_alternative<None>(*argument) || is_tensor(graph, *argument);
    case Wanted::kInteger:
      return std::holds_alternative<std::int64_t>(*argument);
    case Wanted::kIntegers:
      return are_constants(*argument);
    case Wanted::kAnything:
      break;
  }
  return true;
}

Error unfit(const Node& node, const std::string& what) {
  return make_error("H0250", what + " of " + node.op + " is not what the op has")
      .at(node.describe());
}

}  // namespace

Result<void> check_known_arguments(const Graph& graph, const Node& node) {
  const ViewRow* view = find_view(node.op);
  bool is_known = view != nullptr;
  if (view != nullptr && !fits(graph, node.find_argument(view->argument), Wanted::kTensor)) {
    return unfit(node, "argument `" + std::string(view->argument) + "`");
  }
  for (const WantedRow& row : kWanted) {
    if (row.op != node.op) {
      continue;
    }
    is_known = true;
    if (!fits(graph, node.find_argument(row.argument), row.wanted)) {
      return unfit(node, "argument `" + std::string(row.argument) + "`");
    }
  }
  const bool gives_tensors =
      !node.outputs.empty() && std::ranges::all_of(node.outputs, [&](ValueId output) {
        return graph.value(output).is_tensor();
      });
  return is_known && !gives_tensors ? unfit(node, "the output") : Result<void>();
}

}  // namespace hydro::ir
