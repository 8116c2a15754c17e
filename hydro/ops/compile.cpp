// Makes a graph ready to run: rows resolved, memory that may be written over found, the last
// use of every value marked.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/fuse/trial_axis.h"
#include "hydro/ir/graph.h"
#include "hydro/ops/boxed.h"
#include "hydro/ops/executor.h"
#include "hydro/ops/families.h"
#include "hydro/ops/program_cache.h"
#include "hydro/ops/table.h"
#include "hydro/ops/torch.h"

namespace hydro::ops {

namespace {

using fuse::Axis;

/// Ops that can write their result over their first operand, and whose backward never reads
/// that operand.
constexpr std::array<std::string_view, 2> kOverwriting = {"aten.relu.default",
                                                          "aten.add.Tensor"};
/// Ops whose result is memory of its own, which their backward never reads again.
constexpr std::array<std::string_view, 7> kFresh = {"aten.conv2d.default",
                                                    "aten.conv2d.padding",
                                                    "aten.batch_norm.default",
                                                    "hydro.batch_norm",
                                                    "aten.linear.default",
                                                    "aten.addmm.default",
                                                    "aten.add.Tensor"};

bool contains(std::span<const std::string_view> ops, std::string_view op) {
  return std::ranges::find(ops, op) != ops.end();
}

std::size_t index(ir::ValueId value) {
  return static_cast<std::size_t>(value);
}

/// For each value the number of reads, graph outputs included.
std::vector<int> count_reads(const ir::Graph& graph) {
  std::vector<int> reads(graph.values().size(), 0);
  for (const ir::Node& node : graph.nodes()) {
    for (const ir::ValueId operand : ir::operands(node)) {
      ++reads[index(operand)];
    }
  }
  for (const ir::Output& output : graph.outputs) {
    ++reads[index(output.value)];
  }
  return reads;
}

/// For each value whether a node that is not constant, or the caller, reads it.
std::vector<bool> read_by_changing(const ir::Graph& graph) {
  std::vector<bool> read(graph.values().size(), false);
  for (const ir::Node& node : graph.nodes()) {
    for (const ir::ValueId operand : ir::operands(node)) {
      read[index(operand)] = read[index(operand)] || !node.constant;
    }
  }
  for (const ir::Output& output : graph.outputs) {
    read[index(output.value)] = true;
  }
  return read;
}

std::vector<ir::ValueId> kept_values(const ir::Node& node,
                                     const std::vector<bool>& read_by_changing) {
  std::vector<ir::ValueId> kept;
  for (const ir::ValueId output : node.outputs) {
    if (node.constant && read_by_changing[index(output)]) {
      kept.push_back(output);
    }
  }
  return kept;
}

/// In place only without a trial axis: stacked results are views, where autograd makes writing
/// dear.
bool may_reuse(const Program& program, const ir::Node& node, const std::vector<int>& reads) {
  const std::vector<ir::ValueId> operands = ir::operands(node);
  if (!contains(kOverwriting, node.op) || operands.empty() ||
      node.arguments.front().name != "self" ||
      node.arguments.front().value != ir::Argument(operands.front())) {
    return false;
  }
  const ir::Value& target = program.graph.value(operands.front());
  return target.producer != ir::kNoNode && !program.graph.node(target.producer).constant &&
         contains(kFresh, program.graph.node(target.producer).op) &&
         reads[index(operands.front())] == 1 &&
         target.type == program.graph.value(node.outputs.front()).type &&
         program.axes[index(node.outputs.front())] == Axis::kShared;
}

/// What is marked constant reads no more than the shape of what differs between trials.
bool runs_stacked(const Program& program, const ir::Node& node) {
  if (node.constant) {
    return false;
  }
  const auto has_axis = [&](ir::ValueId value) {
    return program.axes[index(value)] != Axis::kShared;
  };
  return std::ranges::any_of(ir::operands(node), has_axis) ||
         std::ranges::any_of(node.outputs, has_axis);
}

/// Fills every step's `dead`, walking backwards: the first read met is the last one.
void mark_dead(Program& program) {
  std::vector<bool> needed(program.graph.values().size(), false);
  for (const ir::Output& output : program.graph.outputs) {
    needed[index(output.value)] = true;
  }
  for (auto step = program.steps.rbegin(); step != program.steps.rend(); ++step) {
    const ir::Node& node = program.graph.node(step->node);
    std::vector<ir::ValueId> touched = ir::operands(node);
    touched.insert(touched.end(), node.outputs.begin(), node.outputs.end());
    for (const ir::ValueId value : touched) {
      if (!needed[index(value)]) {
        needed[index(value)] = true;
        step->dead.push_back(value);
      }
    }
  }
}

Error refused(const ir::Node& node, std::string_view id, const std::string& what) {
  return make_error(id, "op `" + node.op + "` " + what)
      .at(node.source.place.empty() ? node.source.module : node.source.place);
}

/// The op's row, or the general one for what libtorch runs by itself.
Result<Row> row_of(const ir::Node& node) {
  if (const Row* row = find_row(node.op); row != nullptr) {
    return *row;
  }
  const std::optional<c10::OperatorHandle> handle = find_operator(node.op);
  if (!handle) {
    return refused(node, "H0330", "is not one of PyTorch's");
  }
  if (handle->hasTag(at::Tag::nondeterministic_seeded) && !fuse::draws_nothing(node)) {
    return refused(node, "H0332", "draws random numbers");
  }
  const bool is_pointwise = handle->hasTag(at::Tag::pointwise);
  return Row{.op = node.op,
             .run_one = boxed,
             .run_stacked = is_pointwise ? boxed_aligned : boxed_stacked};
}

}  // namespace

Result<Program> compile(const ir::Graph& graph, std::int64_t trials) {
  HYDRO_CHECK(trials >= 1, "a graph runs for at least one trial");
  Program program{.graph = graph,
                  .trials = trials,
                  .axes = {},
                  .steps = {},
                  .cache = std::make_shared<ProgramCache>(graph.node_count())};
  program.axes =
      trials == 1 ? fuse::Axes(graph.values().size(), Axis::kShared) : fuse::mark_axes(graph);
  const std::vector<int> reads = count_reads(graph);
  const std::vector<bool> changing = read_by_changing(graph);
  for (std::int32_t i = 0; i < graph.node_count(); ++i) {
    const ir::Node& node = graph.node(ir::NodeId{i});
    HYDRO_TRY(const Row row, row_of(node));
    program.steps.push_back({.node = ir::NodeId{i},
                             .run = runs_stacked(program, node) ? row.run_stacked : row.run_one,
                             .reuse = may_reuse(program, node, reads),
                             .constant = node.constant,
                             .kept = kept_values(node, changing),
                             .dead = {}});
  }
  mark_dead(program);
  return program;
}

}  // namespace hydro::ops
