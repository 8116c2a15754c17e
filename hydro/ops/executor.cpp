#include "hydro/ops/executor.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/base/text.h"
#include "hydro/fuse/trial_axis.h"
#include "hydro/ir/graph.h"
#include "hydro/ops/ops.h"
#include "hydro/ops/program_cache.h"
#include "hydro/ops/torch.h"

namespace hydro::ops {

namespace {

using fuse::Axis;

std::size_t index(ir::ValueId value) {
  return static_cast<std::size_t>(value);
}

/// Device and precision of the first feed that the graph calls float32, parameters first.
Place place_of(const ir::Graph& graph, std::span<const at::Tensor> feeds) {
  std::optional<Place> found;
  for (std::size_t i = 0; i < feeds.size(); ++i) {
    const ir::Input& input = graph.inputs[i];
    if (graph.value(input.value).tensor().dtype != ir::DType::kFloat32) {
      continue;
    }
    const Place place{.device = feeds[i].device(), .real = feeds[i].scalar_type()};
    if (input.kind == ir::InputKind::kParameter) {
      return place;
    }
    found = found.value_or(place);
  }
  return found.value_or(Place());
}

/// What constant nodes depend on: shapes of the user's inputs, constants, place.
ConstantKey key_of(const Program& program, std::span<const at::Tensor> feeds, Place place) {
  ConstantKey key{.place = place, .shapes = {}, .sources = {}};
  for (std::size_t i = 0; i < feeds.size(); ++i) {
    const ir::InputKind kind = program.graph.inputs[i].kind;
    if (kind == ir::InputKind::kUser) {
      key.shapes.push_back(feeds[i].sizes().vec());
    } else if (kind == ir::InputKind::kConstant) {
      key.sources.push_back(feeds[i]);
    }
  }
  return key;
}

void set_constants(const Constants& constants, Frame& frame) {
  for (const auto& [value, tensor] : constants.tensors) {
    frame.set(value, tensor);
  }
  for (const auto& [value, integer] : constants.integers) {
    frame.set(value, integer);
  }
}

void collect(const ir::Graph& graph, const Step& step, const Frame& frame, Constants& found) {
  for (const ir::ValueId value : step.kept) {
    if (graph.value(value).is_tensor()) {
      found.tensors.emplace_back(value, frame.tensor(value));
    } else {
      found.integers.emplace_back(value, frame.integer(value));
    }
  }
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

std::vector<at::Tensor> run(const Program& program,
                            std::span<const at::Tensor> feeds,
                            const RandomStreams& random,
                            const Observer& observer) {
  HYDRO_CHECK(feeds.size() == program.graph.inputs.size(), "one feed an input");
  const Scene scene{.graph = program.graph,
                    .axes = program.axes,
                    .trials = program.trials,
                    .random = random,
                    .place = place_of(program.graph, feeds),
                    .cache = program.cache.get()};
  Frame frame(program.graph.value_count());
  for (std::size_t i = 0; i < feeds.size(); ++i) {
    frame.set(program.graph.inputs[i].value, feeds[i]);
  }
  ConstantKey key = key_of(program, feeds, scene.place);
  const std::shared_ptr<const Constants> known = observer ? nullptr : program.cache->find(key);
  if (known) {
    set_constants(*known, frame);
  }
  Constants found{.key = std::move(key), .tensors = {}, .integers = {}};
  for (const Step& step : program.steps) {
    if (known && step.constant) {
      continue;
    }
    const ir::Node& node = program.graph.node(step.node);
    step.run(Call(scene, node, frame, step.reuse));
    if (observer) {
      observer(node, frame);
    }
    collect(program.graph, step, frame, found);
    for (const ir::ValueId value : step.dead) {
      frame.free(value);
    }
  }
  if (!known) {
    program.cache->add(std::move(found));
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
