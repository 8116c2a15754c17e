#include "hydro/store/trial_state.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hydro/base/bytes.h"
#include "hydro/base/result.h"
#include "hydro/base/safetensors.h"
#include "hydro/store/crc32c.h"

namespace hydro::store {
namespace {

// What stands beside the tensors, under names that none of them has.
constexpr const char* kSteps = "progress/steps";       // step, evaluated, reported
constexpr const char* kLossSum = "progress/loss_sum";  // bit for bit, so no text
constexpr const char* kChecksum = "crc32c";

using Steps = std::array<std::int64_t, 3>;

template <class T>
std::span<const std::byte> bytes_of(const T& value) {
  return std::as_bytes(std::span(&value, 1));
}

/// Over names and bytes of all tensors, so that a file of the right form with wrong content is
/// seen. `tensors` in the order of their names.
std::string checksum_of(const std::map<std::string, SafeTensor>& tensors) {
  std::uint32_t sum = 0;
  for (const auto& [name, tensor] : tensors) {
    sum = crc32c(tensor.bytes, crc32c(std::as_bytes(std::span(name)), sum));
  }
  return std::to_string(sum);
}

Error damaged(const std::filesystem::path& path, const std::string& why) {
  return make_error("H0631", "the state of a waiting trial cannot be read")
      .at(path.string())
      .because(why);
}

template <class T>
Result<T> take(SafeTensorFile& file, const char* name, const std::filesystem::path& path) {
  const auto found = file.tensors.find(name);
  if (found == file.tensors.end() || found->second.bytes.size() != sizeof(T)) {
    return damaged(path, std::string("it has no `") + name + "`");
  }
  T value{};
  std::memcpy(&value, found->second.bytes.data(), sizeof(T));
  file.tensors.erase(found);
  return value;
}

}  // namespace

std::uint64_t TrialState::size() const {
  std::uint64_t bytes = 0;
  for (const auto& [name, tensor] : tensors) {
    bytes += tensor.bytes.size();
  }
  return bytes;
}

Result<void> write_trial_state(const std::filesystem::path& path, const TrialState& state) {
  const Steps steps = {state.step, state.evaluated, state.reported};
  std::map<std::string, SafeTensor> tensors;
  for (const auto& [name, tensor] : state.tensors) {
    tensors[name] = {.dtype = tensor.dtype, .shape = tensor.shape, .bytes = tensor.bytes};
  }
  tensors[kSteps] = {.dtype = "I64", .shape = {3}, .bytes = bytes_of(steps)};
  tensors[kLossSum] = {.dtype = "F64", .shape = {}, .bytes = bytes_of(state.loss_sum)};
  return write_safetensors(
      path, {tensors.begin(), tensors.end()}, {{kChecksum, checksum_of(tensors)}});
}

Result<TrialState> read_trial_state(const std::filesystem::path& path) {
  Result<SafeTensorFile> read = read_safetensors(path);
  if (!read.has_value()) {
    return damaged(path, read.error().why.empty() ? read.error().what : read.error().why);
  }
  SafeTensorFile file = *std::move(read);
  const auto sum = file.metadata.find(kChecksum);
  if (sum == file.metadata.end() || sum->second != checksum_of(file.tensors)) {
    return damaged(path, "its checksum does not match its content");
  }
  HYDRO_TRY(const Steps steps, take<Steps>(file, kSteps, path));
  TrialState state{
      .step = steps[0], .evaluated = steps[1], .reported = steps[2], .tensors = {}};
  HYDRO_TRY(state.loss_sum, take<double>(file, kLossSum, path));
  for (const auto& [name, tensor] : file.tensors) {
    state.tensors[name] = {.dtype = tensor.dtype,
                           .shape = tensor.shape,
                           .bytes = Bytes(tensor.bytes.begin(), tensor.bytes.end())};
  }
  return state;
}

}  // namespace hydro::store
