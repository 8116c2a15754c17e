#include "hydro/ops/boxed.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/fuse/trial_axis.h"
#include "hydro/ir/graph.h"
#include "hydro/ops/families.h"
#include "hydro/ops/ops.h"
#include "hydro/ops/torch.h"

namespace hydro::ops {

namespace {

using c10::IValue;
using c10::TypeKind;

/// What a schema wants, seen through "or None".
const c10::Type& wanted_type(const c10::Type& type) {
  const auto* optional = type.castRaw<c10::OptionalType>();
  return optional == nullptr ? type : *optional->getElementType();
}

/// The kind of a list's items; the kind itself when it is no list.
const c10::Type& item_type(const c10::Type& type) {
  const auto* list = type.castRaw<c10::ListType>();
  return list == nullptr ? type : *list->getElementType();
}

/// The node's arguments in the form that one schema wants.
class Converter {
 public:
  Converter(const Call& call, const OperandOf& operand) : call_(call), operand_(operand) {}

  IValue convert(const ir::Argument& argument, const c10::Type& type) const {
    return std::visit([&](const auto& held) { return of(held, wanted_type(type)); }, argument);
  }

 private:
  static IValue of(ir::None /*none*/, const c10::Type& /*type*/) { return {}; }

  static IValue of(bool value, const c10::Type& type) { return of_number(value, type); }

  static IValue of(std::int64_t value, const c10::Type& type) { return of_number(value, type); }

  static IValue of(double value, const c10::Type& type) { return of_number(value, type); }

  static IValue of(const std::string& text, const c10::Type& /*type*/) { return text; }

  IValue of(ir::DType dtype, const c10::Type& /*type*/) const {
    return static_cast<std::int64_t>(call_.dtype(dtype));
  }

  IValue of(ir::ValueId value, const c10::Type& type) const {
    return call_.is_tensor(value) ? IValue(operand_(value))
                                  : of_number(call_.integer(value), type);
  }

  IValue of(const std::vector<ir::IntItem>& items, const c10::Type& type) const {
    std::vector<std::int64_t> integers;
    integers.reserve(items.size());
    for (const ir::IntItem& item : items) {
      integers.push_back(call_.resolve(item));
    }
    switch (item_type(type).kind()) {
      case TypeKind::TensorType:
        HYDRO_CHECK(items.empty(), call_.node().describe() + ": integers for tensors");
        return c10::List<at::Tensor>();
      case TypeKind::FloatType:
        return std::vector<double>(integers.begin(), integers.end());
      case TypeKind::NumberType:
        return scalars(integers);
      default:
        return integers;
    }
  }

  static IValue of(const std::vector<double>& numbers, const c10::Type& type) {
    return item_type(type).kind() == TypeKind::NumberType ? scalars(numbers) : IValue(numbers);
  }

  static IValue of(const std::vector<bool>& flags, const c10::Type& /*type*/) {
    c10::List<bool> list;
    for (const bool flag : flags) {
      list.push_back(flag);
    }
    return list;
  }

  IValue of(const std::vector<ir::ValueId>& values, const c10::Type& type) const {
    if (item_type(type).kind() == TypeKind::OptionalType) {
      return of(std::vector<std::optional<ir::ValueId>>(values.begin(), values.end()), type);
    }
    c10::List<at::Tensor> tensors;
    for (const ir::ValueId value : values) {
      tensors.push_back(operand_(value));
    }
    return tensors;
  }

  IValue of(const std::vector<std::optional<ir::ValueId>>& values,
            const c10::Type& /*type*/) const {
    c10::List<std::optional<at::Tensor>> tensors;
    for (const std::optional<ir::ValueId> value : values) {
      tensors.push_back(value ? std::optional(operand_(*value)) : std::nullopt);
    }
    return tensors;
  }

  /// A number as what stands in its place: a wrapped tensor, a list of one, or a number of the
  /// wanted kind.
  template <class Number>
  static IValue of_number(Number value, const c10::Type& type) {
    switch (type.kind()) {
      case TypeKind::TensorType:
        return at::native::wrapped_scalar_tensor(value);
      case TypeKind::FloatType:
        return static_cast<double>(value);
      case TypeKind::IntType:
        return static_cast<std::int64_t>(value);
      case TypeKind::BoolType:
        return static_cast<bool>(value);
      case TypeKind::ListType:
        return of_one(value, item_type(type));
      default:
        return value;
    }
  }

  template <class Number>
  static IValue of_one(Number value, const c10::Type& item) {
    if (item.kind() == TypeKind::FloatType) {
      return std::vector<double>{static_cast<double>(value)};
    }
    return std::vector<std::int64_t>{static_cast<std::int64_t>(value)};
  }

  template <class Number>
  static IValue scalars(const std::vector<Number>& numbers) {
    c10::List<at::Scalar> list;
    for (const Number number : numbers) {
      list.push_back(number);
    }
    return list;
  }

  const Call& call_;
  const OperandOf& operand_;
};

bool is_device(const c10::Argument& wanted) {
  return wanted_type(*wanted.type()).kind() == TypeKind::DeviceObjType;
}

/// What the node leaves open: devices are the run's, flags about them (cudnn_enabled,
/// pin_memory) as modules set them, the rest is the schema's.
IValue absent(const Call& call, const c10::Argument& wanted) {
  if (is_device(wanted)) {
    return call.place().device;
  }
  if (!wanted.default_value() && wanted.type()->kind() == TypeKind::BoolType) {
    return wanted.name() == "cudnn_enabled";
  }
  HYDRO_CHECK(
      wanted.default_value().has_value() || wanted.type()->kind() == TypeKind::OptionalType,
      call.node().describe() + ": argument `" + wanted.name() + "` is missing");
  return wanted.default_value().value_or(IValue());
}

/// An op that makes a tensor from numbers alone has no operand to take the precision from.
bool makes_tensors(const Call& call) {
  for (const ir::ValueId operand : ir::operands(call.node())) {
    if (call.is_tensor(operand)) {
      return false;
    }
  }
  return !call.node().outputs.empty() && call.is_tensor(call.node().outputs.front());
}

void append(const IValue& value, std::vector<IValue>& results) {
  if (value.isTensorList()) {
    for (const at::Tensor& tensor : value.toTensorVector()) {
      results.emplace_back(tensor);
    }
  } else if (!value.isNone()) {
    results.push_back(value);
  }
}

}  // namespace

std::optional<c10::OperatorHandle> find_operator(std::string_view op) {
  const std::size_t first = op.find('.');
  const std::size_t last = op.rfind('.');
  if (first == std::string_view::npos || first == last) {
    return std::nullopt;
  }
  const std::string_view overload = op.substr(last + 1);
  return c10::Dispatcher::singleton().findSchema(
      {std::string(op.substr(0, first)) +
           "::" + std::string(op.substr(first + 1, last - first - 1)),
       overload == "default" ? std::string() : std::string(overload)});
}

std::vector<IValue> call_boxed(const Call& call,
                               const OperandOf& operand,
                               const Adjust& adjust) {
  const std::optional<c10::OperatorHandle> handle = find_operator(call.node().op);
  HYDRO_CHECK(handle.has_value(), "libtorch has no " + call.node().op);
  const Converter converter(call, operand);
  const bool is_maker = makes_tensors(call);
  torch::jit::Stack stack;
  for (const c10::Argument& wanted : handle->schema().arguments()) {
    const ir::Argument* given = call.node().find_argument(wanted.name());
    stack.push_back(given == nullptr || is_device(wanted)
                        ? absent(call, wanted)
                        : converter.convert(*given, *wanted.type()));
    if (is_maker && wanted.name() == "dtype" && stack.back().isNone()) {
      stack.back() = static_cast<std::int64_t>(call.output_dtype());
    }
    if (adjust) {
      adjust(wanted.name(), stack.back());
    }
  }
  handle->callBoxed(stack);
  std::vector<IValue> results;
  for (const IValue& value : stack) {
    append(value, results);
  }
  HYDRO_CHECK(results.size() == call.node().outputs.size(),
              call.node().describe() + ": " + std::to_string(results.size()) + " results");
  return results;
}

void put_results(const Call& call, std::vector<IValue> results) {
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (results[i].isTensor()) {
      call.put(i, std::move(results[i]).toTensor());
    } else {
      call.put_integer(i, results[i].toInt());
    }
  }
}

at::Tensor of_one_trial(const Call& call, ir::ValueId value) {
  const fuse::Axis axis = call.axis(value);
  const at::Tensor& operand = call.tensor(value);
  return axis == fuse::Axis::kShared ? operand
                                     : operand.select(axis == fuse::Axis::kFront ? 0 : 1, 0);
}

void boxed(const Call& call) {
  put_results(call,
              call_boxed(call, [&](ir::ValueId value) { return of_one_trial(call, value); }));
}

}  // namespace hydro::ops
