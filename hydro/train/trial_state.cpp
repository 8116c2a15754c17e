#include "hydro/train/trial_state.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/ops/torch.h"
#include "hydro/optim/optimizer.h"
#include "hydro/store/trial_state.h"
#include "hydro/train/network.h"
#include "hydro/train/state_file.h"

namespace hydro::train {
namespace {

constexpr const char* kUpdates = "updates";

/// Every tensor of the trial as a view: names of the model's state after "state/", averages
/// after their own.
NamedTensors views_of(const Network& network,
                      const optim::Optimizer& optimizer,
                      std::int64_t trial) {
  NamedTensors views;
  for (auto& [name, value] : network.changing(trial)) {
    views.emplace_back("state/" + name, std::move(value));
  }
  for (optim::Average& average : optimizer.averages(trial)) {
    views.emplace_back(average.name + "/" + network.names()[average.tensor],
                       std::move(average.value));
  }
  return views;
}

store::StateTensor bytes_of(const at::Tensor& tensor) {
  const at::Tensor rows = tensor.contiguous();
  const auto* data = static_cast<const std::byte*>(rows.const_data_ptr());
  return {.dtype = stored_name(rows.scalar_type()),
          .shape = rows.sizes().vec(),
          .bytes = Bytes(data, data + rows.nbytes())};
}

Error misfit(const std::string& tensor) {
  return make_error("H0631", "the state of a waiting trial does not fit its container")
      .at(tensor);
}

/// The stored tensor of that name, of that type and shape.
Result<at::Tensor> tensor_of(const store::TrialState& state,
                             const std::string& name,
                             const at::Tensor& like) {
  const auto found = state.tensors.find(name);
  if (found == state.tensors.end() || found->second.dtype != stored_name(like.scalar_type()) ||
      found->second.shape != like.sizes().vec()) {
    return misfit(name);
  }
  at::Tensor tensor = at::empty(like.sizes(), like.scalar_type());
  HYDRO_CHECK(tensor.nbytes() == found->second.bytes.size(), name);
  if (tensor.numel() > 0) {
    std::memcpy(tensor.mutable_data_ptr(), found->second.bytes.data(), tensor.nbytes());
  }
  return tensor;
}

}  // namespace

store::TrialState copy_out(const Network& network,
                           const optim::Optimizer& optimizer,
                           std::int64_t trial) {
  store::TrialState state;
  for (const auto& [name, value] : views_of(network, optimizer, trial)) {
    state.tensors[name] = bytes_of(value);
  }
  state.tensors[kUpdates] = bytes_of(at::tensor(optimizer.updates(trial), at::kLong));
  return state;
}

Result<void> copy_in(const store::TrialState& state,
                     Network& network,
                     optim::Optimizer& optimizer,
                     std::int64_t trial) {
  const at::NoGradGuard no_gradient;
  const NamedTensors views = views_of(network, optimizer, trial);
  if (state.tensors.size() != views.size() + 1) {
    return misfit("the number of its tensors");
  }
  for (const auto& [name, view] : views) {
    HYDRO_TRY(const at::Tensor stored, tensor_of(state, name, view));
    view.copy_(stored);
  }
  const at::Tensor counts = at::tensor(optimizer.updates(trial), at::kLong);
  HYDRO_TRY(const at::Tensor updates, tensor_of(state, kUpdates, counts));
  optimizer.set_updates(
      trial,
      {updates.const_data_ptr<std::int64_t>(), static_cast<std::size_t>(updates.numel())});
  return {};
}

}  // namespace hydro::train
