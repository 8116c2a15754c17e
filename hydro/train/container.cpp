#include "hydro/train/container.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/data/dataset.h"
#include "hydro/data/text.h"
#include "hydro/optim/gradient_norm.h"
#include "hydro/optim/optimizer.h"
#include "hydro/shrink/surrogate.h"
#include "hydro/store/trial_state.h"
#include "hydro/train/feeder.h"
#include "hydro/train/network.h"
#include "hydro/train/objective.h"
#include "hydro/train/state_file.h"
#include "hydro/train/train.h"
#include "hydro/train/trial_state.h"
#include "hydro/worker/messages.h"
#include "hydro/worker/settings.h"

namespace hydro::train {
namespace {

std::vector<worker::Optimizer> optimizers_of(const worker::ContainerSpec& spec) {
  std::vector<worker::Optimizer> settings;
  settings.reserve(spec.trials.size());
  for (const worker::TrialSpec& trial : spec.trials) {
    settings.push_back(trial.settings.optimizer);
  }
  return settings;
}

const shrink::Surrogate& model_of(const Study& study, const worker::ContainerSpec& spec) {
  const auto found = study.models.find(spec.model);
  HYDRO_CHECK(found != study.models.end(), "no model " + spec.model);
  return *found->second;
}

std::vector<double> values_of(const at::Tensor& losses) {
  const at::Tensor wide = losses.detach().to(at::kDouble).contiguous();
  const auto* data = wide.const_data_ptr<double>();
  return {data, data + wide.numel()};
}

}  // namespace

std::vector<std::string> owners_of(const worker::ContainerSpec& spec) {
  std::vector<std::string> owners;
  owners.reserve(spec.trials.size());
  for (const worker::TrialSpec& trial : spec.trials) {
    owners.push_back(spec.kind == worker::TrialKind::kTarget
                         ? "target"
                         : std::to_string(static_cast<std::int64_t>(trial.id)));
  }
  return owners;
}

Result<Network> Container::make_network(const Study& study,
                                        const worker::ContainerSpec& spec,
                                        NetworkSetting setting) {
  HYDRO_CHECK(!spec.trials.empty() && spec.batch_size > 0 && spec.budget.steps_per_epoch > 0);
  setting.study_seed = spec.study_seed;
  setting.owners = owners_of(spec);
  setting.bf16 = spec.trials.front().settings.bf16;
  HYDRO_TRY(Network network, Network::make(model_of(study, spec), setting));
  HYDRO_TRY_VOID(check_inputs(network.training_program().graph, study.training->dataset()));
  return network;
}

Result<Container> Container::make(const Study& study,
                                  worker::ContainerSpec spec,
                                  at::ScalarType dtype) {
  HYDRO_TRY(Network network, make_network(study, spec, {.owners = {}, .dtype = dtype}));
  return Container(study, std::move(spec), std::move(network), dtype);
}

Result<Container> Container::restore(const Study& study,
                                     worker::ContainerSpec spec,
                                     std::span<const Traveller> travellers,
                                     at::ScalarType dtype) {
  HYDRO_CHECK(!travellers.empty(), "a container of no trial");
  spec.trials.clear();
  for (const Traveller& traveller : travellers) {
    spec.trials.push_back(traveller.trial);
  }
  HYDRO_TRY(Network network,
            make_network(study, spec, {.owners = {}, .dtype = dtype, .draws = false}));
  Container container(study, std::move(spec), std::move(network), dtype);
  const store::TrialState& first = *travellers.front().state;
  container.step_ = first.step;
  container.evaluated_ = first.evaluated;
  container.reported_ = first.reported;
  for (std::size_t slot = 0; slot < travellers.size(); ++slot) {
    HYDRO_TRY_VOID(container.take_in(*travellers[slot].state, slot));
  }
  return container;
}

Result<void> Container::take_in(const store::TrialState& state, std::size_t slot) {
  HYDRO_CHECK(
      state.step == step_ && state.evaluated == evaluated_ && state.reported == reported_,
      "trials at unlike steps share no container");
  loss_sums_[slot] = state.loss_sum;
  return copy_in(state, network_, optimizer_, static_cast<std::int64_t>(slot));
}

Container::Container(const Study& study,
                     worker::ContainerSpec spec,
                     Network network,
                     at::ScalarType dtype)
    : spec_(std::move(spec)),
      task_(study.task),
      evaluation_batch_(study.evaluation_batch),
      validation_(study.validation),
      test_(spec_.evaluate_test ? study.test : nullptr),
      dtype_(dtype),
      network_(std::move(network)),
      optimizer_(
          network_.layout(),
          optimizers_of(spec_),
          factors_of(
              model_of(study, spec_), network_, spec_.trials.front().settings.optimizer.kind)
              .optimizer),
      meter_(
          network_.layout(),
          factors_of(model_of(study, spec_), network_, worker::OptimizerKind::kSgd).sgd_decay),
      feeder_(study.training, dtype),
      live_(spec_.trials.size(), true),
      loss_sums_(spec_.trials.size()) {
  for (const worker::TrialSpec& trial : spec_.trials) {
    label_smoothing_.push_back(trial.settings.label_smoothing);
  }
}

std::vector<std::int64_t> Container::evaluation_indices(std::int64_t begin,
                                                        std::int64_t size) const {
  // A model's own loss is a mean over whatever is in the batch: no padding may be in it.
  const std::int64_t count = task_ == worker::Task::kModelLoss
                                 ? std::min(evaluation_batch_, size - begin)
                                 : evaluation_batch_;
  std::vector<std::int64_t> indices(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < indices.size(); ++i) {  // padded with the last sample
    indices[i] = std::min(begin + static_cast<std::int64_t>(i), size - 1);
  }
  return indices;
}

bool Container::has_live_trials() const {
  return std::ranges::find(live_, true) != live_.end();
}

bool Container::has_masked_trials() const {
  return std::ranges::find(live_, false) != live_.end();
}

bool Container::owes_evaluation() const {
  const worker::Budget& budget = spec_.budget;
  const bool is_due = budget.evaluate_every > 0 && step_ % budget.evaluate_every == 0;
  return step_ > evaluated_ && (is_due || step_ == budget.steps);
}

Result<std::vector<worker::Diverged>> Container::advance() {
  const at::AutoGradMode with_gradients(true);
  const Batch batch = next_batch();
  Network::Pass pass = network_.train(batch.inputs, step_);
  HYDRO_TRY(const at::Tensor losses,
            training_losses(task_, pass.output, batch, label_smoothing_));
  pass.output.reset();
  const std::vector<at::Tensor> gradients = gradients_of(losses.sum(), network_);
  const std::vector<double> values = values_of(losses);
  const std::vector<optim::GradientNorm> norms = meter_.measure(gradients);
  std::vector<worker::Diverged> diverged = mask_diverged(values, norms);
  optimizer_.step(network_.weights(), gradients, trial_steps(norms));
  network_.keep(std::move(pass.buffers), live_);
  for (std::size_t k = 0; k < live_.size(); ++k) {
    loss_sums_[k] += live_[k] ? values[k] : 0;
  }
  ++step_;
  return diverged;
}

Batch Container::next_batch() {
  const std::int64_t epoch = step_ / spec_.budget.steps_per_epoch;
  if (epoch != epoch_) {
    order_ = data::epoch_order(spec_.data_seed, epoch, feeder_.size());
    epoch_ = epoch;
  }
  const std::int64_t begin = step_ % spec_.budget.steps_per_epoch * spec_.batch_size;
  const std::int64_t count = std::min(spec_.batch_size, feeder_.size() - begin);
  HYDRO_CHECK(count > 0 && (count == spec_.batch_size || !spec_.drop_last),
              "an epoch has fewer steps than planned");
  return feeder_.gather(std::span(order_).subspan(static_cast<std::size_t>(begin),
                                                  static_cast<std::size_t>(count)),
                        epoch);
}

std::vector<worker::Diverged> Container::mask_diverged(
    std::span<const double> losses, std::span<const optim::GradientNorm> norms) {
  std::vector<worker::Diverged> diverged;
  for (std::size_t k = 0; k < live_.size(); ++k) {
    const bool loss_is_finite = std::isfinite(losses[k]);
    if (!live_[k] || (loss_is_finite && norms[k].is_finite())) {
      continue;
    }
    live_[k] = false;
    diverged.push_back(
        {.trial = spec_.trials[k].id,
         .step = step_ + 1,
         .reason = loss_is_finite ? "a gradient was not finite" : "the loss was not finite"});
  }
  return diverged;
}

std::vector<optim::TrialStep> Container::trial_steps(
    std::span<const optim::GradientNorm> norms) const {
  std::vector<optim::TrialStep> steps;
  for (std::size_t k = 0; k < live_.size(); ++k) {
    const worker::TrialSettings& settings = spec_.trials[k].settings;
    steps.push_back(
        {.lr_factor = worker::lr_factor(settings.schedule, spec_.budget, step_),
         .gradient_scale =
             settings.clip_norm ? optim::clip_scale(norms[k].norm, *settings.clip_norm) : 1.0,
         .live = live_[k]});
  }
  return steps;
}

Result<std::optional<std::vector<worker::Report>>> Container::evaluate(
    const std::stop_token& stop) {
  using Reports = std::optional<std::vector<worker::Report>>;
  HYDRO_TRY(auto metrics, measure(validation_, "val", stop));
  if (!metrics) {
    return Reports();
  }
  if (test_ != nullptr && step_ == spec_.budget.steps) {
    HYDRO_TRY(auto on_test, measure(test_, "test", stop));
    if (!on_test) {
      return Reports();
    }
    for (std::size_t k = 0; k < live_.size(); ++k) {
      (*metrics)[k].merge((*on_test)[k]);
    }
  }
  return Reports(reports(*std::move(metrics)));
}

Result<std::optional<std::vector<std::map<std::string, double>>>> Container::measure(
    const std::shared_ptr<const data::Loader>& loader,
    const std::string& split,
    const std::stop_token& stop) {
  using Metrics = std::vector<std::map<std::string, double>>;
  Feeder feeder(loader, dtype_);
  std::vector<Tally> tallies(live_.size(),
                             Tally(task_, data::labelled_bytes(loader->dataset())));
  for (std::int64_t begin = 0; begin < feeder.size(); begin += evaluation_batch_) {
    if (stop.stop_requested()) {
      return std::optional<Metrics>();
    }
    const Batch batch = feeder.gather(evaluation_indices(begin, feeder.size()), 0);
    const at::Tensor output = network_.evaluate(batch.inputs);
    const std::int64_t valid = std::min(evaluation_batch_, feeder.size() - begin);
    for (std::size_t k = 0; k < live_.size(); ++k) {
      const bool is_stacked = live_.size() > 1;
      const at::Tensor own =
          is_stacked ? output.select(0, static_cast<std::int64_t>(k)) : output;
      HYDRO_TRY_VOID(tallies[k].add(own, batch, valid));
    }
  }
  Metrics metrics;
  for (const Tally& tally : tallies) {
    metrics.push_back(tally.metrics(split));
  }
  return std::optional(std::move(metrics));
}

std::vector<worker::Report> Container::reports(
    std::vector<std::map<std::string, double>> metrics) {
  std::vector<worker::Report> made;
  const auto steps = static_cast<double>(step_ - reported_);
  for (std::size_t k = 0; k < live_.size(); ++k) {
    if (!live_[k]) {
      continue;
    }
    metrics[k]["train_loss"] = loss_sums_[k] / steps;
    made.push_back({.trial = spec_.trials[k].id,
                    .step = step_,
                    .epoch = worker::epoch_at(spec_.budget, step_),
                    .metrics = std::move(metrics[k])});
  }
  std::ranges::fill(loss_sums_, 0.0);
  evaluated_ = step_;
  reported_ = step_;
  return made;
}

std::size_t Container::slot_of(worker::TrialId trial) const {
  const auto found = std::ranges::find(spec_.trials, trial, &worker::TrialSpec::id);
  HYDRO_CHECK(found != spec_.trials.end(),
              "no trial " + std::to_string(static_cast<std::int64_t>(trial)));
  return static_cast<std::size_t>(found - spec_.trials.begin());
}

void Container::drop(worker::TrialId trial) {
  live_[slot_of(trial)] = false;
}

store::TrialState Container::state_of(worker::TrialId trial) const {
  const std::size_t slot = slot_of(trial);
  store::TrialState state = copy_out(network_, optimizer_, static_cast<std::int64_t>(slot));
  state.step = step_;
  state.evaluated = evaluated_;
  state.reported = reported_;
  state.loss_sum = loss_sums_[slot];
  return state;
}

Result<Container> Container::regrouped(const Study& study,
                                       std::span<const Traveller> joining) const {
  std::vector<Traveller> travellers;
  for (std::size_t k = 0; k < live_.size(); ++k) {
    if (live_[k]) {
      const worker::TrialSpec& trial = spec_.trials[k];
      travellers.push_back(
          {.trial = trial,
           .state = std::make_shared<const store::TrialState>(state_of(trial.id))});
    }
  }
  travellers.insert(travellers.end(), joining.begin(), joining.end());
  return restore(study, spec_, travellers, dtype_);
}

Result<void> Container::write(worker::TrialId trial, const std::string& path) const {
  return write_state(network_, static_cast<std::int64_t>(slot_of(trial)), path);
}

}  // namespace hydro::train
