// Which ops of a model have no stacked form of their own, and what they cost: runs the training
// graph's forward and backward pass for three trials at once and prints, for each op that goes
// through vmap, its share of the time, then all of them together.
//   stacked_bench ARCHIVE.pt2 SCALING
// Lines: op, "vmap" or "one by one", nodes, share; last: "all", milliseconds of both passes,
// nodes, share. Separated by tabs. Batch 8, one thread, 10 passes after 3. The
// loss is the mean square of the output. bench/stacked_ops.py makes docs/models.md's table.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <ATen/SequenceNumber.h>
#include <ATen/record_function.h>

#include "hydro/base/result.h"
#include "hydro/ir/graph.h"
#include "hydro/ops/executor.h"
#include "hydro/ops/families.h"
#include "hydro/ops/torch.h"
#include "hydro/pt2/archive.h"
#include "hydro/shrink/surrogate.h"
#include "hydro/train/network.h"
#include "hydro/train/train.h"

namespace {

using namespace hydro;  // NOLINT(google-build-using-namespace): a program of one file
using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

constexpr std::int64_t kBatch = 8;
constexpr int kWarmUp = 3;
constexpr int kPasses = 10;

/// Irregular floats; of integers zeros and ones, which fit any vocabulary and any mask.
at::Tensor example(const ir::TensorType& type) {
  std::vector<std::int64_t> shape;
  for (const ir::Dim& dim : type.shape) {
    shape.push_back(dim.dynamic ? kBatch : dim.size);
  }
  const at::Tensor count = at::arange(at::zeros(shape).numel(), at::kLong);
  if (!ir::is_floating(type.dtype)) {
    return count.remainder(2).view(shape);
  }
  const at::Tensor values = at::sin(count.to(at::kFloat) * 1.7).view(shape);
  return shape.size() == 4 ? values.contiguous(at::MemoryFormat::ChannelsLast) : values;
}

train::NamedTensors examples(const ir::Graph& graph) {
  train::NamedTensors inputs;
  for (const ir::Input& input : graph.inputs) {
    if (input.kind == ir::InputKind::kUser) {
      inputs.emplace_back(input.name, example(graph.value(input.value).tensor()));
    }
  }
  return inputs;
}

/// What one place of the graph costs; `first` is the number that autograd gives to the first
/// function that the node records.
struct Cost {
  double forward = 0;
  double backward = 0;
};

/// Time of autograd's functions by the numbers that they got in the forward pass.
using FunctionTimes = std::map<std::int64_t, double>;

struct Started : at::ObserverContext {
  Clock::time_point at = Clock::now();
};

// torch's callbacks are plain functions: what they write to has to be global.
FunctionTimes& function_times() {
  static FunctionTimes times;
  return times;
}

std::unique_ptr<at::ObserverContext> note_start(const at::RecordFunction& /*function*/) {
  return std::make_unique<Started>();
}

void note_end(const at::RecordFunction& function, at::ObserverContext* context) {
  const auto* started = dynamic_cast<const Started*>(context);
  function_times()[function.seqNr()] += Seconds(Clock::now() - started->at).count();
}

class Meter {
 public:
  explicit Meter(const ops::Program& program)
      : program_(program), costs_(static_cast<std::size_t>(program.graph.node_count())) {}

  /// One pass forward and back.
  void measure(train::Network& network, const train::NamedTensors& inputs, int pass) {
    numbers_.clear();
    function_times().clear();
    std::size_t node = 0;
    Clock::time_point last = Clock::now();
    std::uint64_t number = at::sequence_number::peek();
    const train::Network::Pass made =
        network.train(inputs, pass, [&](const ir::Node& /*node*/, const ops::Frame& /*frame*/) {
          const auto now = Clock::now();
          const auto next = at::sequence_number::peek();
          costs_.at(node).forward += Seconds(now - last).count();
          for (; number < next; ++number) {
            numbers_[static_cast<std::int64_t>(number)] = node;
          }
          ++node;
          last = Clock::now();
        });
    static_cast<void>(train::gradients_of(made.output.square().mean(), network));
    for (const auto& [function, seconds] : function_times()) {
      if (const auto found = numbers_.find(function); found != numbers_.end()) {
        costs_.at(found->second).backward += seconds;
      }
    }
  }

  void forget() { std::ranges::fill(costs_, Cost()); }

  /// Of a node; nothing of what is computed once for all passes.
  [[nodiscard]] double seconds(std::size_t node) const {
    return program_.steps.at(node).constant
               ? 0
               : costs_.at(node).forward + costs_.at(node).backward;
  }

 private:
  const ops::Program& program_;
  std::vector<Cost> costs_;
  std::map<std::int64_t, std::size_t> numbers_;
};

struct Row {
  std::string how;
  int nodes = 0;
  double seconds = 0;
};

void print(const ops::Program& program, const Meter& meter) {
  std::map<std::string, Row> rows;
  Row all;
  double whole = 0;
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    const ops::Step& step = program.steps[i];
    whole += meter.seconds(i);
    if (step.run != &ops::boxed_stacked) {
      continue;
    }
    Row& row = rows[program.graph.node(step.node).op];
    row.how = program.cache->loops(i) ? "one by one" : "vmap";
    ++row.nodes;
    row.seconds += meter.seconds(i);
    ++all.nodes;
    all.seconds += meter.seconds(i);
  }
  for (const auto& [op, row] : rows) {
    std::printf(
        "%s\t%s\t%d\t%.4f\n", op.c_str(), row.how.c_str(), row.nodes, row.seconds / whole);
  }
  std::printf("all\t%.2f\t%d\t%.4f\n", whole / kPasses * 1e3, all.nodes, all.seconds / whole);
}

Result<void> measure(const char* file, double scaling) {
  HYDRO_TRY(const pt2::Archive archive, pt2::read_archive(file, {}));
  HYDRO_TRY(
      const shrink::Surrogate surrogate,
      shrink::shrink(archive.model, {.scaling = scaling, .saving = shrink::Saving::kAny}));
  HYDRO_TRY(train::Network network,
            train::Network::make(surrogate, {.study_seed = 1, .owners = {"0", "1", "2"}}));
  const train::NamedTensors inputs = examples(surrogate.model.train);
  Meter meter(network.training_program());
  for (int pass = 0; pass < kWarmUp + kPasses; ++pass) {
    if (pass == kWarmUp) {
      meter.forget();
    }
    meter.measure(network, inputs, pass);
  }
  print(network.training_program(), meter);
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::puts("usage: stacked_bench ARCHIVE.pt2 SCALING");
    return 2;
  }
  train::prepare_process();
  static_cast<void>(at::get_num_threads());
  at::set_num_threads(1);
  at::addGlobalCallback(at::RecordFunctionCallback(note_start, note_end)
                            .scopes({at::RecordScope::BACKWARD_FUNCTION}));
  const Result<void> done = measure(argv[1], std::atof(argv[2]));
  if (!done) {
    std::puts(done.error().what.c_str());
    return 1;
  }
  return 0;
}
