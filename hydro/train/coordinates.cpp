// Measures a coordinate check: how far each weight's updates move the layer's output. `shrink`
// judges. Source: DESIGN "Coordinate check"; transfer-measured.md, section 3.
#include "hydro/shrink/coordinates.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/data/dataset.h"
#include "hydro/ir/graph.h"
#include "hydro/ops/executor.h"
#include "hydro/ops/ops.h"
#include "hydro/ops/torch.h"
#include "hydro/optim/gradient_norm.h"
#include "hydro/optim/optimizer.h"
#include "hydro/shrink/surrogate.h"
#include "hydro/train/contributions.h"
#include "hydro/train/exact_weights.h"
#include "hydro/train/feeder.h"
#include "hydro/train/guard.h"
#include "hydro/train/network.h"
#include "hydro/train/objective.h"
#include "hydro/train/train.h"
#include "hydro/worker/settings.h"

namespace hydro::train {
namespace {

constexpr std::int64_t kPasses = 3;

/// Sums of one layer over its uses and over seeds.
struct LayerSum {
  shrink::LayerMeasure measure;
  std::int64_t count = 0;
};

/// Layers in order of first use.
class LayerSums {
 public:
  void add(const shrink::LayerMeasure& measure) {
    const auto [place, is_new] =
        index_.try_emplace({measure.layer, measure.usage}, sums_.size());
    if (is_new) {
      sums_.push_back({.measure = {.layer = measure.layer, .usage = measure.usage}});
    }
    LayerSum& sum = sums_[place->second];
    sum.measure.update += measure.update;
    sum.measure.activation += measure.activation;
    ++sum.count;
  }

  [[nodiscard]] std::vector<shrink::LayerMeasure> means() const {
    std::vector<shrink::LayerMeasure> layers;
    for (const LayerSum& sum : sums_) {
      const auto count = static_cast<double>(sum.count);
      layers.push_back(sum.measure);
      layers.back().update /= count;
      layers.back().activation /= count;
    }
    return layers;
  }

 private:
  std::vector<LayerSum> sums_;
  std::map<std::pair<std::string, shrink::WeightUsage>, std::size_t> index_;
};

/// One seed's training on the fixed batch.
class Probe {
 public:
  Probe(const shrink::Surrogate& surrogate, Network network, const CoordinateSetting& setting)
      : surrogate_(surrogate),
        network_(std::move(network)),
        setting_(setting),
        factors_(factors_of(surrogate, network_, setting.settings.optimizer.kind)),
        exact_(network_),
        optimizer_(exact_.layout(), {setting.settings.optimizer}, factors_.optimizer),
        meter_(network_.layout(), factors_.sgd_decay) {}

  /// Returns the loss of the first pass.
  Result<double> run(const Batch& batch, LayerSums& sums) {
    HYDRO_TRY(const Contributions contributions,
              Contributions::make(surrogate_.model, network_.training_program()));
    const ops::Observer watch = [&](const ir::Node& node, const ops::Frame& frame) {
      const auto change = [this](const std::string& weight) { return change_of(weight); };
      std::ranges::for_each(contributions.measure(node, frame, change),
                            [&](const auto& measure) { sums.add(measure); });
    };
    double first_loss = 0;
    for (std::int64_t pass = 0; pass < kPasses; ++pass) {
      if (setting_.stop.stop_requested()) {
        return make_error("H0650", "stopped during the coordinate check");
      }
      const bool is_last = pass + 1 == kPasses;
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
    exact_.step(optimizer_, gradients, step, network_);
  }

  /// W_t - W_0
  [[nodiscard]] at::Tensor change_of(const std::string& weight) const {
    const auto& names = network_.names();
    const auto place =
        static_cast<std::size_t>(std::ranges::find(names, weight) - names.begin());
    HYDRO_CHECK(place < names.size(), weight);
    return exact_.change(place);
  }

  const shrink::Surrogate& surrogate_;
  Network network_;
  const CoordinateSetting& setting_;
  LayoutFactors factors_;
  ExactWeights exact_;
  optim::Optimizer optimizer_;
  optim::NormMeter meter_;
};

std::vector<std::int64_t> fixed_batch(const data::Loader& data, std::int64_t batch_size) {
  std::vector<std::int64_t> indices = data::epoch_order(0, 0, data.dataset().size);
  indices.resize(static_cast<std::size_t>(std::min(batch_size, data.dataset().size)));
  return indices;
}

Result<shrink::CoordinateMeasure> measure(const shrink::Surrogate& surrogate,
                                          const data::Loader& data,
                                          const CoordinateSetting& setting) {
  const at::AutoGradMode with_gradients(true);
  // Not owned: the feeder lives no longer than this call.
  Feeder feeder(std::shared_ptr<const data::Loader>(std::shared_ptr<void>(), &data));
  const Batch batch = feeder.gather(fixed_batch(data, setting.batch_size), 0);
  shrink::CoordinateMeasure run;
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

Result<shrink::CoordinateMeasure> measure_coordinates(const shrink::Surrogate& surrogate,
                                                      const data::Loader& data,
                                                      const CoordinateSetting& setting) {
  shrink::CoordinateMeasure run;
  HYDRO_TRY_VOID(guard_in_passing_thread("checking coordinates", [&]() -> Result<void> {
    HYDRO_TRY(run, measure(surrogate, data, setting));
    return {};
  }));
  return run;
}

}  // namespace hydro::train
