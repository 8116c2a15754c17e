// hydro/train/container.h — K trials in training: their network, optimizer and place in the
// data. A container is advanced step by step by the worker; it knows nothing of commands and
// answers. Thread-safety: one thread at a time.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/data/dataset.h"
#include "hydro/ops/torch.h"
#include "hydro/optim/gradient_norm.h"
#include "hydro/optim/optimizer.h"
#include "hydro/store/trial_state.h"
#include "hydro/train/feeder.h"
#include "hydro/train/network.h"
#include "hydro/train/train.h"
#include "hydro/worker/messages.h"

namespace hydro::train {

/// The names under which each trial draws: its id, or "target".
[[nodiscard]] std::vector<std::string> owners_of(const worker::ContainerSpec& spec);

/// A trial on its way into a container, and all that it has learned; the store of waiting
/// states may hold the state too.
struct Traveller {
  worker::TrialSpec trial;
  std::shared_ptr<const store::TrialState> state;
};

class Container {
 public:
  /// Initial weights, step 0.
  ///
  /// Errors: H0330, H0503 the network's; H0504 the data's
  [[nodiscard]] static Result<Container> make(const Study& study,
                                              worker::ContainerSpec spec,
                                              at::ScalarType dtype = at::kFloat);
  /// Goes on where `travellers` stand; `spec.trials` is theirs.
  ///
  /// Requires: all stand at one step, with the same evaluations done (BugError)
  /// Errors:   make()'s; H0631
  [[nodiscard]] static Result<Container> restore(const Study& study,
                                                 worker::ContainerSpec spec,
                                                 std::span<const Traveller> travellers,
                                                 at::ScalarType dtype = at::kFloat);

  [[nodiscard]] const worker::ContainerSpec& spec() const { return spec_; }

  [[nodiscard]] std::int64_t step() const { return step_; }

  [[nodiscard]] bool has_live_trials() const;
  /// Some trials cost time, though nobody asks for them any more: stopped, or diverged.
  [[nodiscard]] bool has_masked_trials() const;
  /// The step just reached is one to evaluate, and was not yet.
  [[nodiscard]] bool owes_evaluation() const;

  /// One training step. Trials whose loss or gradient is not finite are masked before any of
  /// their weights or statistics change, and returned.
  ///
  /// Errors: H0505
  [[nodiscard]] Result<std::vector<worker::Diverged>> advance();
  /// Reports of the live trials; nothing when `stop` came in between.
  ///
  /// Errors: H0505
  [[nodiscard]] Result<std::optional<std::vector<worker::Report>>> evaluate(
      const std::stop_token& stop);
  /// The trial is no longer trained nor reported.
  void drop(worker::TrialId trial);
  [[nodiscard]] store::TrialState state_of(worker::TrialId trial) const;
  /// The live trials and, behind them, those that join, in a container of their own size; this
  /// one is as it was.
  ///
  /// Requires: one trial at least; restore()'s
  /// Errors:   restore()'s
  [[nodiscard]] Result<Container> regrouped(const Study& study,
                                            std::span<const Traveller> joining = {}) const;
  /// Errors: H0603
  [[nodiscard]] Result<void> write(worker::TrialId trial, const std::string& path) const;

  [[nodiscard]] const Network& network() const { return network_; }

 private:
  Container(const Study& study,
            worker::ContainerSpec spec,
            Network network,
            at::ScalarType dtype);

  [[nodiscard]] static Result<Network> make_network(const Study& study,
                                                    const worker::ContainerSpec& spec,
                                                    NetworkSetting setting);
  [[nodiscard]] Result<void> take_in(const store::TrialState& state, std::size_t slot);
  [[nodiscard]] std::size_t slot_of(worker::TrialId trial) const;
  [[nodiscard]] Batch next_batch();
  [[nodiscard]] std::vector<worker::Diverged> mask_diverged(
      std::span<const double> losses, std::span<const optim::GradientNorm> norms);
  [[nodiscard]] std::vector<optim::TrialStep> trial_steps(
      std::span<const optim::GradientNorm> norms) const;
  /// Samples of the evaluation batch from `begin` on.
  [[nodiscard]] std::vector<std::int64_t> evaluation_indices(std::int64_t begin,
                                                             std::int64_t size) const;
  [[nodiscard]] Result<std::optional<std::vector<std::map<std::string, double>>>> measure(
      const std::shared_ptr<const data::Loader>& loader,
      const std::string& split,
      const std::stop_token& stop);
  [[nodiscard]] std::vector<worker::Report> reports(
      std::vector<std::map<std::string, double>> metrics);

  worker::ContainerSpec spec_;
  worker::Task task_;
  std::int64_t evaluation_batch_;
  std::shared_ptr<const data::Loader> validation_;  // shared with all workers of the study
  std::shared_ptr<const data::Loader> test_;
  at::ScalarType dtype_;
  Network network_;
  optim::Optimizer optimizer_;
  optim::NormMeter meter_;
  Feeder feeder_;
  std::vector<double> label_smoothing_;
  std::vector<bool> live_;
  std::int64_t step_ = 0;
  std::int64_t evaluated_ = 0;     // the last step that was evaluated
  std::int64_t reported_ = 0;      // the last step of a report: train_loss starts there
  std::vector<double> loss_sums_;  // since then
  std::int64_t epoch_ = -1;        // of order_
  std::vector<std::int64_t> order_;
};

}  // namespace hydro::train
