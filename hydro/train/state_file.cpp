#include "hydro/train/state_file.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/base/safetensors.h"
#include "hydro/ir/graph.h"
#include "hydro/ir/model.h"
#include "hydro/train/network.h"

namespace hydro::train {
namespace {

std::string stored_name(ir::DType dtype) {
  constexpr std::array<std::string_view, 10> kNames = {
      "BOOL", "U8", "I8", "I16", "I32", "I64", "F16", "BF16", "F32", "F64"};
  return std::string(kNames.at(static_cast<std::size_t>(dtype)));
}

}  // namespace

Result<void> write_state(const Network& network,
                         std::int64_t trial,
                         const std::filesystem::path& path) {
  std::vector<at::Tensor> held;  // what the spans point into
  std::vector<std::pair<std::string, SafeTensor>> tensors;
  for (const ir::StateEntry& entry : network.state()) {
    if (entry.kind == ir::StateKind::kNonPersistent) {
      continue;
    }
    const at::Tensor& value = held.emplace_back(network.state_of(entry, trial));
    const auto* data = static_cast<const std::byte*>(value.const_data_ptr());
    tensors.emplace_back(entry.name,
                         SafeTensor{.dtype = stored_name(entry.dtype),
                                    .shape = entry.shape,
                                    .bytes = {data, value.nbytes()}});
  }
  return write_safetensors(path, tensors, {{"format", "pt"}});
}

}  // namespace hydro::train
