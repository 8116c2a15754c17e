// Measures a coordinate check: how far each weight's updates move the layer's output. `shrink`
// judges. Source: DESIGN "Coordinate check"; transfer-measured.md, section 3.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/data/dataset.h"
#include "hydro/ir/graph.h"
#include "hydro/ops/executor.h"
#include "hydro/ops/ops.h"
#include "hydro/ops/table.h"
#include "hydro/ops/torch.h"
#include "hydro/optim/gradient_norm.h"
#include "hydro/optim/optimizer.h"
#include "hydro/shrink/surrogate.h"
#include "hydro/train/feeder.h"
#include "hydro/train/guard.h"
#include "hydro/train/network.h"
#include "hydro/train/objective.h"
#include "hydro/train/train.h"
#include "hydro/worker/settings.h"

namespace hydro::train {
namespace {

constexpr std::int64_t kPasses = 3;

/// An op that multiplies its input by a weight.
struct LinearMap {
  std::string_view op;
  std::string_view weight;
  std::string_view bias;
};

constexpr auto kLinearMaps =
    std::to_array<LinearMap>({{"aten.conv1d.default", "weight", "bias"},
                              {"aten.conv2d.default", "weight", "bias"},
                              {"aten.conv2d.padding", "weight", "bias"},
                              {"aten.linear.default", "weight", "bias"},
                              {"aten.addmm.default", "mat2", "self"}});

const LinearMap* find_map(const ir::Node& node) {
  const auto* found = std::ranges::find(kLinearMaps, node.op, &LinearMap::op);
  return found == kLinearMaps.end() ? nullptr : found;
}

/// The parameter behind `value`: itself, or through a transpose.
std::optional<std::string> parameter_behind(const ir::Graph& graph, ir::ValueId value) {
  if (graph.value(value).producer != ir::kNoNode) {
    const ir::Node& producer = graph.node(graph.value(value).producer);
    const bool transposes = producer.op == "aten.t.default" ||
                            producer.op == "aten.transpose.int" ||
                            producer.op == "aten.permute.default";
    return transposes ? parameter_behind(graph, producer.value("self")) : std::nullopt;
  }
  const auto is_it = [&](const ir::Input& input) {
    return input.value == value && input.kind == ir::InputKind::kParameter;
  };
  const auto found = std::ranges::find_if(graph.inputs, is_it);
  return found == graph.inputs.end() ? std::nullopt : std::optional(found->name);
}

double mean_size(const at::Tensor& tensor) {
  return tensor.abs().to(at::kDouble).mean().item<double>();
}

/// Sums of one layer over its uses and over seeds.
struct LayerSum {
  double update = 0;
  double activation = 0;
  std::int64_t count = 0;
};

/// Layers in order of first use.
class LayerSums {
 public:
  void add(const std::string& layer, double update, double activation) {
    const auto [place, is_new] = index_.try_emplace(layer, sums_.size());
    if (is_new) {
      sums_.emplace_back(layer, LayerSum{});
    }
    LayerSum& sum = sums_[place->second].second;
    sum.update += update;
    sum.activation += activation;
    ++sum.count;
  }

  [[nodiscard]] std::vector<LayerUpdate> means() const {
    std::vector<LayerUpdate> layers;
    for (const auto& [name, sum] : sums_) {
      const auto count = static_cast<double>(sum.count);
      layers.push_back(
          {.layer = name, .update = sum.update / count, .activation = sum.activation / count});
    }
    return layers;
  }

 private:
  std::vector<std::pair<std::string, LayerSum>> sums_;
  std::map<std::string, std::size_t> index_;
};

/// One seed's training on the fixed batch.
class Probe {
 public:
  Probe(const shrink::Surrogate& surrogate, Network network, const CoordinateSetting& setting)
      : network_(std::move(network)),
        setting_(setting),
        factors_(factors_of(surrogate, network_, setting.settings.optimizer.kind)),
        optimizer_(network_.layout(), {setting.settings.optimizer}, factors_.optimizer),
        meter_(network_.layout(), factors_.sgd_decay) {
    for (const at::Tensor& leaf : network_.leaves()) {
      start_.push_back(leaf.detach().clone());
    }
  }

  /// Returns the loss of the first pass.
  Result<double> run(const Batch& batch, LayerSums& sums) {
    double first_loss = 0;
    for (std::int64_t pass = 0; pass < kPasses; ++pass) {
      if (setting_.stop.stop_requested()) {
        return make_error("H0650", "stopped during the coordinate check");
      }
      const bool is_last = pass + 1 == kPasses;
      const ops::Observer watch = [&](const ir::Node& node, const ops::Frame& frame) {
        observe(node, frame, sums);
      };
      Network::Pass result =
          network_.train(batch.inputs, pass, is_last ? watch : ops::Observer());
      HYDRO_TRY(const at::Tensor losses,
                training_losses(setting_.task,
                                result.output,
                                batch,
                                std::array{setting_.settings.label_smoothing}));
      first_loss = pass == 0 ? losses.item<double>() : first_loss;
      if (!is_last) {
        update(losses.sum());
        network_.keep(std::move(result.buffers), {true});
      }
    }
    return first_loss;
  }

 private:
  void update(const at::Tensor& loss) {
    const std::vector<at::Tensor> gradients = gradients_of(loss, network_);
    optim::TrialStep step;
    if (setting_.settings.clip_norm) {
      step.gradient_scale = optim::clip_scale(meter_.measure(gradients).front().norm,
                                              *setting_.settings.clip_norm);
    }
    optimizer_.step(network_.weights(), gradients, std::array{step});
  }

  /// Runs the node again with the weight's change in place of the weight and without bias.
  void observe(const ir::Node& node, const ops::Frame& frame, LayerSums& sums) const {
    const LinearMap* map = find_map(node);
    if (map == nullptr) {
      return;
    }
    const ops::Program& program = network_.training_program();
    const ir::ValueId weight = node.value(map->weight);
    const std::optional<std::string> name = parameter_behind(program.graph, weight);
    if (!name) {
      return;
    }
    const at::NoGradGuard no_gradient;
    const double activation = mean_size(frame.tensor(node.outputs.front()));
    ops::Frame changed = frame;
    changed.set(weight, change_of(*name, frame.tensor(weight)));
    if (const ir::Argument* bias = node.find_argument(map->bias); bias != nullptr) {
      if (const auto* value = std::get_if<ir::ValueId>(bias)) {
        changed.set(*value, at::zeros_like(frame.tensor(*value)));
      }
    }
    const ops::RandomStreams no_random;
    const ops::Scene scene{
        .graph = program.graph, .axes = program.axes, .trials = 1, .random = no_random};
    ops::find_row(node.op)->run_one(ops::Call(scene, node, changed, /*reuse=*/false));
    sums.add(*name, mean_size(changed.tensor(node.outputs.front())), activation);
  }

  /// W_t - W_0, laid out as `used`, which is the weight or its transpose.
  [[nodiscard]] at::Tensor change_of(const std::string& name, const at::Tensor& used) const {
    const auto& names = network_.names();
    const auto place = static_cast<std::size_t>(std::ranges::find(names, name) - names.begin());
    if (place == names.size()) {
      return at::zeros_like(used);  // a frozen parameter
    }
    const at::Tensor change = network_.leaves()[place].detach() - start_[place];
    return used.dim() == 2 && !used.strides().equals(change.strides()) ? change.t() : change;
  }

  Network network_;
  const CoordinateSetting& setting_;
  LayoutFactors factors_;
  optim::Optimizer optimizer_;
  optim::NormMeter meter_;
  std::vector<at::Tensor> start_;
};

std::vector<std::int64_t> fixed_batch(const data::Loader& data, std::int64_t batch_size) {
  std::vector<std::int64_t> indices = data::epoch_order(0, 0, data.dataset().size);
  indices.resize(static_cast<std::size_t>(std::min(batch_size, data.dataset().size)));
  return indices;
}

Result<CoordinateRun> measure(const shrink::Surrogate& surrogate,
                              const data::Loader& data,
                              const CoordinateSetting& setting) {
  const at::AutoGradMode with_gradients(true);
  // Not owned: the feeder lives no longer than this call.
  Feeder feeder(std::shared_ptr<const data::Loader>(std::shared_ptr<void>(), &data));
  const Batch batch = feeder.gather(fixed_batch(data, setting.batch_size), 0);
  CoordinateRun run;
  LayerSums sums;
  for (std::int64_t seed = 0; seed < setting.seeds; ++seed) {
    const NetworkSetting draw{.study_seed = static_cast<std::uint64_t>(seed),
                              .owners = {"coordinates"}};
    HYDRO_TRY(Network network, Network::make(surrogate, draw));
    HYDRO_TRY_VOID(check_inputs(network.training_program().graph, data.dataset()));
    HYDRO_TRY(const double loss,
              Probe(surrogate, std::move(network), setting).run(batch, sums));
    run.first_losses.push_back(loss);
  }
  run.layers = sums.means();
  return run;
}

}  // namespace

Result<CoordinateRun> measure_coordinates(const shrink::Surrogate& surrogate,
                                          const data::Loader& data,
                                          const CoordinateSetting& setting) {
  CoordinateRun run;
  HYDRO_TRY_VOID(guard("checking coordinates", [&]() -> Result<void> {
    HYDRO_TRY(run, measure(surrogate, data, setting));
    return {};
  }));
  return run;
}

}  // namespace hydro::train
