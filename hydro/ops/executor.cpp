#include "hydro/ops/executor.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/base/text.h"
#include "hydro/fuse/trial_axis.h"
#include "hydro/ir/graph.h"
#include "hydro/ops/ops.h"
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
  return target.producer != ir::kNoNode &&
         contains(kFresh, program.graph.node(target.producer).op) &&
         reads[index(operands.front())] == 1 &&
         target.type == program.graph.value(node.outputs.front()).type &&
         program.axes[index(node.outputs.front())] == Axis::kShared;
}

bool runs_stacked(const Program& program, const ir::Node& node) {
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

Error unsupported(const ir::Node& node) {
  return make_error("H0330", "op `" + node.op + "` cannot be run yet")
      .at(node.source.place.empty() ? node.source.module : node.source.place)
      .because("node " + node.describe() + " has no row in the table of ops");
}

/// A user's output or a buffer's next value, with the trial axis in front; buffers carry no
/// gradient.
at::Tensor delivered(const Program& program, const ir::Output& output, const Frame& frame) {
  at::Tensor value = frame.tensor(output.value);
  if (program.trials > 1) {
    value = move_axis(value, program.axes[index(output.value)], Axis::kFront, program.trials);
  }
  return output.kind == ir::OutputKind::kBuffer ? value.detach() : value;
}

std::string shape_text(std::span<const std::int64_t> sizes) {
  std::vector<std::string> parts;
  for (const std::int64_t size : sizes) {
    parts.push_back(std::to_string(size));
  }
  return "[" + join(parts, ", ") + "]";
}

bool fits(const ir::TensorType& type, std::span<const std::int64_t> sizes) {
  return std::ranges::equal(type.shape, sizes, [](const ir::Dim& dim, std::int64_t size) {
    return dim.dynamic || dim.size == size;
  });
}

std::optional<Error> compare(const Program& program, const ir::Node& node, const Frame& frame) {
  for (const ir::ValueId output : node.outputs) {
    const ir::Value& value = program.graph.value(output);
    if (!value.is_tensor()) {
      continue;
    }
    const std::vector<std::int64_t> sizes =
        trial_sizes(frame.tensor(output), program.axes[index(output)]);
    if (!fits(value.tensor(), sizes)) {
      std::vector<std::int64_t> predicted;
      for (const ir::Dim& dim : value.tensor().shape) {
        predicted.push_back(dim.size);
      }
      return make_error("H0331",
                        "`" + value.name + "` has shape " + shape_text(sizes) +
                            ", predicted was " + shape_text(predicted))
          .at(node.describe());
    }
  }
  return std::nullopt;
}

}  // namespace

Result<Program> compile(const ir::Graph& graph, std::int64_t trials) {
  HYDRO_CHECK(trials >= 1, "a graph runs for at least one trial");
  Program program{.graph = graph, .trials = trials, .axes = {}, .steps = {}};
  program.axes =
      trials == 1 ? fuse::Axes(graph.values().size(), Axis::kShared) : fuse::mark_axes(graph);
  const std::vector<int> reads = count_reads(graph);
  for (std::int32_t i = 0; i < graph.node_count(); ++i) {
    const ir::Node& node = graph.node(ir::NodeId{i});
    const Row* row = find_row(node.op);
    if (row == nullptr) {
      return unsupported(node);
    }
    program.steps.push_back(
        {.node = ir::NodeId{i},
         .run = runs_stacked(program, node) ? row->run_stacked : row->run_one,
         .reuse = may_reuse(program, node, reads),
         .dead = {}});
  }
  mark_dead(program);
  return program;
}

std::vector<at::Tensor> run(const Program& program,
                            std::span<const at::Tensor> feeds,
                            const RandomStreams& random,
                            const Observer& observer) {
  HYDRO_CHECK(feeds.size() == program.graph.inputs.size(), "one feed an input");
  const Scene scene{
      .graph = program.graph, .axes = program.axes, .trials = program.trials, .random = random};
  Frame frame(program.graph.value_count());
  for (std::size_t i = 0; i < feeds.size(); ++i) {
    frame.set(program.graph.inputs[i].value, feeds[i]);
  }
  for (const Step& step : program.steps) {
    const ir::Node& node = program.graph.node(step.node);
    step.run(Call(scene, node, frame, step.reuse));
    if (observer) {
      observer(node, frame);
    }
    for (const ir::ValueId value : step.dead) {
      frame.free(value);
    }
  }
  std::vector<at::Tensor> results;
  results.reserve(program.graph.outputs.size());
  for (const ir::Output& output : program.graph.outputs) {
    results.push_back(delivered(program, output, frame));
  }
  return results;
}

Result<void> check_shapes(const Program& program,
                          std::span<const at::Tensor> feeds,
                          const RandomStreams& random) {
  const at::NoGradGuard no_gradient;
  std::optional<Error> mismatch;
  static_cast<void>(run(program, feeds, random, [&](const ir::Node& node, const Frame& frame) {
    if (!mismatch) {
      mismatch = compare(program, node, frame);
    }
  }));
  if (mismatch) {
    return *mismatch;
  }
  return {};
}

}  // namespace hydro::ops
