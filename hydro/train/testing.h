// hydro/train/testing.h — small models, data and containers for tests.
#pragma once

#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/base/testing.h"
#include "hydro/data/dataset.h"
#include "hydro/ir/graph.h"
#include "hydro/ir/model.h"
#include "hydro/ops/torch.h"
#include "hydro/shrink/surrogate.h"
#include "hydro/train/container.h"
#include "hydro/train/train.h"
#include "hydro/worker/messages.h"
#include "hydro/worker/settings.h"
#include "hydro/worker/worker.h"

namespace hydro::train::testing {

enum class Mode : std::uint8_t { kTrain, kEval };

/// Batch norm `name` over %in with `width` channels, as the passes leave it: its text and, at
/// training, its outputs.
struct NormText {
  std::string inputs;
  std::string nodes;
  std::string outputs;
};

inline NormText norm_text(Mode mode,
                          const std::string& name,
                          const std::string& in,
                          const std::string& type,
                          std::int64_t width) {
  const std::string w = "float32[" + std::to_string(width) + "]";
  NormText text;
  for (const char* parameter : {"weight", "bias"}) {
    text.inputs += "  input parameter " + name + "." + parameter + " %" + name + "_" +
                   parameter + ": " + w + "\n";
  }
  for (const char* buffer : {"running_mean", "running_var"}) {
    text.inputs +=
        "  input buffer " + name + "." + buffer + " %" + name + "_" + buffer + ": " + w + "\n";
  }
  const std::string state = "(input=%" + in + ", weight=%" + name + "_weight, bias=%" + name +
                            "_bias, running_mean=%" + name + "_running_mean, running_var=%" +
                            name + "_running_var, ";
  if (mode == Mode::kEval) {
    text.nodes = "  %" + name + "_y: " + type + " = aten.batch_norm.default" + state +
                 "training=False, momentum=0.1, eps=1e-05)\n";
    return text;
  }
  text.inputs += "  input buffer " + name + ".num_batches_tracked %" + name + "_n: int64[]\n";
  text.nodes = "  %" + name + "_n2: int64[] = aten.add.Tensor(self=%" + name +
               "_n, other=1, alpha=1)\n  %" + name + "_y: " + type + ", %" + name +
               "_m2: " + w + ", %" + name + "_v2: " + w + " = hydro.batch_norm" + state +
               "num_batches_tracked=%" + name +
               "_n2, training=True, momentum=0.1, eps=1e-05)\n";
  text.outputs = "  output buffer " + name + ".running_mean %" + name +
                 "_m2\n  output buffer " + name + ".running_var %" + name +
                 "_v2\n  output buffer " + name + ".num_batches_tracked %" + name + "_n2\n";
  return text;
}

/// 12 -> `width`, batch norm, relu, dropout -> 10.
inline std::string mlp_text(Mode mode, std::int64_t width = 16) {
  const std::string n = std::to_string(width);
  const std::string type = "float32[~5, " + n + "]";
  const NormText norm = norm_text(mode, "bn", "h", type, width);
  const std::string training = mode == Mode::kTrain ? "True" : "False";
  return "graph {\n  input user x %x: float32[~5, 12]\n  input parameter a.weight %a: "
         "float32[" +
         n + ", 12]\n  input parameter b.weight %b: float32[10, " + n +
         "]\n  input parameter b.bias %c: float32[10]\n" + norm.inputs + "  %h: " + type +
         " = aten.linear.default(input=%x, weight=%a, bias=None)\n" + norm.nodes +
         "  %r: " + type + " = aten.relu.default(self=%bn_y)\n  %d: " + type +
         " = aten.dropout.default(input=%r, p=0.25, train=" + training +
         ")\n  %y: float32[~5, 10] = aten.linear.default(input=%d, weight=%b, bias=%c)\n  "
         "output user y %y\n" +
         norm.outputs + "}\n";
}

/// Two 3x3 convolutions with batch norms and a residual, pooled: [3, 8, 8] -> 10.
inline std::string cnn_text(Mode mode) {
  const std::string type = "float32[~5, 6, 8, 8]";
  const NormText first = norm_text(mode, "bn1", "h1", type, 6);
  const NormText second = norm_text(mode, "bn2", "h2", type, 6);
  const std::string shape =
      ", bias=None, stride=[1, 1], padding=[1, 1], dilation=[1, 1], groups=1)\n";
  return "graph {\n  input user x %x: float32[~5, 3, 8, 8]\n  input parameter c1.weight %w1: "
         "float32[6, 3, 3, 3]\n"
         "  input parameter c2.weight %w2: float32[6, 6, 3, 3]\n  input parameter fc.weight "
         "%w3: float32[10, 6]\n"
         "  input parameter fc.bias %b3: float32[10]\n" +
         first.inputs + second.inputs + "  %h1: " + type +
         " = aten.conv2d.default(input=%x, weight=%w1" + shape + first.nodes +
         "  %r1: " + type + " = aten.relu.default(self=%bn1_y)\n  %h2: " + type +
         " = aten.conv2d.default(input=%r1, weight=%w2" + shape + second.nodes +
         "  %s: " + type +
         " = aten.add.Tensor(self=%bn2_y, other=%r1, alpha=1)\n  %r2: " + type +
         " = aten.relu.default(self=%s)\n"
         "  %p: float32[~5, 6, 1, 1] = aten.adaptive_avg_pool2d.default(self=%r2, "
         "output_size=[1, 1])\n"
         "  %f: float32[~5, 6] = aten.flatten.using_ints(self=%p, start_dim=1, end_dim=-1)\n"
         "  %y: float32[~5, 10] = aten.linear.default(input=%f, weight=%w3, bias=%b3)\n  "
         "output user y %y\n" +
         first.outputs + second.outputs + "}\n";
}

inline std::vector<std::int64_t> sizes_of(const ir::TensorType& type) {
  std::vector<std::int64_t> sizes;
  for (const ir::Dim& dim : type.shape) {
    sizes.push_back(dim.size);
  }
  return sizes;
}

/// A parameter; other kinds change it afterwards.
inline ir::StateEntry entry_of(std::string name,
                               std::vector<std::int64_t> shape,
                               std::vector<ir::Law> laws = {}) {
  ir::StateEntry entry;
  entry.name = std::move(name);
  entry.shape = std::move(shape);
  entry.laws = std::move(laws);
  return entry;
}

/// Gains start at one, other parameters are normal with std .3.
inline ir::StateEntry parameter_entry(const std::string& name,
                                      const std::vector<std::int64_t>& shape) {
  const bool is_gain = shape.size() == 1 && name.ends_with("weight");
  const ir::Law law{.row_begin = 0,
                    .row_end = shape.front(),
                    .kind = is_gain ? ir::LawKind::kConstant : ir::LawKind::kNormal,
                    .std = .3,
                    .value = 1};
  return entry_of(name, shape, {law});
}

/// Statistics start at zero, variances at one.
inline ir::TensorData buffer_data(const std::string& name, const ir::TensorType& type) {
  const auto shape = sizes_of(type);
  if (type.dtype == ir::DType::kInt64) {
    return {.dtype = type.dtype, .shape = shape, .bytes = Bytes(8)};
  }
  const auto count = static_cast<std::size_t>(shape.front());
  const float value = name.ends_with("running_var") ? 1.0F : 0.0F;
  return {.dtype = type.dtype,
          .shape = shape,
          .bytes = hydro::testing::bytes_of(std::vector(count, value))};
}

/// Width factors are 1; the state is what the training graph reads, in that order.
inline shrink::Surrogate surrogate_of(const std::string& train, const std::string& eval) {
  shrink::Surrogate made;
  made.model.train = ir::parse_graph(train).value();
  made.model.eval = ir::parse_graph(eval).value();
  for (const ir::Input& input : made.model.train.inputs) {
    if (input.kind == ir::InputKind::kUser) {
      continue;
    }
    const ir::TensorType& type = made.model.train.value(input.value).tensor();
    if (input.kind == ir::InputKind::kParameter) {
      made.model.state.push_back(parameter_entry(input.name, sizes_of(type)));
      made.parameters.emplace_back().name = input.name;
    } else {
      made.model.state.push_back(entry_of(input.name, sizes_of(type)));
      made.model.state.back().kind = ir::StateKind::kBuffer;
      made.model.state.back().dtype = type.dtype;
      made.model.tensors[input.name] = buffer_data(input.name, type);
    }
    made.model.state.back().index = static_cast<std::int64_t>(made.model.state.size()) - 1;
  }
  return made;
}

inline shrink::Surrogate mlp() {
  return surrogate_of(mlp_text(Mode::kTrain), mlp_text(Mode::kEval));
}

inline shrink::Surrogate cnn() {
  return surrogate_of(cnn_text(Mode::kTrain), cnn_text(Mode::kEval));
}

/// Irregular samples of ten classes.
inline std::shared_ptr<const data::Loader> samples(std::int64_t count,
                                                   const std::vector<std::int64_t>& shape) {
  auto made = std::make_shared<data::Dataset>();
  std::size_t width = 1;
  for (const std::int64_t dim : shape) {
    width *= static_cast<std::size_t>(dim);
  }
  std::vector<float> values(static_cast<std::size_t>(count) * width);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<float>(std::sin(static_cast<double>(i) * 1.7) +
                                   std::sin(static_cast<double>(i * i % 977)));
  }
  made->size = count;
  made->inputs.push_back({.name = "",
                          .type = data::ElementType::kFloat32,
                          .shape = shape,
                          .bytes = hydro::testing::bytes_of(values)});
  for (std::int64_t i = 0; i < count; ++i) {
    made->target.classes.push_back(i * 7 % 10);
  }
  return std::make_shared<const data::Loader>(
      made, std::vector<data::Transform>{}, data::Use::kTraining, 1);
}

inline Study study_of(shrink::Surrogate surrogate,
                      const std::vector<std::int64_t>& shape = {12}) {
  return {.models = {{"m", std::make_shared<const shrink::Surrogate>(std::move(surrogate))}},
          .training = samples(96, shape),
          .validation = samples(20, shape),
          .test = samples(9, shape),
          .evaluation_batch = 8};
}

inline worker::TrialSettings sgd(double lr) {
  worker::TrialSettings settings;
  settings.optimizer = {.lr = lr, .momentum = .9};
  return settings;
}

inline worker::TrialSettings plain_sgd(double lr) {
  worker::TrialSettings settings;
  settings.optimizer = {.lr = lr};
  return settings;
}

inline worker::TrialSettings adamw(double lr) {
  worker::TrialSettings settings;
  settings.optimizer = {.kind = worker::OptimizerKind::kAdamW, .lr = lr, .weight_decay = .1};
  return settings;
}

/// Trials are numbered from `first`. 6 steps an epoch of the 96 samples.
inline worker::ContainerSpec spec_of(const std::vector<worker::TrialSettings>& trials,
                                     std::int64_t steps,
                                     std::int64_t first = 0) {
  worker::ContainerSpec spec{
      .id = worker::ContainerId{1},
      .model = "m",
      .batch_size = 16,
      .budget = {.steps = steps, .steps_per_epoch = 6, .evaluate_every = steps},
      .study_seed = 5,
      .data_seed = 6,
      .trials = {}};
  for (std::size_t i = 0; i < trials.size(); ++i) {
    spec.trials.push_back({worker::TrialId{first + static_cast<std::int64_t>(i)}, trials[i]});
  }
  return spec;
}

/// A container after `steps` steps; what diverged is forgotten.
inline Container trained(const Study& study,
                         const worker::ContainerSpec& spec,
                         std::int64_t steps,
                         at::ScalarType dtype = at::kFloat) {
  // Small tensors: a second thread only costs.
  static_cast<void>(at::get_num_threads());
  at::set_num_threads(1);
  Container container = Container::make(study, spec, dtype).value();
  for (std::int64_t i = 0; i < steps; ++i) {
    static_cast<void>(container.advance().value());
  }
  return container;
}

/// val_loss of the second of two trials, evaluated in batches of that size.
inline double val_loss_in_batches(Study study,
                                  std::int64_t evaluation_batch,
                                  const worker::ContainerSpec& spec,
                                  std::int64_t steps) {
  study.evaluation_batch = evaluation_batch;
  Container container = trained(study, spec, steps);
  return container.evaluate({}).value().value().at(1).metrics.at("val_loss");
}

/// One trial's tensor, copied; parameters in the network's own precision.
inline at::Tensor parameter(const Network& network, std::size_t tensor, std::int64_t trial) {
  return network.layout().view(network.weights(), tensor, trial).clone();
}

/// All answers to one order.
inline std::vector<worker::Answer> answers(worker::Worker& worker,
                                           worker::Order order,
                                           const std::stop_token& stop = {}) {
  std::vector<worker::Answer> got;
  worker.carry_out({.id = worker::CommandId{1}, .order = std::move(order)},
                   stop,
                   [&](worker::Answer answer) { got.push_back(std::move(answer)); });
  return got;
}

/// The bodies of one kind.
template <class Body>
std::vector<Body> bodies(const std::vector<worker::Answer>& answers) {
  std::vector<Body> found;
  for (const worker::Answer& answer : answers) {
    if (const auto* body = std::get_if<Body>(&answer.body)) {
      found.push_back(*body);
    }
  }
  return found;
}

}  // namespace hydro::train::testing
