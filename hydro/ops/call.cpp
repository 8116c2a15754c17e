#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/fuse/trial_axis.h"
#include "hydro/ir/graph.h"
#include "hydro/ops/ops.h"
#include "hydro/ops/torch.h"

namespace hydro::ops {

namespace {

using fuse::Axis;

/// The value an argument names, unless it holds a number, a text or nothing.
const ir::ValueId* find_value(const ir::Node& node, std::string_view name) {
  const ir::Argument* argument = node.find_argument(name);
  return argument == nullptr ? nullptr : std::get_if<ir::ValueId>(argument);
}

/// [K, ...] with ones put behind K until one trial has `rank` dimensions.
at::Tensor pad_rank(at::Tensor front, std::int64_t rank) {
  while (front.dim() - 1 < rank) {
    front = front.unsqueeze(1);
  }
  return front;
}

}  // namespace

at::ScalarType scalar_type(ir::DType dtype) {
  switch (dtype) {
    case ir::DType::kBool:
      return at::kBool;
    case ir::DType::kUInt8:
      return at::kByte;
    case ir::DType::kInt8:
      return at::kChar;
    case ir::DType::kInt16:
      return at::kShort;
    case ir::DType::kInt32:
      return at::kInt;
    case ir::DType::kInt64:
      return at::kLong;
    case ir::DType::kFloat16:
      return at::kHalf;
    case ir::DType::kBFloat16:
      return at::kBFloat16;
    case ir::DType::kFloat32:
      return at::kFloat;
    case ir::DType::kFloat64:
      return at::kDouble;
  }
  return at::kFloat;
}

at::Tensor move_axis(const at::Tensor& tensor, Axis from, Axis wanted, std::int64_t trials) {
  HYDRO_CHECK(wanted != Axis::kShared, "a value cannot lose its trial axis");
  if (from == wanted) {
    return tensor;
  }
  if (from != Axis::kShared) {
    return tensor.transpose(0, 1);
  }
  std::vector<std::int64_t> sizes = tensor.sizes().vec();
  const std::int64_t place = wanted == Axis::kFront ? 0 : 1;
  sizes.insert(sizes.begin() + place, trials);
  return tensor.unsqueeze(place).expand(sizes);
}

std::vector<std::int64_t> trial_sizes(const at::Tensor& tensor, Axis axis) {
  std::vector<std::int64_t> sizes = tensor.sizes().vec();
  if (axis != Axis::kShared) {
    sizes.erase(sizes.begin() + (axis == Axis::kFront ? 0 : 1));
  }
  return sizes;
}

std::int64_t stacked_dim(std::int64_t dim, std::int64_t trial_rank, Axis axis) {
  const std::int64_t place = dim < 0 ? dim + trial_rank : dim;
  if (axis == Axis::kShared || (axis == Axis::kSecond && place == 0)) {
    return place;
  }
  return place + 1;
}

bool Call::has(std::string_view name) const {
  const ir::Argument* argument = node_.find_argument(name);
  return argument != nullptr && !std::holds_alternative<ir::None>(*argument);
}

bool Call::is_tensor(std::string_view name) const {
  const ir::ValueId* value = find_value(node_, name);
  return value != nullptr && scene_.graph.value(*value).is_tensor();
}

const at::Tensor& Call::tensor(std::string_view name) const {
  return frame_.tensor(node_.value(name));
}

std::optional<at::Tensor> Call::optional_tensor(std::string_view name) const {
  return has(name) ? std::optional(tensor(name)) : std::nullopt;
}

at::Scalar Call::scalar(std::string_view name) const {
  if (const ir::ValueId* value = find_value(node_, name)) {
    return frame_.integer(*value);
  }
  const ir::Argument& argument = node_.argument(name);
  if (const bool* boolean = std::get_if<bool>(&argument)) {
    return *boolean;
  }
  if (const std::int64_t* integer = std::get_if<std::int64_t>(&argument)) {
    return *integer;
  }
  return node_.number(name);
}

std::int64_t Call::integer(std::string_view name) const {
  const ir::ValueId* value = find_value(node_, name);
  return value != nullptr ? frame_.integer(*value) : node_.integer(name);
}

std::int64_t Call::integer_or(std::string_view name, std::int64_t absent) const {
  return has(name) ? integer(name) : absent;
}

std::int64_t Call::resolve(const ir::IntItem& item) const {
  const std::int64_t* constant = std::get_if<std::int64_t>(&item);
  return constant != nullptr ? *constant : frame_.integer(std::get<ir::ValueId>(item));
}

std::vector<std::int64_t> Call::integers(std::string_view name) const {
  const ir::Argument& argument = node_.argument(name);
  if (std::holds_alternative<std::int64_t>(argument) ||
      std::holds_alternative<ir::ValueId>(argument)) {
    return {integer(name)};
  }
  std::vector<std::int64_t> out;
  for (const ir::IntItem& item : node_.items(name)) {
    out.push_back(resolve(item));
  }
  return out;
}

const std::vector<ir::ValueId>& Call::values(std::string_view name) const {
  const auto* list = std::get_if<std::vector<ir::ValueId>>(&node_.argument(name));
  HYDRO_CHECK(list != nullptr,
              node_.op + ": `" + std::string(name) + "` is no list of tensors");
  return *list;
}

at::ScalarType Call::dtype(ir::DType dtype) const {
  return dtype == ir::DType::kFloat32 ? scene_.place.real : scalar_type(dtype);
}

at::ScalarType Call::output_dtype() const {
  return dtype(scene_.graph.value(node_.outputs.front()).tensor().dtype);
}

Axis Call::axis(std::string_view name) const {
  const ir::ValueId* value = find_value(node_, name);
  return value == nullptr ? Axis::kShared : axis(*value);
}

Axis Call::output_axis() const {
  return axis(node_.outputs.front());
}

std::int64_t Call::trial_rank(std::string_view name) const {
  return tensor(name).dim() - (axis(name) == Axis::kShared ? 0 : 1);
}

at::Tensor Call::stacked(ir::ValueId value, Axis wanted) const {
  return move_axis(tensor(value), axis(value), wanted, scene_.trials);
}

at::Tensor Call::stacked(std::string_view name, Axis wanted) const {
  return stacked(node_.value(name), wanted);
}

std::optional<at::Tensor> Call::optional_stacked(std::string_view name, Axis wanted) const {
  return has(name) ? std::optional(stacked(name, wanted)) : std::nullopt;
}

at::Tensor Call::aligned(std::string_view name) const {
  return is_tensor(name) ? aligned(node_.value(name))
                         : at::native::wrapped_scalar_tensor(scalar(name));
}

at::Tensor Call::aligned(ir::ValueId value) const {
  const at::Tensor& operand = tensor(value);
  const Axis wanted = output_axis();
  const Axis from = axis(value);
  // A 0-d operand must stay 0-d: only then does it leave the result's dtype to the others.
  if (wanted == Axis::kShared || (from == Axis::kShared && operand.dim() == 0)) {
    return operand;
  }
  const auto rank = static_cast<std::int64_t>(
      scene_.graph.value(node_.outputs.front()).tensor().shape.size());
  if (from == wanted && operand.dim() - 1 == rank) {
    return operand;
  }
  const at::Tensor front =
      from == Axis::kShared ? operand.unsqueeze(0) : move_axis(operand, from, Axis::kFront, 0);
  const at::Tensor padded = pad_rank(front, rank);
  return wanted == Axis::kFront ? padded : padded.transpose(0, 1);
}

}  // namespace hydro::ops
