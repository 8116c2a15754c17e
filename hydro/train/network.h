// hydro/train/network.h — a model that can run: both graphs compiled for K trials, the trials'
// parameters in one flat buffer, their statistics, and what never changes (frozen parameters,
// buffers that no graph updates, constants). Thread-safety: one thread at a time; the Surrogate
// is only read while the network is built.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/ir/model.h"
#include "hydro/ops/executor.h"
#include "hydro/ops/torch.h"
#include "hydro/optim/flat_layout.h"
#include "hydro/optim/optimizer.h"
#include "hydro/shrink/surrogate.h"
#include "hydro/worker/settings.h"

namespace hydro::train {

/// Whose random numbers: one owner a trial, its id or "target".
struct NetworkSetting {
  std::uint64_t study_seed = 0;
  std::vector<std::string> owners;
  at::ScalarType dtype = at::kFloat;  // kDouble in tests of rounding
  bool bf16 = false;                  // passes under autocast; outputs are dtype's again
  bool draws = true;                  // false: parameters stay zero, where only shapes matter
};

/// The tensors of one batch, by name of the forward argument; the name may be empty where there
/// is only one.
using NamedTensors = std::vector<std::pair<std::string, at::Tensor>>;

class Network {
 public:
  /// Errors: H0330 an op that cannot run; H0503 no or several selected outputs, or state
  /// without data
  [[nodiscard]] static Result<Network> make(const shrink::Surrogate& surrogate,
                                            const NetworkSetting& setting);

  [[nodiscard]] std::int64_t trials() const { return layout_.trials(); }

  [[nodiscard]] const optim::FlatLayout& layout() const { return layout_; }

  [[nodiscard]] const at::Tensor& weights() const { return weights_; }

  /// Leaves that require gradients, parallel to layout().tensors().
  [[nodiscard]] std::span<const at::Tensor> leaves() const { return leaves_; }

  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }

  [[nodiscard]] const ops::Program& training_program() const { return train_.program; }

  struct Pass {
    at::Tensor output;                // [K, B, ...], without K when there is one trial
    std::vector<at::Tensor> buffers;  // next values, for keep()
  };

  /// The training graph; gradients as the thread's mode says. `step` keys the random ops.
  [[nodiscard]] Pass train(const NamedTensors& inputs,
                           std::int64_t step,
                           const ops::Observer& observer = {});
  /// The evaluation graph, without gradients.
  [[nodiscard]] at::Tensor evaluate(const NamedTensors& inputs);
  /// Takes over the next values of the statistics, of live trials only.
  void keep(std::vector<at::Tensor> buffers, const std::vector<bool>& live);

  /// All that training changes of one trial, as views: its parameters, and the buffers that a
  /// graph updates.
  [[nodiscard]] NamedTensors changing(std::int64_t trial) const;
  /// One trial's entry, row-major, in the entry's own dtype.
  [[nodiscard]] at::Tensor state_of(const ir::StateEntry& entry, std::int64_t trial) const;

  /// The entries in state-dict order.
  [[nodiscard]] const std::vector<ir::StateEntry>& state() const { return state_; }

  /// Both graphs on these inputs, node by node against their predicted shapes.
  ///
  /// Errors: H0331
  [[nodiscard]] Result<void> check_shapes(const NamedTensors& inputs);

 private:
  /// Where a graph's input comes from; `index` into leaves, buffers or fixed tensors.
  struct Feed {
    enum class From : std::uint8_t { kUser, kLeaf, kBuffer, kFixed };
    From from = From::kUser;
    std::size_t index = 0;
    std::string name;
  };

  struct Half {
    ops::Program program;
    std::vector<Feed> feeds;
    std::size_t output = 0;              // place of the selected output
    std::vector<std::size_t> buffer_of;  // graph output -> index of its buffer
  };

  Network(optim::FlatLayout layout, const NetworkSetting& setting);
  static Result<Half> make_half(const Network& network, const ir::Graph& graph);
  void make_parameters(const NetworkSetting& setting,
                       std::span<const ir::StateEntry* const> entries);
  void take_tensors(const ir::Model& model, at::ScalarType dtype);
  /// Errors: H0503
  [[nodiscard]] Result<void> check_state() const;
  /// The graph with frozen parameters and unchanging buffers as constants: without trial axis.
  [[nodiscard]] ir::Graph with_fixed_state(ir::Graph graph) const;
  [[nodiscard]] Result<Feed> feed_of(const ir::Input& input) const;
  [[nodiscard]] std::vector<at::Tensor> feeds(const Half& half,
                                              const NamedTensors& inputs) const;
  /// One of the graphs, in the precision of the setting.
  [[nodiscard]] std::vector<at::Tensor> pass(const Half& half,
                                             const NamedTensors& inputs,
                                             const ops::Observer& observer = {}) const;

  optim::FlatLayout layout_;
  at::Tensor weights_;
  std::vector<at::Tensor> leaves_;
  std::vector<std::string> names_;  // of the leaves
  std::map<std::string, std::size_t> leaf_index_;
  std::vector<at::Tensor> buffers_;
  std::map<std::string, std::size_t> buffer_index_;
  std::vector<at::Tensor> fixed_;
  std::map<std::string, std::size_t> fixed_index_;
  std::vector<ir::StateEntry> state_;
  ops::RandomStreams random_;
  at::ScalarType dtype_;
  bool bf16_;
  Half train_;
  Half eval_;
};

/// Of `loss` with respect to the leaves, laid out as they are; undefined where it does not
/// depend on one. Frees the recorded pass.
[[nodiscard]] std::vector<at::Tensor> gradients_of(const at::Tensor& loss,
                                                   const Network& network);

/// Each tensor's factors for this optimizer, and the SGD decay column that clipping divides by.
struct LayoutFactors {
  std::vector<optim::WidthFactors> optimizer;
  std::vector<double> sgd_decay;
};

[[nodiscard]] LayoutFactors factors_of(const shrink::Surrogate& surrogate,
                                       const Network& network,
                                       worker::OptimizerKind kind);

}  // namespace hydro::train
