#include "hydro/train/network.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "hydro/base/philox.h"
#include "hydro/base/result.h"
#include "hydro/ir/graph.h"
#include "hydro/ir/model.h"
#include "hydro/ops/executor.h"
#include "hydro/ops/ops.h"
#include "hydro/optim/flat_layout.h"
#include "hydro/optim/parallel.h"
#include "hydro/shrink/surrogate.h"
#include "hydro/train/autocast.h"
#include "hydro/train/initialise.h"
#include "hydro/worker/settings.h"

namespace hydro::train {
namespace {

using Names = std::set<std::string, std::less<>>;

/// Buffers that either graph updates. The others are the same in all trials and steps, as are
/// frozen parameters.
Names changing_buffers(const ir::Model& model) {
  Names names;
  for (const ir::Graph* graph : {&model.train, &model.eval}) {
    for (const ir::Output& output : graph->outputs) {
      if (output.kind == ir::OutputKind::kBuffer) {
        names.insert(output.name);
      }
    }
  }
  return names;
}

bool is_trained(const ir::StateEntry& entry) {
  return entry.kind == ir::StateKind::kParameter && entry.tie.empty();
}

/// Floating point follows the network's precision, everything else stays.
at::Tensor to_tensor(const ir::TensorData& data, at::ScalarType dtype) {
  at::Tensor tensor = at::empty(data.shape, ops::scalar_type(data.dtype));
  HYDRO_CHECK(tensor.nbytes() == data.bytes.size());
  if (!data.bytes.empty()) {
    std::memcpy(tensor.mutable_data_ptr(), data.bytes.data(), data.bytes.size());
  }
  return ir::is_floating(data.dtype) ? tensor.to(dtype) : tensor;
}

/// Draws one trial's tensor into row-major memory, in pieces on all threads.
at::Tensor draw_tensor(const ir::StateEntry& entry, std::uint64_t key, std::int64_t size) {
  constexpr std::int64_t kPiece = 16384;
  at::Tensor drawn = at::empty({size}, at::kDouble);
  auto* data = drawn.mutable_data_ptr<double>();
  optim::for_each_piece((size + kPiece - 1) / kPiece, [&](std::int64_t i) {
    const std::int64_t first = i * kPiece;
    const auto count = static_cast<std::size_t>(std::min(kPiece, size - first));
    draw_initial(entry, key, first, std::span(data + first, count));
  });
  return drawn;
}

std::vector<const ir::StateEntry*> trained_entries(const ir::Model& model) {
  std::vector<const ir::StateEntry*> entries;
  for (const ir::StateEntry& entry : model.state) {
    if (is_trained(entry)) {
      entries.push_back(&entry);
    }
  }
  return entries;
}

std::vector<std::vector<std::int64_t>> shapes_of(
    std::span<const ir::StateEntry* const> entries) {
  std::vector<std::vector<std::int64_t>> shapes;
  for (const ir::StateEntry* entry : entries) {
    shapes.push_back(entry->shape);
  }
  return shapes;
}

ops::RandomStreams streams_of(const NetworkSetting& setting) {
  ops::RandomStreams streams;
  for (const std::string& owner : setting.owners) {
    streams.keys.push_back(stream_key(setting.study_seed, owner, "dropout"));
  }
  return streams;
}

Result<std::size_t> selected_output(const ir::Graph& graph) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < graph.outputs.size(); ++i) {
    if (graph.outputs[i].kind == ir::OutputKind::kUser) {
      found.push_back(i);
    }
  }
  if (found.size() != 1) {
    return make_error("H0503",
                      "the model has " + std::to_string(found.size()) +
                          " outputs to train on, not one")
        .fix("select one with `model.output`");
  }
  return found.front();
}

}  // namespace

Network::Network(optim::FlatLayout layout, const NetworkSetting& setting)
    : layout_(std::move(layout)),
      weights_(layout_.make_buffer()),
      random_(streams_of(setting)),
      dtype_(setting.dtype),
      bf16_(setting.bf16) {}

Result<Network> Network::make(const shrink::Surrogate& surrogate,
                              const NetworkSetting& setting) {
  const auto entries = trained_entries(surrogate.model);
  const auto trials = static_cast<std::int64_t>(setting.owners.size());
  Network network(optim::FlatLayout(shapes_of(entries), trials, setting.dtype), setting);
  network.state_ = surrogate.model.state;
  network.make_parameters(setting, entries);
  network.take_tensors(surrogate.model, setting.dtype);
  HYDRO_TRY_VOID(network.check_state());
  HYDRO_TRY(network.train_, make_half(network, surrogate.model.train));
  HYDRO_TRY(network.eval_, make_half(network, surrogate.model.eval));
  return network;
}

void Network::make_parameters(const NetworkSetting& setting,
                              std::span<const ir::StateEntry* const> entries) {
  for (std::size_t i = 0; i < entries.size(); ++i) {
    for (std::int64_t k = 0; setting.draws && k < trials(); ++k) {
      const std::uint64_t key =
          stream_key(setting.study_seed, setting.owners[static_cast<std::size_t>(k)], "init");
      const at::Tensor drawn = draw_tensor(*entries[i], key, layout_.tensors()[i].size);
      layout_.view(weights_, i, k).copy_(drawn.view(entries[i]->shape));
    }
    leaves_.push_back(layout_.view(weights_, i).requires_grad_());
    leaf_index_[entries[i]->name] = i;
    names_.push_back(entries[i]->name);
  }
}

void Network::take_tensors(const ir::Model& model, at::ScalarType dtype) {
  const Names changing = changing_buffers(model);
  for (const auto& [name, data] : model.tensors) {
    const at::Tensor one = to_tensor(data, dtype);
    if (!changing.contains(name)) {
      fixed_index_[name] = fixed_.size();
      fixed_.push_back(one);
      continue;
    }
    std::vector<std::int64_t> shape = data.shape;
    if (trials() > 1) {
      shape.insert(shape.begin(), trials());
    }
    buffer_index_[name] = buffers_.size();
    buffers_.push_back(one.expand(shape).clone(at::MemoryFormat::Contiguous));
  }
}

Result<void> Network::check_state() const {
  for (const ir::StateEntry& entry : state_) {
    const std::string& holder = entry.tie.empty() ? entry.name : entry.tie;
    if (!leaf_index_.contains(holder) && !buffer_index_.contains(holder) &&
        !fixed_index_.contains(holder)) {
      return make_error("H0503", "the archive holds no data for `" + holder + "`");
    }
  }
  return {};
}

Result<Network::Feed> Network::feed_of(const ir::Input& input) const {
  if (input.kind == ir::InputKind::kUser) {
    return Feed{.from = Feed::From::kUser, .index = 0, .name = input.name};
  }
  const std::array<std::pair<const std::map<std::string, std::size_t>*, Feed::From>, 3>
      sources = {{{&leaf_index_, Feed::From::kLeaf},
                  {&buffer_index_, Feed::From::kBuffer},
                  {&fixed_index_, Feed::From::kFixed}}};
  for (const auto& [index, from] : sources) {
    if (const auto found = index->find(input.name); found != index->end()) {
      return Feed{.from = from, .index = found->second, .name = input.name};
    }
  }
  return make_error(
      "H0503", "the graph reads `" + input.name + "`, for which the archive holds no data");
}

Result<Network::Half> Network::make_half(const Network& network, const ir::Graph& graph) {
  Half half;
  HYDRO_TRY(half.program, ops::compile(network.with_fixed_state(graph), network.trials()));
  HYDRO_TRY(half.output, selected_output(graph));
  for (const ir::Input& input : graph.inputs) {
    HYDRO_TRY(Feed feed, network.feed_of(input));
    half.feeds.push_back(std::move(feed));
  }
  for (const ir::Output& output : graph.outputs) {
    const auto found = network.buffer_index_.find(output.name);
    const bool is_buffer = output.kind == ir::OutputKind::kBuffer;
    HYDRO_CHECK(!is_buffer || found != network.buffer_index_.end(), output.name);
    half.buffer_of.push_back(is_buffer ? found->second : 0);
  }
  return half;
}

ir::Graph Network::with_fixed_state(ir::Graph graph) const {
  for (ir::Input& input : graph.inputs) {
    if (fixed_index_.contains(input.name) && input.kind != ir::InputKind::kUser) {
      input.kind = ir::InputKind::kConstant;
    }
  }
  return graph;
}

std::vector<at::Tensor> Network::feeds(const Half& half, const NamedTensors& inputs) const {
  std::vector<at::Tensor> tensors;
  tensors.reserve(half.feeds.size());
  for (const Feed& feed : half.feeds) {
    switch (feed.from) {
      case Feed::From::kUser: {
        const auto named = [&](const auto& one) {
          return one.first == feed.name || one.first.empty();
        };
        const auto found = std::ranges::find_if(inputs, named);
        HYDRO_CHECK(found != inputs.end(), "no data for the model input " + feed.name);
        tensors.push_back(found->second);
        break;
      }
      case Feed::From::kLeaf:
        tensors.push_back(leaves_[feed.index]);
        break;
      case Feed::From::kBuffer:
        tensors.push_back(buffers_[feed.index]);
        break;
      case Feed::From::kFixed:
        tensors.push_back(fixed_[feed.index]);
        break;
    }
  }
  return tensors;
}

std::vector<at::Tensor> Network::pass(const Half& half,
                                      const NamedTensors& inputs,
                                      const ops::Observer& observer) const {
  const Autocast autocast(bf16_);
  std::vector<at::Tensor> results =
      ops::run(half.program, feeds(half, inputs), random_, observer);
  if (bf16_) {
    results[half.output] = results[half.output].to(dtype_);
  }
  return results;
}

Network::Pass Network::train(const NamedTensors& inputs,
                             std::int64_t step,
                             const ops::Observer& observer) {
  random_.step = static_cast<std::uint32_t>(step);
  std::vector<at::Tensor> results = pass(train_, inputs, observer);
  Pass pass{.output = results[train_.output], .buffers = buffers_};
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (train_.program.graph.outputs[i].kind == ir::OutputKind::kBuffer) {
      pass.buffers[train_.buffer_of[i]] = std::move(results[i]);
    }
  }
  return pass;
}

at::Tensor Network::evaluate(const NamedTensors& inputs) {
  const at::NoGradGuard no_gradient;
  return pass(eval_, inputs)[eval_.output];
}

void Network::keep(std::vector<at::Tensor> buffers, const std::vector<bool>& live) {
  if (std::ranges::find(live, false) == live.end()) {
    buffers_ = std::move(buffers);
    return;
  }
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    for (std::size_t k = 0; k < live.size() && trials() > 1; ++k) {
      const auto trial = static_cast<std::int64_t>(k);
      if (live[k] && !buffers[i].is_same(buffers_[i])) {
        buffers_[i].select(0, trial).copy_(buffers[i].select(0, trial));
      }
    }
  }
}

NamedTensors Network::changing(std::int64_t trial) const {
  NamedTensors found;
  for (std::size_t i = 0; i < names_.size(); ++i) {
    found.emplace_back(names_[i], layout_.view(weights_, i, trial));
  }
  for (const auto& [name, i] : buffer_index_) {
    found.emplace_back(name, trials() > 1 ? buffers_[i].select(0, trial) : buffers_[i]);
  }
  return found;
}

at::Tensor Network::state_of(const ir::StateEntry& entry, std::int64_t trial) const {
  const std::string& holder = entry.tie.empty() ? entry.name : entry.tie;
  const at::NoGradGuard no_gradient;
  const auto one = [&](const at::Tensor& all) {
    return trials() > 1 ? all.select(0, trial) : all;
  };
  at::Tensor value;
  if (const auto leaf = leaf_index_.find(holder); leaf != leaf_index_.end()) {
    value = layout_.view(weights_, leaf->second, trial);
  } else if (const auto buffer = buffer_index_.find(holder); buffer != buffer_index_.end()) {
    value = one(buffers_[buffer->second]);
  } else {
    value = fixed_[fixed_index_.at(holder)];
  }
  return value.to(ops::scalar_type(entry.dtype)).contiguous();
}

Result<void> Network::check_shapes(const NamedTensors& inputs) {
  HYDRO_TRY_VOID(ops::check_shapes(train_.program, feeds(train_, inputs), random_));
  return ops::check_shapes(eval_.program, feeds(eval_, inputs), random_);
}

std::vector<at::Tensor> gradients_of(const at::Tensor& loss, const Network& network) {
  const std::vector<at::Tensor> leaves(network.leaves().begin(), network.leaves().end());
  std::vector<at::Tensor> gradients = torch::autograd::grad({loss},
                                                            leaves,
                                                            {},
                                                            /*retain_graph=*/false,
                                                            /*create_graph=*/false,
                                                            /*allow_unused=*/true);
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    if (gradients[i].defined()) {
      gradients[i] = network.layout().match(gradients[i], i);
    }
  }
  return gradients;
}

LayoutFactors factors_of(const shrink::Surrogate& surrogate,
                         const Network& network,
                         worker::OptimizerKind kind) {
  LayoutFactors made;
  for (const std::string& name : network.names()) {
    const auto plan =
        std::ranges::find(surrogate.parameters, name, &shrink::ParameterPlan::name);
    if (plan == surrogate.parameters.end()) {
      made.optimizer.emplace_back();
      made.sgd_decay.push_back(1);
      continue;
    }
    const shrink::Factors& factors = kind == worker::OptimizerKind::kSgd    ? plan->sgd
                                     : kind == worker::OptimizerKind::kAdam ? plan->adam
                                                                            : plan->adamw;
    made.optimizer.push_back({.lr = factors.lr, .decay = factors.decay, .eps = factors.eps});
    made.sgd_decay.push_back(plan->sgd.decay);
  }
  return made;
}

}  // namespace hydro::train
