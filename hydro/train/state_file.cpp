#include "hydro/train/state_file.h"

#include <algorithm>
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
#include "hydro/ir/model.h"
#include "hydro/train/network.h"

namespace hydro::train {
namespace {

constexpr auto kNames =
    std::to_array<std::pair<at::ScalarType, std::string_view>>({{at::kBool, "BOOL"},
                                                                {at::kByte, "U8"},
                                                                {at::kChar, "I8"},
                                                                {at::kShort, "I16"},
                                                                {at::kInt, "I32"},
                                                                {at::kLong, "I64"},
                                                                {at::kHalf, "F16"},
                                                                {at::kBFloat16, "BF16"},
                                                                {at::kFloat, "F32"},
                                                                {at::kDouble, "F64"}});

}  // namespace

std::string stored_name(at::ScalarType type) {
  const auto* const row =
      std::ranges::find(kNames, type, &std::pair<at::ScalarType, std::string_view>::first);
  HYDRO_CHECK(row != kNames.end(), "a type that no file can hold");
  return std::string(row->second);
}

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
                         SafeTensor{.dtype = stored_name(value.scalar_type()),
                                    .shape = entry.shape,
                                    .bytes = {data, value.nbytes()}});
  }
  return write_safetensors(path, tensors, {{"format", "pt"}});
}

}  // namespace hydro::train
