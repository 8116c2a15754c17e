// Samples per second of ResNet-18 training through the worker, as a study runs it.
//   train_bench WIDTH THREADS WORKERS STEPS [TRIALS [SURVIVORS [BATCH]]]
// WORKERS threads train one container each, THREADS intra-op threads and TRIALS trials a
// container. With SURVIVORS all other trials of each container are stopped then, and as many
// steps follow: what a stop gains, and what the smaller container costs.
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "hydro/data/dataset.h"
#include "hydro/ir/graph.h"
#include "hydro/ir/model.h"
#include "hydro/shrink/surrogate.h"
#include "hydro/train/train.h"
#include "hydro/worker/messages.h"
#include "hydro/worker/worker.h"

#include "bench/resnet_text.h"

namespace {

using namespace hydro;  // NOLINT(google-build-using-namespace): a program of one file

constexpr std::int64_t kSamples = 10000;
constexpr std::int64_t kWarmUp = 3;

std::vector<std::int64_t> sizes_of(const ir::TensorType& type) {
  std::vector<std::int64_t> sizes;
  for (const ir::Dim& dim : type.shape) {
    sizes.push_back(dim.size);
  }
  return sizes;
}

void add_parameter(shrink::Surrogate& model,
                   const std::string& name,
                   std::vector<std::int64_t> shape) {
  double fan_in = 1;
  for (std::size_t i = 1; i < shape.size(); ++i) {
    fan_in *= static_cast<double>(shape[i]);
  }
  const bool is_gain = shape.size() == 1 && name.ends_with("weight");
  const ir::Law law{.row_end = shape.front(),
                    .kind = is_gain ? ir::LawKind::kConstant : ir::LawKind::kNormal,
                    .std = 1 / std::sqrt(fan_in),
                    .value = 1};
  ir::StateEntry& entry = model.model.state.emplace_back();
  entry.name = name;
  entry.shape = std::move(shape);
  entry.laws = {law};
}

void add_buffer(shrink::Surrogate& model, const std::string& name, const ir::TensorType& type) {
  const auto shape = sizes_of(type);
  Bytes bytes(static_cast<std::size_t>(ir::dtype_size(type.dtype)) *
              static_cast<std::size_t>(shape.empty() ? 1 : shape.front()));
  if (name.ends_with("running_var")) {
    for (std::size_t i = 0; i < bytes.size(); i += 4) {  // 1.0F, little-endian
      bytes[i + 2] = std::byte{0x80};
      bytes[i + 3] = std::byte{0x3F};
    }
  }
  ir::StateEntry& entry = model.model.state.emplace_back();
  entry.name = name;
  entry.kind = ir::StateKind::kBuffer;
  entry.dtype = type.dtype;
  entry.shape = shape;
  model.model.tensors[name] = {.dtype = type.dtype, .shape = shape, .bytes = std::move(bytes)};
}

std::shared_ptr<const shrink::Surrogate> resnet(std::int64_t width) {
  auto model = std::make_shared<shrink::Surrogate>();
  model->model.train =
      ir::parse_graph(bench::ResnetText(bench::Mode::kTrain, width, 28).text()).value();
  model->model.eval =
      ir::parse_graph(bench::ResnetText(bench::Mode::kEval, width, 28).text()).value();
  for (const ir::Input& input : model->model.train.inputs) {
    const ir::TensorType& type = model->model.train.value(input.value).tensor();
    if (input.kind == ir::InputKind::kParameter) {
      add_parameter(*model, input.name, sizes_of(type));
    } else if (input.kind == ir::InputKind::kBuffer) {
      add_buffer(*model, input.name, type);
    }
  }
  return model;
}

std::shared_ptr<const data::Loader> images() {
  auto made = std::make_shared<data::Dataset>();
  made->size = kSamples;
  Bytes pixels(static_cast<std::size_t>(kSamples) * 28 * 28);
  for (std::size_t i = 0; i < pixels.size(); ++i) {
    pixels[i] = static_cast<std::byte>(i * i % 251);
  }
  made->inputs.push_back({.name = "",
                          .type = data::ElementType::kUInt8,
                          .shape = {1, 28, 28},
                          .bytes = std::move(pixels),
                          .is_image = true});
  for (std::int64_t i = 0; i < kSamples; ++i) {
    made->target.classes.push_back(i % 10);
  }
  return std::make_shared<const data::Loader>(
      made,
      std::vector<data::Transform>{data::Rgb{}, data::Normalize{{.286F}, {.353F}}},
      data::Use::kTraining,
      1);
}

struct Size {
  std::int64_t trials = 1;
  std::int64_t batch = 128;
};

worker::ContainerSpec spec_of(std::int64_t id, const Size& size, std::int64_t steps) {
  worker::ContainerSpec spec{
      .id = worker::ContainerId{1},
      .model = "resnet",
      .batch_size = size.batch,
      .budget = {.steps = (2 * steps) + 1, .steps_per_epoch = kSamples / size.batch},
      .trials = {}};
  for (std::int64_t k = 0; k < size.trials; ++k) {
    worker::TrialSpec& trial = spec.trials.emplace_back();
    trial.id = worker::TrialId{(id * size.trials) + k};
    trial.settings.optimizer = {.lr = .01, .momentum = .9, .weight_decay = .001};
  }
  return spec;
}

struct Seconds {
  double before = 0;   // of the measured steps
  double regroup = 0;  // until the survivors have a container of their own size
  double after = 0;    // of as many steps again, and the warm-up's
};

Seconds time_training(const std::shared_ptr<const train::Study>& study,
                      const worker::ContainerSpec& spec,
                      int threads,
                      std::size_t survivors) {
  const auto one = train::make_worker(study);
  const auto run = [&](worker::Order order) {
    const auto start = std::chrono::steady_clock::now();
    one->carry_out({worker::CommandId{1}, std::move(order)},
                   std::stop_token(),
                   [](const worker::Answer&) {});
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  run(worker::Launch{spec, threads});
  run(worker::Run{spec.id, kWarmUp, threads});
  const std::int64_t half = spec.budget.steps / 2;
  Seconds seconds{.before = run(worker::Run{spec.id, half, threads})};
  for (std::size_t k = survivors; k < spec.trials.size(); ++k) {
    run(worker::Drop{spec.id, spec.trials[k].id});
  }
  if (survivors < spec.trials.size()) {
    seconds.regroup = run(worker::Run{spec.id, half, threads});
    seconds.after = run(worker::Run{spec.id, spec.budget.steps - 1, threads});
  }
  return seconds;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) {
    std::puts("usage: train_bench WIDTH THREADS WORKERS STEPS [TRIALS [SURVIVORS [BATCH]]]");
    return 2;
  }
  train::prepare_process();
  const int threads = std::atoi(argv[2]);
  const auto workers = static_cast<std::size_t>(std::atoi(argv[3]));
  const std::int64_t steps = std::atoll(argv[4]) + kWarmUp;
  const Size size = {.trials = argc > 5 ? std::atoll(argv[5]) : 1,
                     .batch = argc > 7 ? std::atoll(argv[7]) : 128};
  const std::int64_t survivors = argc > 6 ? std::atoll(argv[6]) : size.trials;
  train::Study study;
  study.models["resnet"] = resnet(std::atoll(argv[1]));
  study.training = images();
  const auto shared = std::make_shared<const train::Study>(std::move(study));
  std::vector<Seconds> seconds(workers);
  {
    std::vector<std::jthread> pool;
    for (std::size_t w = 0; w < workers; ++w) {
      pool.emplace_back([&, w] {
        seconds[w] = time_training(shared,
                                   spec_of(static_cast<std::int64_t>(w), size, steps),
                                   threads,
                                   static_cast<std::size_t>(survivors));
      });
    }
  }
  double rate = 0;
  for (const Seconds& one : seconds) {
    rate += static_cast<double>((steps - kWarmUp) * size.batch * size.trials) / one.before;
  }
  std::printf("width %s, %d threads x %zu workers, %lld trials a container: %.0f samples/s\n",
              argv[1],
              threads,
              workers,
              static_cast<long long>(size.trials),
              rate);
  if (survivors < size.trials) {
    const Seconds& first = seconds.front();
    std::printf("  a step: %.1f ms, of %lld survivors %.1f ms; regrouping %.1f ms\n",
                first.before / static_cast<double>(steps - kWarmUp) * 1e3,
                static_cast<long long>(survivors),
                first.after / static_cast<double>(steps) * 1e3,
                first.regroup * 1e3);
  }
  return 0;
}
